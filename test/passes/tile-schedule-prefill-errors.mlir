// Where nothing fits the error names what is needed and what there is; hints of the other family are warned of.
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill -split-input-file -verify-diagnostics
// RUN: not mla-opt %s --mla-to-tile --tile-schedule-prefill="target=sm_86" -split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: error: unknown target 'sm_86' [target-name]

// expected-error@+2 {{no schedule fits sm_120: the smallest, #tile.prefill_schedule<rows = 256, tokens = 128, stages = 1, rowWarps = 8>, needs 188416 bytes of shared memory and about 312 registers a thread; available are 101376 bytes and 255 registers [schedule-fit]}}
// expected-note@+1 {{fewer rows, tokens or stages need less: remove or lower the kernel's hints}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 256, tokens = 128, row_warps = 8, stages = 1}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// -----

// expected-error@+1 {{no schedule satisfies the kernel's hints; rows is 16 to 256, tokens 16 to 128, both powers of two, stages 1 to 4, and row_warps rows / 16 or rows / 32 [schedule-fit]}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 48}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// -----

// expected-warning@+2 {{the hint groups says nothing to a prefill kernel; rows, tokens, stages and row_warps do [hint-family]}}
// expected-remark@+1 {{schedule of hint-family: #tile.prefill_schedule<}}
mla.kernel @"hint-family"(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {groups = 2}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// -----

// expected-error@+1 {{no conversion from 'f8E5M2' to 'bf16' [target-conversion]}}
mla.kernel @"target-conversion"(%q: !mla.buffer<ragged, 8x64xbf16>, %k: !mla.buffer<ragged, 8x64xbf16>, %v: !mla.buffer<ragged, 8x64xf8E5M2>)
    -> !mla.buffer<ragged, 8x64xbf16> attributes {compute = bf16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x64xbf16>, !mla.buffer<ragged, 8x64xbf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %r = mla.dequant %v : <ragged, 8x64xf8E5M2> -> <8x64xbf16>
  %o = mla.attend %p, %r : <8>, !mla.rows<8x64xbf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// Where nothing fits the error names what is needed and what there is; hints and targets that cannot be are named.
// RUN: mla-opt %s --mla-to-tile --tile-schedule -split-input-file -verify-diagnostics
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="target=sm_86" -split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="profile=rtx" -split-input-file 2>&1 | FileCheck %s --check-prefix=PROFILE
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="ptx=8.6" -split-input-file 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="ptx=9.1" -split-input-file 2>&1 | FileCheck %s --check-prefix=NEW
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="ptx=8" -split-input-file 2>&1 | FileCheck %s --check-prefix=FORM

// TARGET: error: unknown target 'sm_86' [target-name]; known are sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a sm_120f sm_121 sm_121a
// PROFILE: error: unknown profile 'rtx' [target-profile]; known are sm_90 sm_120 sm_89 sm_100
// OLD: error: sm_120 needs PTX 8.7 to 9.0, not 8.6 [target-ptx]
// NEW: error: sm_120 needs PTX 8.7 to 9.0, not 9.1 [target-ptx]
// FORM: error: PTX version '8' is not of the form 8.7 [target-ptx]

// expected-error@+2 {{no schedule fits sm_120: the smallest, #tile.schedule<rows = 8, tokens = 128, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>, needs 163168 bytes of shared memory and about 302 registers a thread; available are 101376 bytes and 255 registers [schedule-fit]}}
// expected-note@+1 {{fewer rows, tokens or stages need less: remove or lower the kernel's hints}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {tokens = 128}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// It is the registers that do not fit.
// expected-error@+2 {{needs 97536 bytes of shared memory and about 1172 registers a thread; available are 101376 bytes and 255 registers [schedule-fit]}}
// expected-note@+1 {{fewer rows, tokens or stages need less: remove or lower the kernel's hints}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {rows = 64, tokens = 16, groups = 1, token_warps = 1, row_warps = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// A single stage cannot be read and refilled at once.
// expected-error@+1 {{no schedule satisfies the kernel's hints; rows is 8, 16, 32 or 64, tokens a power of two from 16, stages 2 to 8 [schedule-fit]}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {stages = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// A tile that is no whole number of instructions.
// expected-error@+1 {{no schedule satisfies the kernel's hints; rows is 8, 16, 32 or 64, tokens a power of two from 16, stages 2 to 8 [schedule-fit]}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {tokens = 48}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{no schedule satisfies the kernel's hints; rows is 8, 16, 32 or 64, tokens a power of two from 16, stages 2 to 8 [schedule-fit]}}
mla.kernel @"schedule-fit"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {rows = 12}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{no conversion from 'f8E5M2' to 'bf16' [target-conversion]}}
mla.kernel @"target-conversion"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E5M2>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = bf16} {
  %k = mla.dequant %kv : <paged, 576xf8E5M2> -> <576xbf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xbf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xbf16> -> <512xbf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xbf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{no conversion from 'f32' to 'f16' [target-conversion]}}
mla.kernel @"target-conversion"(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf32>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 576xf32> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

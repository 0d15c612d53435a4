// Prefill kernels get a schedule of their own family; decode kernels beside them are left to tile-schedule, and the other way round.
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill="target=sm_90" 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill 2>/dev/null | FileCheck %s
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill --tile-pipeline-prefill 2>/dev/null | FileCheck %s --check-prefix=BYTES
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill="shared-limit=94208" 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: not mla-opt %s --mla-to-tile --tile-schedule-prefill="shared-limit=94207" 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: mla-opt %s --mla-to-tile --tile-schedule 2>&1 | FileCheck %s --check-prefix=OTHER

// SMALL: remark: schedule of free: #tile.prefill_schedule<{{.*}}>, {{[0-9]+}} of 101376 bytes of shared memory, bound by {{.*}} cycles a tile of {{[0-9]+}} tokens) on sm_120 [schedule-choice]
// LARGE: remark: schedule of free: #tile.prefill_schedule<rows = 128, tokens = 64, stages = 1, rowWarps = 4>, 94208 of 232448 bytes of shared memory
// EXACT: remark: schedule of hinted: #tile.prefill_schedule<rows = 128, tokens = 64, stages = 1, rowWarps = 8>, 94208 of 94208 bytes
// LESS: error: no schedule fits sm_120: the smallest, #tile.prefill_schedule<rows = 128, tokens = 64, stages = 1, rowWarps = 8>, needs 94208 bytes of shared memory and about {{[0-9]+}} registers a thread; available are 94207 bytes and 255 registers [schedule-fit]
// LESS: note: fewer rows, tokens or stages need less: remove or lower the kernel's hints
// OTHER-NOT: prefill_schedule
// OTHER: schedule of decode: #tile.schedule<
// OTHER-NOT: prefill_schedule

mla.kernel @free(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// Hints fix what they name; open sizes are closed, rows and tokens each where they belong.
// CHECK-LABEL: tile.kernel @hinted(
// CHECK-SAME: kv_heads = 16
// CHECK-SAME: prefill_schedule = #tile.prefill_schedule<rows = 128, tokens = 64, stages = 1, rowWarps = 8>
// CHECK-NOT: ?x
// CHECK: tile.query {{.*}} -> <128x192xbf16>
// CHECK: scf.for {{.*}} -> (!tile.tile<128x128xf32>, !tile.tile<128x1xf32>, !tile.tile<128x1xf32>)
// CHECK: tile.load {{.*}} -> <64x192xbf16>
// CHECK: tile.load {{.*}} -> <64x128xbf16>

// BYTES-LABEL: tile.kernel @hinted(
// BYTES-SAME: shared_bytes = 94208 : i64
// BYTES: tile.alloc "keys" at 0 : <1x64x192xbf16, pitch = 400>
// BYTES: tile.alloc "values" at [[#mul(64,400)]] : <1x64x128xbf16, pitch = 272>
// BYTES: tile.alloc "query" at [[#mul(64,400)+mul(64,272)]] : <1x128x192xbf16, pitch = 400>
mla.kernel @hinted(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 128, tokens = 64, stages = 1, row_warps = 8}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// CHECK-LABEL: tile.kernel @decode(
// CHECK-NOT: schedule =
// CHECK: tile.kernel @decode_combine(
mla.kernel @decode(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>) -> !mla.buffer<ragged, 8x512xf16>
    attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

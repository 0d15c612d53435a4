// The fastest schedule that fits is taken; its bytes are those of the allocations, and a limit one byte lower than
// they need moves on to the next.
// RUN: mla-opt %s --mla-to-tile --tile-schedule 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: mla-opt %s --mla-to-tile --tile-schedule 2>/dev/null | FileCheck %s
// RUN: mla-opt %s --mla-to-tile --tile-schedule --tile-pipeline 2>/dev/null | FileCheck %s --check-prefix=BYTES
// RUN: mla-opt %s --mla-to-tile --tile-schedule="shared-limit=86560" 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: mla-opt %s --mla-to-tile --tile-schedule="shared-limit=86559" 2>&1 | FileCheck %s --check-prefix=LESS
// RUN: not mla-opt %s --mla-to-tile --tile-schedule="shared-limit=20000" 2>&1 | FileCheck %s --check-prefix=SMALL

// REMARK: remark: schedule of free: #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 4, rowWarps = 1>, 86560 of 101376 bytes of shared memory, bound by memory ({{[0-9]+}} cycles a tile of 64 tokens) on sm_120 [schedule-choice]
// EXACT: remark: schedule of free: #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 4, rowWarps = 1>, 86560 of 86560 bytes
// LESS: remark: schedule of free: #tile.schedule<{{.*}}>, {{[0-9]+}} of 86559 bytes
// SMALL: error: no schedule fits sm_120: the smallest, #tile.schedule<rows = 8, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>, needs 28768 bytes of shared memory and about {{[0-9]+}} registers a thread; available are 20000 bytes and 255 registers [schedule-fit]
// SMALL: note: fewer rows, tokens or stages need less: remove or lower the kernel's hints

// Open sizes are closed, rows and tokens each where they belong; the combine learns the rows.
// CHECK-LABEL: tile.kernel @free(
// CHECK-SAME: schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 4, rowWarps = 1>
// CHECK-NOT: ?x
// CHECK: tile.query {{.*}} -> <8x576xf16>
// CHECK: tile.fill {{.*}} : <8x512xf32>
// CHECK: scf.for {{.*}} -> (!tile.tile<8x512xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>)
// CHECK: tile.load {{.*}} -> <64x576xf16 from f8E4M3FN>
// CHECK: tile.dot {{.*}} : <8x576xf16>, <64x576xf16 from f8E4M3FN> -> <8x64xf32>
// CHECK: tile.online_softmax {{.*}} -> (!tile.tile<8x64xf16>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>)
// CHECK: tile.slice {{.*}} -> <64x512xf16 from f8E4M3FN>
// CHECK: tile.combine {{.*}} {rows = 8 : i64, threads = 512 : i64}

// BYTES-LABEL: tile.kernel @free(
// BYTES-SAME: shared_bytes = 86560 : i64
// BYTES: tile.alloc "kv" at 0 : <2x64x576xf8E4M3FN, pitch = 592>
// BYTES: tile.alloc "query" at [[#mul(2,mul(64,592))]] : <1x8x576xf16, pitch = 1168>
// BYTES: tile.alloc "probs" at [[#mul(2,mul(64,592))+mul(8,1168)]] : <1x8x64xf16, pitch = 144>
// BYTES: tile.alloc "maxima" at {{[0-9]+}} : <4x1x8xf32, pitch = 32>
// BYTES: tile.alloc "stats" at [[#86560-mul(5,32)]] : <5x1x8xf32, pitch = 32>
mla.kernel @free(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// Hints fix what they name. This is the footprint that the two kernels below lower.
// BYTES-LABEL: tile.kernel @base(
// BYTES-SAME: schedule = #tile.schedule<rows = 8, tokens = 32, stages = 3, groups = 1, tokenWarps = 1, rowWarps = 1>
// BYTES-SAME: shared_bytes = [[#BASE:]] : i64
mla.kernel @base(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16>
    attributes {compute = f16, mla.hints = {rows = 8, tokens = 32, stages = 3, groups = 1, token_warps = 1, row_warps = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// One stage less saves one stage: 32 rows of 592 bytes.
// BYTES-LABEL: tile.kernel @fewer_stages(
// BYTES-SAME: shared_bytes = [[#BASE-mul(32,592)]] : i64
// BYTES: tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
mla.kernel @fewer_stages(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16>
    attributes {compute = f16, mla.hints = {rows = 8, tokens = 32, stages = 2, groups = 1, token_warps = 1, row_warps = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// Half the tokens saves 16 cached rows a stage and 32 bytes of probabilities a row.
// BYTES-LABEL: tile.kernel @fewer_tokens(
// BYTES-SAME: shared_bytes = [[#BASE-mul(3,mul(16,592))-mul(8,32)]] : i64
// BYTES: tile.alloc "kv" at 0 : <3x16x576xf8E4M3FN, pitch = 592>
// BYTES: tile.alloc "probs" at {{[0-9]+}} : <1x8x16xf16, pitch = 48>
mla.kernel @fewer_tokens(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16>
    attributes {compute = f16, mla.hints = {rows = 8, tokens = 16, stages = 3, groups = 1, token_warps = 1, row_warps = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// Query tokens share a tile: 8 heads x 3 tokens take 32 rows.
// CHECK-LABEL: tile.kernel @drafts(
// CHECK-SAME: schedule = #tile.schedule<rows = 32,
mla.kernel @drafts(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16, mla.hints = {query_tokens = 3}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// Scores and outputs: one conversion a pair of cached elements, and the matrix instruction of the declared type alone.
// RUN: mla-opt %s --tile-to-nvvm > %t
// RUN: FileCheck %s --check-prefix=MMA --input-file=%t
// RUN: FileCheck %s --check-prefix=CVT --input-file=%t
// RUN: FileCheck %s --check-prefix=LOAD --input-file=%t
// RUN: FileCheck %s --check-prefix=NONE --input-file=%t

// No form that needs a newer PTX or another target, and no dialect op that bypasses the instruction table.
// NONE-NOT: nvvm.mma.sync
// NONE-NOT: e4m3x2.to.bf16x2
// NONE-NOT: m16n8k32
// NONE-NOT: = tile.
// NONE-NOT: unrealized_conversion_cast

// A warp scores 16 tokens x 576 columns of e4m3: 9216 elements, 64 a conversion of all lanes. 36 steps, 36 products.
// MMA-LABEL: llvm.func @score_e4m3_f16(
// MMA-COUNT-36: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e4m3_f16(
// CVT-COUNT-144: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CVT-NOT: "llvm.nvvm.e{{.*}}x2.to
// CVT-NOT: "llvm.nvvm.ff2
// CVT-NOT: llvm.fmul
// Two steps a load, of the key and of the query.
// LOAD-LABEL: llvm.func @score_e4m3_f16(
// LOAD-COUNT-36: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-NOT: ldmatrix
tile.kernel @score_e4m3_f16(%q: !tile.shared<1x8x576xf16, pitch = 1168>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %maxima = tile.alloc "maxima" at 37888 : <2x1x8xf32, pitch = 32>
  %s = tile.score %q, %ring[%i] : <1x8x576xf16, pitch = 1168>, <2x32x576xf8E4M3FN, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  tile.return
}

// MMA-LABEL: llvm.func @score_e5m2_f16(
// MMA-COUNT-36: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e5m2_f16(
// CVT-COUNT-144: "llvm.nvvm.e5m2x2.to.f16x2.rn"
// CVT-NOT: x2.to
// LOAD-LABEL: llvm.func @score_e5m2_f16(
tile.kernel @score_e5m2_f16(%q: !tile.shared<1x8x576xf16, pitch = 1168>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E5M2, pitch = 592>
  %maxima = tile.alloc "maxima" at 37888 : <2x1x8xf32, pitch = 32>
  %s = tile.score %q, %ring[%i] : <1x8x576xf16, pitch = 1168>, <2x32x576xf8E5M2, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  tile.return
}

// bf16 from e4m3 moves bits, and nothing is multiplied: the values are 2^120 too small. A token's NaN codes, which the moves lose, are gathered from
// the lanes that hold its row, and make its scores NaN.
// MMA-LABEL: llvm.func @score_e4m3_bf16(
// MMA-COUNT-36: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e4m3_bf16(
// CVT-NOT: llvm.fmul
// CVT-NOT: x2.to
// CVT: %[[NAN:.+]] = arith.constant 0x7FC00000 : f32
// CVT-COUNT-4: "llvm.nvvm.shfl.sync.bfly.i32"
// CVT: arith.select %{{.+}}, %{{.+}}, %[[NAN]] : f32
// LOAD-LABEL: llvm.func @score_e4m3_bf16(
tile.kernel @score_e4m3_bf16(%q: !tile.shared<1x8x576xbf16, pitch = 1168>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %maxima = tile.alloc "maxima" at 37888 : <2x1x8xf32, pitch = 32>
  %s = tile.score %q, %ring[%i] : <1x8x576xbf16, pitch = 1168>, <2x32x576xf8E4M3FN, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  tile.return
}

// Storage that is the compute type is not converted.
// MMA-LABEL: llvm.func @score_bf16(
// MMA-COUNT-36: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_bf16(
// CVT-NOT: llvm.nvvm.ff2
// CVT-NOT: x2.to
// CVT-NOT: llvm.fmul
// CVT-NOT: 0x7FC00000
// LOAD-LABEL: llvm.func @score_bf16(
// A step a load of the key, two a load of the query.
// LOAD-COUNT-54: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-NOT: ldmatrix
tile.kernel @score_bf16(%q: !tile.shared<1x8x576xbf16, pitch = 1168>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xbf16, pitch = 1168>
  %maxima = tile.alloc "maxima" at 74752 : <2x1x8xf32, pitch = 32>
  %s = tile.score %q, %ring[%i] : <1x8x576xbf16, pitch = 1168>, <2x32x576xbf16, pitch = 1168> -> <accumulator, 16x8xf32>
  tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  tile.return
}

// f16 from bf16 goes through f32.
// CVT-LABEL: llvm.func @score_bf16_f16(
// CVT-COUNT-144: "llvm.nvvm.ff2f16x2.rn"
// CVT-NOT: llvm.nvvm.ff2
// MMA-LABEL: llvm.func @score_bf16_f16(
// MMA-COUNT-36: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// LOAD-LABEL: llvm.func @score_bf16_f16(
tile.kernel @score_bf16_f16(%q: !tile.shared<1x8x576xf16, pitch = 1168>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xbf16, pitch = 1168>
  %maxima = tile.alloc "maxima" at 74752 : <2x1x8xf32, pitch = 32>
  %s = tile.score %q, %ring[%i] : <1x8x576xf16, pitch = 1168>, <2x32x576xbf16, pitch = 1168> -> <accumulator, 16x8xf32>
  tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  tile.return
}

// A warp weighs 32 tokens x 256 value dimensions: 8192 elements. 16 blocks of 16 dimensions x two of 16 tokens.
// MMA-LABEL: llvm.func @weigh_e4m3_f16(
// MMA-COUNT-32: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @weigh_e4m3_f16(
// CVT-COUNT-128: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CVT-NOT: x2.to
// CVT-NOT: llvm.nvvm.ff2
// Eight 16-byte rows a matrix: 16 tokens x 32 dimensions a load. Probabilities of both token steps come at once.
// LOAD-LABEL: llvm.func @weigh_e4m3_f16(
// LOAD-COUNT-1: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-COUNT-16: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
// LOAD-NOT: ldmatrix
tile.kernel @weigh_e4m3_f16(%acc: !tile.fragment<accumulator, 256x8xf32>,
                            %item: !tile.item, %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xf32>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %probs = tile.alloc "probs" at 37888 : <1x8x32xf16, pitch = 80>
  %next = tile.weigh %acc, %probs, %ring[%i] columns 0 + 512 : <accumulator, 256x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x576xf8E4M3FN, pitch = 592>
  tile.store_result %item, %plan, %next from f8E4M3FN width 512 to %o : <accumulator, 256x8xf32> to <ragged, 8x512xf32>
  tile.return
}

// MMA-LABEL: llvm.func @weigh_e4m3_bf16(
// MMA-COUNT-32: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @weigh_e4m3_bf16(
// CVT-NOT: llvm.fmul
// CVT-NOT: x2.to
// LOAD-LABEL: llvm.func @weigh_e4m3_bf16(
tile.kernel @weigh_e4m3_bf16(%acc: !tile.fragment<accumulator, 256x8xf32>,
                             %item: !tile.item, %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xf32>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %probs = tile.alloc "probs" at 37888 : <1x8x32xbf16, pitch = 80>
  %next = tile.weigh %acc, %probs, %ring[%i] columns 0 + 512 : <accumulator, 256x8xf32>, <1x8x32xbf16, pitch = 80>, <2x32x576xf8E4M3FN, pitch = 592>
  tile.store_result %item, %plan, %next from f8E4M3FN width 512 to %o : <accumulator, 256x8xf32> to <ragged, 8x512xf32>
  tile.return
}

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

// A warp scores 16 tokens x 144 columns of e4m3: 2304 elements, 64 a conversion of all lanes. Nine steps, nine products.
// MMA-LABEL: llvm.func @score_e4m3_f16(
// MMA-COUNT-9: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e4m3_f16(
// CVT-COUNT-36: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CVT-NOT: "llvm.nvvm.e{{.*}}x2.to
// CVT-NOT: "llvm.nvvm.ff2
// CVT-NOT: llvm.fmul
// Two steps a load, the ninth alone.
// LOAD-LABEL: llvm.func @score_e4m3_f16(
// LOAD-COUNT-4: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-COUNT-1: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16"
// LOAD-NOT: ldmatrix
tile.kernel @score_e4m3_f16(%q: !tile.fragment<operand, 144x8xf16>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %planes = tile.alloc "scores" at 37888 : <4x8x32xf32, pitch = 144>
  %s = tile.score %q, %ring[%i] : <operand, 144x8xf16>, <2x32x576xf8E4M3FN, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_scores %s to %planes : <accumulator, 16x8xf32> to <4x8x32xf32, pitch = 144>
  tile.return
}

// MMA-LABEL: llvm.func @score_e5m2_f16(
// MMA-COUNT-9: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e5m2_f16(
// CVT-COUNT-36: "llvm.nvvm.e5m2x2.to.f16x2.rn"
// CVT-NOT: x2.to
// LOAD-LABEL: llvm.func @score_e5m2_f16(
tile.kernel @score_e5m2_f16(%q: !tile.fragment<operand, 144x8xf16>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E5M2, pitch = 592>
  %planes = tile.alloc "scores" at 37888 : <4x8x32xf32, pitch = 144>
  %s = tile.score %q, %ring[%i] : <operand, 144x8xf16>, <2x32x576xf8E5M2, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_scores %s to %planes : <accumulator, 16x8xf32> to <4x8x32xf32, pitch = 144>
  tile.return
}

// bf16 from e4m3 moves bits and multiplies once a pair. A token's NaN codes, which the moves lose, are gathered from
// the lanes that hold its row, and make its scores NaN.
// MMA-LABEL: llvm.func @score_e4m3_bf16(
// MMA-COUNT-9: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_e4m3_bf16(
// CVT-COUNT-36: llvm.fmul {{.*}} : vector<2xbf16>
// CVT-NOT: llvm.fmul
// CVT-NOT: x2.to
// CVT: %[[NAN:.+]] = arith.constant 0x7FC00000 : f32
// CVT-COUNT-4: "llvm.nvvm.shfl.sync.bfly.i32"
// CVT-NOT: shfl
// CVT: arith.select %{{.+}}, %{{.+}}, %[[NAN]] : f32
// LOAD-LABEL: llvm.func @score_e4m3_bf16(
tile.kernel @score_e4m3_bf16(%q: !tile.fragment<operand, 144x8xbf16>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %planes = tile.alloc "scores" at 37888 : <4x8x32xf32, pitch = 144>
  %s = tile.score %q, %ring[%i] : <operand, 144x8xbf16>, <2x32x576xf8E4M3FN, pitch = 592> -> <accumulator, 16x8xf32>
  tile.store_scores %s to %planes : <accumulator, 16x8xf32> to <4x8x32xf32, pitch = 144>
  tile.return
}

// Storage that is the compute type is not converted.
// MMA-LABEL: llvm.func @score_bf16(
// MMA-COUNT-9: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @score_bf16(
// CVT-NOT: llvm.nvvm.ff2
// CVT-NOT: x2.to
// CVT-NOT: llvm.fmul
// CVT-NOT: shfl
// LOAD-LABEL: llvm.func @score_bf16(
// LOAD-COUNT-9: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-NOT: ldmatrix
tile.kernel @score_bf16(%q: !tile.fragment<operand, 144x8xbf16>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xbf16, pitch = 1168>
  %planes = tile.alloc "scores" at 74752 : <4x8x32xf32, pitch = 144>
  %s = tile.score %q, %ring[%i] : <operand, 144x8xbf16>, <2x32x576xbf16, pitch = 1168> -> <accumulator, 16x8xf32>
  tile.store_scores %s to %planes : <accumulator, 16x8xf32> to <4x8x32xf32, pitch = 144>
  tile.return
}

// f16 from bf16 goes through f32.
// CVT-LABEL: llvm.func @score_bf16_f16(
// CVT-COUNT-36: "llvm.nvvm.ff2f16x2.rn"
// CVT-NOT: llvm.nvvm.ff2
// MMA-LABEL: llvm.func @score_bf16_f16(
// MMA-COUNT-9: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// LOAD-LABEL: llvm.func @score_bf16_f16(
tile.kernel @score_bf16_f16(%q: !tile.fragment<operand, 144x8xf16>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xbf16, pitch = 1168>
  %planes = tile.alloc "scores" at 74752 : <4x8x32xf32, pitch = 144>
  %s = tile.score %q, %ring[%i] : <operand, 144x8xf16>, <2x32x576xbf16, pitch = 1168> -> <accumulator, 16x8xf32>
  tile.store_scores %s to %planes : <accumulator, 16x8xf32> to <4x8x32xf32, pitch = 144>
  tile.return
}

// A warp weighs 32 tokens x 64 value dimensions: 2048 elements. Four blocks of 16 dimensions x two of 16 tokens.
// MMA-LABEL: llvm.func @weigh_e4m3_f16(
// MMA-COUNT-8: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @weigh_e4m3_f16(
// CVT-COUNT-32: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CVT-NOT: x2.to
// CVT-NOT: llvm.nvvm.ff2
// Eight 16-byte rows a matrix: 16 tokens x 32 dimensions a load. Probabilities of both token steps come at once.
// LOAD-LABEL: llvm.func @weigh_e4m3_f16(
// LOAD-COUNT-1: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// LOAD-COUNT-4: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
// LOAD-NOT: ldmatrix
tile.kernel @weigh_e4m3_f16(%acc: !tile.fragment<accumulator, 64x8xf32>, %factor: !tile.shared<1x1x8xf32, pitch = 32>,
                            %item: !tile.item, %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xf32>, %i: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %probs = tile.alloc "probs" at 37888 : <1x8x32xf16, pitch = 80>
  %next = tile.weigh %acc, %probs, %ring[%i] columns 0 + 512 : <accumulator, 64x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x576xf8E4M3FN, pitch = 592>
  tile.store_result %item, %plan, %next by %factor from f8E4M3FN width 512 to %o : <accumulator, 64x8xf32> by <1x1x8xf32, pitch = 32> to <ragged, 8x512xf32>
  tile.return
}

// MMA-LABEL: llvm.func @weigh_e4m3_bf16(
// MMA-COUNT-8: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// MMA-NOT: llvm.nvvm.mma
// CVT-LABEL: llvm.func @weigh_e4m3_bf16(
// CVT-COUNT-32: llvm.fmul {{.*}} : vector<2xbf16>
// CVT-NOT: llvm.fmul
// CVT-NOT: x2.to
// LOAD-LABEL: llvm.func @weigh_e4m3_bf16(
tile.kernel @weigh_e4m3_bf16(%acc: !tile.fragment<accumulator, 64x8xf32>, %factor: !tile.shared<1x1x8xf32, pitch = 32>,
                             %item: !tile.item, %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xf32>, %i: i32)
    attributes {compute = bf16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %probs = tile.alloc "probs" at 37888 : <1x8x32xbf16, pitch = 80>
  %next = tile.weigh %acc, %probs, %ring[%i] columns 0 + 512 : <accumulator, 64x8xf32>, <1x8x32xbf16, pitch = 80>, <2x32x576xf8E4M3FN, pitch = 592>
  tile.store_result %item, %plan, %next by %factor from f8E4M3FN width 512 to %o : <accumulator, 64x8xf32> by <1x1x8xf32, pitch = 32> to <ragged, 8x512xf32>
  tile.return
}

// Prefill, op by op: rows on the instruction's m side, and nothing of scores, probabilities and sums in shared memory.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// Eight neighbours copy a row of 384 bytes, three pieces each; a block of 128 threads copies 64 rows in four passes. A row past the
// end has a source size of 0.
// CHECK-LABEL: llvm.func @copy(
// CHECK: scf.if %{{.+}} {
// CHECK: %[[VALID:.+]] = arith.cmpi slt, %{{.+}}, %{{.+}} : i32
// CHECK: %[[BYTES:.+]] = arith.select %[[VALID]], %c16_i32, %c0_i32 : i32
// CHECK-COUNT-3: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK-COUNT-9: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async
tile.kernel @copy(%k: !mla.buffer<ragged, 8x192xbf16>, %item: !tile.item, %i: i32, %enabled: i1)
    attributes {compute = bf16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 128, tokens = 64, stages = 1, rowWarps = 4>} {
  %keys = tile.alloc "keys" at 0 : <1x64x192xbf16, pitch = 400>
  tile.copy_rows %k[%item, %i] to %keys[%i] if %enabled : <ragged, 8x192xbf16> to <1x64x192xbf16, pitch = 400>
  tile.return
}

// Two steps of 16 columns, each: two blocks of 16 query rows, and two loads of 16 tokens; every load of keys serves both blocks.
// CHECK-LABEL: llvm.func @score(
// CHECK-COUNT-2: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// CHECK-COUNT-4: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// CHECK-COUNT-4: "llvm.nvvm.mma.m16n8k16.row.col.bf16"
// CHECK-COUNT-4: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// CHECK-NOT: ldmatrix
tile.kernel @score(%i: i32)
    attributes {compute = bf16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 64, tokens = 32, stages = 1, rowWarps = 2>} {
  %keys = tile.alloc "keys" at 0 : <1x32x32xbf16, pitch = 80>
  %query = tile.alloc "query" at 2560 : <1x64x32xbf16, pitch = 80>
  %s = tile.score_rows %query, %keys[%i] : <1x64x32xbf16, pitch = 80>, <1x32x32xbf16, pitch = 80> -> <accumulator, 32x32xf32>
  tile.return
}

// Of 8-bit keys one load holds a step of 32 tokens, and each word becomes both operand registers of eight.
// CHECK-LABEL: llvm.func @score_bytes(
// CHECK-COUNT-2: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"
// CHECK-COUNT-2: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CHECK: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-COUNT-6: "llvm.nvvm.e4m3x2.to.f16x2.rn"
// CHECK-NOT: ldmatrix
tile.kernel @score_bytes(%i: i32)
    attributes {compute = f16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 16, tokens = 32, stages = 1, rowWarps = 1>} {
  %keys = tile.alloc "keys" at 0 : <1x32x16xf8E4M3FN, pitch = 16>
  %query = tile.alloc "query" at 512 : <1x16x16xf16, pitch = 48>
  %s = tile.score_rows %query, %keys[%i] : <1x16x16xf16, pitch = 48>, <1x32x16xf8E4M3FN, pitch = 16> -> <accumulator, 16x32xf32>
  tile.return
}

// A tile that is cut is masked, any other passes as it is. One register tells the limits of all rows.
// CHECK-LABEL: llvm.func @mask(
// CHECK: %[[CUT:.+]] = arith.cmpi slt
// CHECK: scf.if %[[CUT]] -> (f32, f32, f32, f32, f32, f32, f32, f32) {
// CHECK: arith.select %{{.+}}, %{{.+}}, %cst
// CHECK: } else {
// CHECK-NEXT: scf.yield %arg
// Probabilities: at most two shuffles a row, an exponential a score after one fused multiply-add, packed in pairs; nothing is
// stored to shared memory.
// CHECK-COUNT-4: "llvm.nvvm.shfl.sync.bfly.i32"
// CHECK-NOT: shfl
// CHECK: llvm.intr.fma
// CHECK: "llvm.nvvm.ex2.approx.ftz"
// CHECK-COUNT-4: "llvm.nvvm.ff2bf16x2.rn"
// CHECK-NOT: llvm.store
tile.kernel @mask(%s: !tile.fragment<accumulator, 16x16xf32>, %m: !tile.fragment<row_stats, 16x1xf32>, %item: !tile.item, %i: i32, %f: f32)
    attributes {compute = bf16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 16, tokens = 16, stages = 1, rowWarps = 1>} {
  %t = tile.mask_rows causal %s[%item, %i] : <accumulator, 16x16xf32>
  %p, %a, %b, %c = tile.softmax_rows %t stats %m, %m scale %f : <accumulator, 16x16xf32> stats <row_stats, 16x1xf32> -> <operand, 16x16xbf16>
  tile.return
}

// Values are transposed on their way to registers. Of 8 bits, bytes of two tokens are brought together first; where a width ends in the
// middle of a load, a load of two matrices takes the rest.
// CHECK-LABEL: llvm.func @weigh(
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"
// CHECK: "llvm.nvvm.prmt"(%{{.+}}, %{{.+}}, %c12576_i32)
// CHECK-COUNT-4: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK: "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16"
// CHECK-COUNT-2: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-NOT: mma
// CHECK: "llvm.nvvm.vote.any.sync"
tile.kernel @weigh(%acc: !tile.fragment<accumulator, 16x48xf32>, %p: !tile.fragment<operand, 16x16xf16>, %m: !tile.fragment<row_stats, 16x1xf32>, %i: i32)
    attributes {compute = f16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 16, tokens = 16, stages = 1, rowWarps = 1>} {
  %values = tile.alloc "values" at 0 : <1x16x48xf8E4M3FN, pitch = 48>
  %a = tile.weigh_rows %acc, %p, %values[%i] : <accumulator, 16x48xf32>, <operand, 16x16xf16>, <1x16x48xf8E4M3FN, pitch = 48>
  %b = tile.rescale_rows %a by %m : <accumulator, 16x48xf32> by <row_stats, 16x1xf32>
  tile.return
}

// A window cuts a tile at its beginning, too: one more comparison a tile, and a branch of its own. An edit is of every score,
// before the branches; what it reads of a head is loaded once.
// CHECK-LABEL: llvm.func @window(
// CHECK: llvm.load {{.*}} invariant
// CHECK-NOT: llvm.load
// CHECK: arith.addf
// CHECK: %[[END:.+]] = arith.cmpi slt
// CHECK: %[[MASKED:.+]]:8 = scf.if %[[END]]
// CHECK: arith.select %{{.+}}, %{{.+}}, %[[HIDDEN:.+]] : f32
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK: %[[BEGIN:.+]] = arith.cmpi slt
// CHECK: scf.if %[[BEGIN]]
// CHECK: arith.select %{{.+}}, %[[HIDDEN]], %[[MASKED]]#0 : f32
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[MASKED]]#0
tile.kernel @window(%s: !tile.fragment<accumulator, 16x16xf32>, %item: !tile.item, %i: i32, %f: f32, %bias: !mla.head_values<8>)
    attributes {compute = bf16, heads = 8 : i64, kv_heads = 8 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 16, tokens = 16, stages = 1, rowWarps = 1>} {
  %t = tile.mask_rows causal window 7 %s[%item, %i] scale %f edit {
  ^bb0(%score: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %b = mla.head_value %bias : <8>
    %sum = arith.addf %score, %b : f32
    mla.yield %sum
  } : <accumulator, 16x16xf32>
  %m = tile.splat 0xFF800000 : <row_stats, 16x1xf32>
  %p, %a, %n, %c = tile.softmax_rows %t stats %m, %m scale %f : <accumulator, 16x16xf32> stats <row_stats, 16x1xf32> -> <operand, 16x16xbf16>
  tile.return
}

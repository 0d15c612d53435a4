// An entry point keeps what the artefact needs to know; nothing of the tile dialect is left.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: mla-opt %s --tile-to-nvvm | FileCheck %s --check-prefix=NONE
// RUN: mla-opt %s --tile-to-llvm | FileCheck %s --check-prefix=LLVM

// NONE-NOT: = tile.
// NONE-NOT: {{^ *}}tile.
// NONE-NOT: = mla.
// NONE-NOT: unrealized_conversion_cast

// LLVM-NOT: {{^ *(%[^ ]+ = )?(arith|scf|cf|tile|mla)\.}}
// LLVM-NOT: unrealized_conversion_cast

// CHECK: llvm.mlir.global external @mlac_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// Parameters are named in the order of the registers they take.
// CHECK-LABEL: llvm.func @entry(
// CHECK-SAME: heads = 8 : i64, mlac.info = {v_dim = 512 : i64}
// CHECK-SAME: mlac.operands = {{\[\[}}"q", !mla.buffer<ragged, 8x576xbf16>], ["kv", !mla.buffer<paged, 576xf8E4M3FN>], ["rows", !mla.buffer<ragged, 576xf8E4M3FN>], ["s", f32]]
// CHECK-SAME: mlac.params = ["q.data", "q.stride_token", "q.stride_head", "kv.data", "kv.stride_page", "kv.stride_token", "kv.table", "kv.table_stride", "kv.page_size", "kv.page_magic", "kv.page_shift", "rows.data", "rows.stride_token", "rows.indptr", "s", "plan.q_indptr", "plan.kv_len", "plan.work_indptr", "plan.work", "plan.merges", "plan.partial_out", "plan.partial_lse"]
// CHECK-SAME: nvvm.kernel, nvvm.reqntid = array<i32: 256>
// CHECK-SAME: schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 2, tokenWarps = 4, rowWarps = 1>, shared_bytes = 85664 : i64
tile.kernel @entry(%q: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"}, %kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"},
                   %rows: !mla.buffer<ragged, 576xf8E4M3FN> {mla.name = "rows"}, %s: f32 {mla.name = "s"},
                   %plan: !tile.plan {mla.name = "plan"})
    attributes {compute = f16, heads = 8 : i64, mlac.info = {v_dim = 512 : i64}, shared_bytes = 85664 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 2, tokenWarps = 4, rowWarps = 1>} {
  // CHECK: %[[BLOCK:.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"()
  // CHECK: %[[BEGIN:.+]] = llvm.load
  // CHECK: %[[END:.+]] = llvm.load
  // CHECK: scf.for %{{.+}} = %[[BEGIN]] to %[[END]]
  tile.items %plan {
  ^bb0(%item: !tile.item):
    // CHECK: "llvm.nvvm.barrier.cta.sync.aligned.all"
    tile.barrier
  }
  tile.return
}

// Query rows past the request's end are loaded from the item's first row and read as 0.
// CHECK-LABEL: llvm.func @query(
// CHECK: arith.select %[[INSIDE:[0-9]+]], %{{.+}}, %{{.+}} : i32
// CHECK: %[[PAIR:.+]] = llvm.extractelement
// CHECK: arith.select %[[INSIDE]], %[[PAIR]], %c0_i32 : i32
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
tile.kernel @query(%q: !mla.buffer<ragged, 8x64xf16>, %item: !tile.item)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %rows = tile.alloc "query" at 5120 : <1x8x64xf16, pitch = 144>
  tile.load_query %q[%item] for f8E4M3FN to %rows : <ragged, 8x64xf16> to <1x8x64xf16, pitch = 144>
  tile.return
}

// A log-sum-exp in base 2 is stored as it is; ln multiplies by ln 2. A row without tokens has factor 0 and -inf.
// CHECK-LABEL: llvm.func @lse_log2(
// CHECK-NOT: 0.693147
// CHECK-LABEL: llvm.func @lse_ln(
// CHECK-DAG: %[[LN2:.+]] = arith.constant 0.693147182 : f32
// CHECK-DAG: %[[LOW:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[EMPTY:.+]] = arith.cmpf oeq, %{{.+}}, %[[ZERO]]
// CHECK: "llvm.nvvm.lg2.approx.ftz.f"
// CHECK: %[[LSE2:.+]] = arith.select %[[EMPTY]], %[[LOW]], %{{.+}} : f32
// CHECK: llvm.store %[[LSE2]], %{{.+}} : f32, !llvm.ptr<1>
// CHECK: %[[LSE:.+]] = arith.mulf %[[LSE2]], %[[LN2]] : f32
// CHECK: llvm.store %[[LSE]], %{{.+}} : f32, !llvm.ptr<1>
// CHECK: arith.select %[[EMPTY]], %[[ZERO]], %{{.+}} : f32
tile.kernel @lse_log2(%item: !tile.item, %plan: !tile.plan, %f: f32, %stats: !tile.shared<3x1x8xf32, pitch = 32>,
                      %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %o: !mla.buffer<ragged, 8x64xf32>)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %max = tile.splat 1.0 : <stats, 1x8xf32>
  %acc = tile.splat 1.0 : <accumulator, 32x8xf32>
  %factor = tile.finish_rows %item, %plan, %max, %stats times %f, lse log2 %lse : <stats, 1x8xf32>, <3x1x8xf32, pitch = 32>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x8xf32>
  %scaled = tile.rescale %acc by %factor : <accumulator, 32x8xf32> by <stats, 1x8xf32>
  tile.store_result %item, %plan, %scaled from bf16 width 64 to %o : <accumulator, 32x8xf32> to <ragged, 8x64xf32>
  tile.return
}
tile.kernel @lse_ln(%item: !tile.item, %plan: !tile.plan, %f: f32, %stats: !tile.shared<3x1x8xf32, pitch = 32>,
                      %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %o: !mla.buffer<ragged, 8x64xf32>)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %max = tile.splat 1.0 : <stats, 1x8xf32>
  %acc = tile.splat 1.0 : <accumulator, 32x8xf32>
  %factor = tile.finish_rows %item, %plan, %max, %stats times %f, lse ln %lse : <stats, 1x8xf32>, <3x1x8xf32, pitch = 32>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x8xf32>
  %scaled = tile.rescale %acc by %factor : <accumulator, 32x8xf32> by <stats, 1x8xf32>
  tile.store_result %item, %plan, %scaled from bf16 width 64 to %o : <accumulator, 32x8xf32> to <ragged, 8x64xf32>
  tile.return
}

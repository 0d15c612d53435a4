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
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 256>
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

// An item without rows loads nothing. Query rows past the request's end are loaded from the item's first row, so that nothing
// beyond is read, and stored as 0. A register holds two columns, in the order of the converted keys: even ones, then odd ones.
// CHECK-LABEL: llvm.func @query(
// CHECK: %[[ANY:.+]] = arith.cmpi sgt, %[[ROWS:.+]], %c0_i32
// CHECK: %[[FETCHED:.+]]:8 = scf.if %[[ANY]]
// CHECK: %[[PACKED:.+]] = arith.addi %[[FIRST:.+]], %{{.+}} : i32
// CHECK: %[[THERE:.+]] = arith.cmpi slt, %[[PACKED]], %[[ROWS]] : i32
// CHECK: arith.select %[[THERE]], %[[PACKED]], %[[FIRST]] : i32
// CHECK-COUNT-4: llvm.load %{{.+}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
// CHECK: } else {
// CHECK-NEXT: scf.yield %c0_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32, %c0_i32
// CHECK: %[[ROW:.+]] = arith.addi %[[FIRST]], %{{.+}} : i32
// CHECK: %[[INSIDE:.+]] = arith.cmpi slt, %[[ROW]], %[[ROWS]] : i32
// CHECK: %[[PAIR0:.+]] = arith.select %[[INSIDE]], %[[FETCHED]]#0, %c0_i32 : i32
// CHECK: %[[PAIR1:.+]] = arith.select %[[INSIDE]], %[[FETCHED]]#1, %c0_i32 : i32
// CHECK: llvm.insertelement %[[PAIR0]], %{{.+}}[%c0_i32 : i32]
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
// CHECK: llvm.insertelement %[[PAIR1]], %{{.+}}[%c0_i32 : i32]
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
tile.kernel @query(%q: !mla.buffer<ragged, 8x64xf16>, %item: !tile.item)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %rows = tile.alloc "query" at 5120 : <1x8x64xf16, pitch = 144>
  %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <8>
  tile.store_query %pieces of %item : f16 for f8E4M3FN to %rows : <8> to <1x8x64xf16, pitch = 144>
  tile.return
}

// The stream begins in front of the block's first item and goes to the first tile of the first item that has one; its next
// tile is one further, or the first of the next such item. Past the last item it stays.
// CHECK-LABEL: llvm.func @stream(
// CHECK: %[[BLOCK:.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"()
// CHECK: %[[BEGIN:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: %[[END:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: %[[FIRST:.+]]:5 = scf.while (%[[NEXT:.+]] = %[[BEGIN]], %{{.+}} = %c0_i32, %[[TILE:.+]] = %c0_i32, %[[TILE_END:.+]] = %c0_i32, %{{.+}} = %c0_i32)
// CHECK-DAG: %[[ENDED:.+]] = arith.cmpi sle, %[[TILE_END]], %[[TILE]] : i32
// CHECK-DAG: %[[MORE:.+]] = arith.cmpi slt, %[[NEXT]], %[[END]] : i32
// CHECK: %[[GO:.+]] = arith.andi %[[ENDED]], %[[MORE]] : i1
// CHECK-NEXT: scf.condition(%[[GO]])
// CHECK: ^bb0(%[[INDEX:[a-z0-9]+]]: i32,
// CHECK: %[[INDEX64:.+]] = arith.extsi %[[INDEX]] : i32 to i64
// CHECK-NEXT: %[[PLACE:.+]] = arith.muli %[[INDEX64]], %c48_i64 : i64
// CHECK: %[[HEAD:.+]] = llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NEXT: %[[REQUEST:.+]] = llvm.extractelement %[[HEAD]][%c0_i32 : i32]
// CHECK-NEXT: %[[TILE_BEGIN:.+]] = llvm.extractelement %[[HEAD]][%c2_i32 : i32]
// CHECK-NEXT: %[[LAST_TILE:.+]] = llvm.extractelement %[[HEAD]][%c3_i32 : i32]
// CHECK: %[[TAIL:.+]] = llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NEXT: %[[KV_LEN:.+]] = llvm.extractelement %[[TAIL]][%c3_i32 : i32]
// CHECK-NEXT: %[[AFTER:.+]] = arith.addi %[[INDEX]], %c1_i32 : i32
// CHECK-NEXT: scf.yield %[[AFTER]], %[[REQUEST]], %[[TILE_BEGIN]], %[[LAST_TILE]], %[[KV_LEN]]
// CHECK: %[[ONE_ON:.+]] = arith.addi %[[FIRST]]#2, %c1_i32 : i32
// CHECK-NEXT: scf.while (%{{.+}} = %[[FIRST]]#0, %{{.+}} = %[[FIRST]]#1, %{{.+}} = %[[ONE_ON]], %{{.+}} = %[[FIRST]]#3, %{{.+}} = %[[FIRST]]#4)
tile.kernel @stream(%plan: !tile.plan, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x576xf8E4M3FN, pitch = 592>
  %cursor = tile.stream %plan
  %next = tile.advance %cursor of %plan
  %at = tile.locate %kv[%next] : <paged, 576xf8E4M3FN> -> <1>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <1> to <2x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// A block without items has a first one without rows; the one after the last is the last again, without rows, and no branch
// waits for it. What is carried goes from item to item as registers.
// CHECK-LABEL: llvm.func @carried(
// CHECK: %[[BEGIN:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: %[[END:.+]] = llvm.load %{{.+}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: %[[SOME:.+]] = arith.cmpi slt, %[[BEGIN]], %[[END]] : i32
// CHECK: %[[ITEM:.+]]:3 = scf.if %[[SOME]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %c0_i32, %c0_i32, %c0_i32 : i32, i32, i32
// CHECK: %[[ANY:.+]] = arith.cmpi sgt, %[[ITEM]]#2, %c0_i32 : i32
// CHECK: %[[FETCHED:.+]]:8 = scf.if %[[ANY]]
// CHECK: scf.for %[[INDEX:.+]] = %{{.+}} to %[[LAST:[^ ]+]] step %c1_i32 iter_args(%{{.+}} = %[[FETCHED]]#0, %{{.+}} = %[[FETCHED]]#1,
// CHECK-DAG: %[[NEXT:.+]] = arith.addi %[[INDEX]], %c1_i32 : i32
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[NEXT]], %[[LAST]] : i32
// CHECK: %[[LOADED:.+]] = arith.select %[[EXISTS]], %[[NEXT]], %[[INDEX]] : i32
// CHECK: arith.extsi %[[LOADED]] : i32 to i64
// CHECK-NOT: scf.if
// CHECK: %[[THERE:.+]] = llvm.extractelement %{{.+}}[%c2_i32 : i32]
// CHECK: %[[ROWS:.+]] = arith.select %[[EXISTS]], %[[THERE]], %c0_i32 : i32
// CHECK: %[[ANY_MORE:.+]] = arith.cmpi sgt, %[[ROWS]], %c0_i32 : i32
// CHECK: %[[AHEAD:.+]]:8 = scf.if %[[ANY_MORE]]
// CHECK: scf.yield %[[AHEAD]]#0, %[[AHEAD]]#1,
tile.kernel @carried(%plan: !tile.plan, %q: !mla.buffer<ragged, 8x64xf16>)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %rows = tile.alloc "query" at 5120 : <1x8x64xf16, pitch = 144>
  %first = tile.first_item %plan
  %fetched = tile.fetch_query %q[%first] : <ragged, 8x64xf16> -> <8>
  %last = tile.items %plan carrying %fetched : !tile.pieces<8> {
  ^bb0(%item: !tile.item, %pieces: !tile.pieces<8>):
    tile.store_query %pieces of %item : f16 for f8E4M3FN to %rows : <8> to <1x8x64xf16, pitch = 144>
    %next = tile.next_item %item of %plan
    %ahead = tile.fetch_query %q[%next] : <ragged, 8x64xf16> -> <8>
    tile.yield %ahead : !tile.pieces<8>
  }
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
  %factor = tile.finish_rows %item, %plan, %stats times %f, lse log2 %lse : <3x1x8xf32, pitch = 32>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x8xf32>
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
  %factor = tile.finish_rows %item, %plan, %stats times %f, lse ln %lse : <3x1x8xf32, pitch = 32>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x8xf32>
  %scaled = tile.rescale %acc by %factor : <accumulator, 32x8xf32> by <stats, 1x8xf32>
  tile.store_result %item, %plan, %scaled from bf16 width 64 to %o : <accumulator, 32x8xf32> to <ragged, 8x64xf32>
  tile.return
}

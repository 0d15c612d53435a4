// Copies are asynchronous, of 16, 8 or 4 bytes, and write zeros where a row lies past the request's end.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// A row of 576 bytes has 36 pieces of 16; four threads share it, nine pieces each. A quad's pieces are neighbours.
// CHECK-LABEL: llvm.func @copy16(
// CHECK-SAME: %[[DATA:arg0]]: !llvm.ptr<1>
// CHECK-SAME: %[[VALID:arg10]]: i1, %arg11: i32, %[[ENABLED:arg12]]: i1)
// CHECK: scf.if %[[ENABLED]] {
// CHECK: %[[ROW:.+]] = arith.select %[[VALID]], %{{.+}}, %[[DATA]] : !llvm.ptr<1>
// CHECK: %[[FROM:.+]] = llvm.getelementptr %[[ROW]][%{{.+}}] : (!llvm.ptr<1>, i64)
// CHECK: %[[BYTES:.+]] = arith.select %[[VALID]], %c16_i32, %c0_i32 : i32
// CHECK-NEXT: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%[[TO:.+]], %[[FROM]], %[[BYTES]])
// CHECK: llvm.getelementptr %[[TO]][64]
// CHECK: llvm.getelementptr %[[FROM]][64]
// CHECK-COUNT-8: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.cp.async.commit.group"()
// CHECK: "llvm.nvvm.cp.async.wait.group"(%c1_i32)
// A group's barrier is its own and counts its threads; 0 is the block's.
// CHECK: %[[THREAD:.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
// CHECK: %[[GROUP:.+]] = arith.divui %[[THREAD]], %c128_i32 : i32
// CHECK: %[[ID:.+]] = arith.addi %[[GROUP]], %c1_i32 : i32
// CHECK-NEXT: "llvm.nvvm.barrier.cta.sync.aligned.count"(%[[ID]], %c128_i32) : (i32, i32) -> ()
// CHECK-NEXT: "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0_i32) : (i32) -> ()
// CHECK-NOT: llvm.store
tile.kernel @copy16(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<1>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.commit
  tile.wait 1
  tile.sync
  tile.barrier
  tile.return
}

// A row of nine pieces: two a thread, and one more for the first.
// CHECK-LABEL: llvm.func @uneven(
// CHECK-COUNT-2: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK: %[[LAST:.+]] = arith.cmpi slt, %{{.+}}, %c1_i32
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @uneven(%kv: !mla.buffer<paged, 144xf8E4M3FN>, %at: !tile.address<1>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x144xf8E4M3FN, pitch = 144>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 144xf8E4M3FN>, <1> to <6x32x144xf8E4M3FN, pitch = 144>
  tile.return
}

// One warp copies eight rows at a time, a tile of 32 in four passes. Its lanes meet without a barrier of the block.
// CHECK-LABEL: llvm.func @one_warp(
// CHECK-COUNT-36: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.bar.warp.sync"(%c-1_i32) : (i32) -> ()
// CHECK-NOT: barrier
tile.kernel @one_warp(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<4>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 2, tokenWarps = 1, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <4x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN>, <4> to <4x32x576xf8E4M3FN, pitch = 592>
  tile.sync
  tile.return
}

// A single group's barrier is the block's; half of its four warps' quads have no row to copy.
// CHECK-LABEL: llvm.func @idle(
// CHECK: %[[ACTIVE:.+]] = arith.cmpi slt, %{{.+}}, %c16_i32
// CHECK-NEXT: scf.if %[[ACTIVE]] {
// CHECK-COUNT-9: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0_i32) : (i32) -> ()
// CHECK-NOT: barrier
tile.kernel @idle(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<1>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 32, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 4>} {
  %ring = tile.alloc "kv" at 0 : <2x16x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN>, <1> to <2x16x576xf8E4M3FN, pitch = 592>
  tile.sync
  tile.return
}

// Rows that are only 8 or 4 bytes aligned are copied in pieces of that size.
// CHECK-LABEL: llvm.func @copy8(
// CHECK-COUNT-18: "llvm.nvvm.cp.async.ca.shared.global.8.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy8(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 8>, %at: !tile.address<1>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN, align = 8>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// CHECK-LABEL: llvm.func @copy4(
// CHECK-COUNT-36: "llvm.nvvm.cp.async.ca.shared.global.4.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy4(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 4>, %at: !tile.address<1>, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN, align = 4>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// The page table is read only for a token of the request, and everything from the page id on is 64 bits wide.
// CHECK-LABEL: llvm.func @paged(
// CHECK-SAME: %[[DATA:[a-z0-9]+]]: !llvm.ptr<1>, %[[PAGE_STRIDE:[a-z0-9]+]]: i64, %[[TOKEN_STRIDE:[a-z0-9]+]]: i64, %[[TABLE:[a-z0-9]+]]: !llvm.ptr<1>, %[[TABLE_STRIDE:[a-z0-9]+]]: i64, %[[PAGE_SIZE:[a-z0-9]+]]: i32, %[[MAGIC:[a-z0-9]+]]: i32
// CHECK: %[[VALID:.+]] = arith.cmpi slt, %[[TOKEN:.+]], %{{.+}} : i32
// CHECK-NOT: llvm.load
// CHECK-DAG: %[[WIDE:.+]] = arith.extui %[[TOKEN]] : i32 to i64
// CHECK-DAG: %[[MAGIC64:.+]] = arith.extui %[[MAGIC]] : i32 to i64
// CHECK: arith.muli %[[WIDE]], %[[MAGIC64]] : i64
// CHECK: %[[REQUEST_ROW:.+]] = arith.muli %{{.+}}, %[[TABLE_STRIDE]] : i64
// CHECK-NOT: llvm.load
// CHECK: %[[ID:.+]] = scf.if %[[VALID]] -> (i32) {
// CHECK: %[[ENTRY:.+]] = llvm.load %{{.+}} : !llvm.ptr<1> -> i32
// CHECK-NEXT: scf.yield %[[ENTRY]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %c0_i32
// CHECK-NOT: llvm.load
// CHECK-DAG: %[[ID64:.+]] = arith.extsi %[[ID]] : i32 to i64
// CHECK-DAG: %[[PAGE:.+]] = arith.muli %[[ID64]], %[[PAGE_STRIDE]] : i64
// CHECK-DAG: %[[IN_PAGE:.+]] = arith.muli %{{.+}}, %[[TOKEN_STRIDE]] : i64
// CHECK: %[[ELEMENTS:.+]] = arith.addi %[[PAGE]], %[[IN_PAGE]] : i64
// CHECK: %[[ROW:.+]] = llvm.getelementptr %[[DATA]][%[[ELEMENTS]]]
// CHECK: arith.select %[[VALID]], %[[ROW]], %[[DATA]] : !llvm.ptr<1>
tile.kernel @paged(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %item: !tile.item, %i: i32, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  %at = tile.locate %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <1>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

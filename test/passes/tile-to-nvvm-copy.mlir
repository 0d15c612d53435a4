// Copies are asynchronous, of 16, 8 or 4 bytes, and write zeros where a row lies past the request's end.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// A row of 576 bytes has 36 pieces of 16; eight threads share it: four pieces each, and one more for the first four.
// CHECK-LABEL: llvm.func @copy16(
// CHECK-SAME: %[[ROW:arg8]]: !llvm.ptr<1>, %[[VALID:arg9]]: i1, %arg10: i32, %[[ENABLED:arg11]]: i1)
// CHECK: scf.if %[[ENABLED]] {
// CHECK: %[[FROM:.+]] = llvm.getelementptr %[[ROW]][%{{.+}}] : (!llvm.ptr<1>, i64)
// CHECK: %[[BYTES:.+]] = arith.select %[[VALID]], %c16_i32, %c0_i32 : i32
// CHECK-NEXT: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%[[TO:.+]], %[[FROM]], %[[BYTES]])
// CHECK: llvm.getelementptr %[[TO]][128]
// CHECK: llvm.getelementptr %[[FROM]][128]
// CHECK-NEXT: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK: %[[LAST:.+]] = arith.cmpi slt, %{{.+}}, %c4_i32
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.cp.async.commit.group"()
// CHECK: "llvm.nvvm.cp.async.wait.group"(%c1_i32)
// CHECK: "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0_i32) : (i32) -> ()
// CHECK-NOT: llvm.store
tile.kernel @copy16(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 3, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <3x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN> to <3x32x576xf8E4M3FN, pitch = 592>
  tile.commit
  tile.wait 1
  tile.barrier
  tile.return
}

// Rows that are only 8 or 4 bytes aligned are copied in pieces of that size.
// CHECK-LABEL: llvm.func @copy8(
// CHECK-COUNT-9: "llvm.nvvm.cp.async.ca.shared.global.8.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy8(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 8>, %at: !tile.address, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 3, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <3x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN, align = 8> to <3x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// CHECK-LABEL: llvm.func @copy4(
// CHECK-COUNT-18: "llvm.nvvm.cp.async.ca.shared.global.4.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy4(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 4>, %at: !tile.address, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 3, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <3x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN, align = 4> to <3x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// The page table is read only for a token of the request, and everything from the page id on is 64 bits wide.
// CHECK-LABEL: llvm.func @paged(
// CHECK-SAME: %[[DATA:[a-z0-9]+]]: !llvm.ptr<1>, %[[PAGE_STRIDE:[a-z0-9]+]]: i64, %[[TOKEN_STRIDE:[a-z0-9]+]]: i64, %[[TABLE:[a-z0-9]+]]: !llvm.ptr<1>, %[[TABLE_STRIDE:[a-z0-9]+]]: i64, %[[PAGE_SIZE:[a-z0-9]+]]: i32, %[[MAGIC:[a-z0-9]+]]: i32
// CHECK: %[[VALID:.+]] = arith.cmpi slt, %[[TOKEN:.+]], %{{.+}} : i32
// CHECK-NOT: llvm.load
// CHECK: %[[ROW:.+]] = scf.if %[[VALID]] -> (!llvm.ptr<1>) {
// CHECK-DAG: %[[WIDE:.+]] = arith.extui %[[TOKEN]] : i32 to i64
// CHECK-DAG: %[[MAGIC64:.+]] = arith.extui %[[MAGIC]] : i32 to i64
// CHECK: arith.muli %[[WIDE]], %[[MAGIC64]] : i64
// CHECK: %[[REQUEST_ROW:.+]] = arith.muli %{{.+}}, %[[TABLE_STRIDE]] : i64
// CHECK: %[[ID:.+]] = llvm.load %{{.+}} : !llvm.ptr<1> -> i32
// CHECK-DAG: %[[ID64:.+]] = arith.extsi %[[ID]] : i32 to i64
// CHECK-DAG: %[[PAGE:.+]] = arith.muli %[[ID64]], %[[PAGE_STRIDE]] : i64
// CHECK-DAG: %[[IN_PAGE:.+]] = arith.muli %{{.+}}, %[[TOKEN_STRIDE]] : i64
// CHECK: %[[ELEMENTS:.+]] = arith.addi %[[PAGE]], %[[IN_PAGE]] : i64
// CHECK: llvm.getelementptr %[[DATA]][%[[ELEMENTS]]]
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[DATA]]
tile.kernel @paged(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %item: !tile.item, %i: i32, %stage: i32, %enabled: i1)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 3, dimWarps = 4, tokenWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <3x32x576xf8E4M3FN, pitch = 592>
  %at = tile.locate %kv[%item, %i] : <paged, 576xf8E4M3FN>
  tile.copy %kv at %at to %ring[%stage] if %enabled : <paged, 576xf8E4M3FN> to <3x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

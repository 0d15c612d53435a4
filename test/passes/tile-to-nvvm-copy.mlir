// Copies are asynchronous, of 16, 8 or 4 bytes, and write zeros where a row lies past the request's end.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// Each of a group's four warps copies eight rows; a lane has the address of one of them. Eight lanes copy a row and get its
// address, and how many bytes of a piece to read, from the lane that has it: 36 pieces of 16 bytes are four for each of the
// eight, and one more for each of four, all eight rows of the warp at once. Lanes that are neighbours copy neighbouring pieces.
// CHECK-LABEL: llvm.func @copy16(
// CHECK-SAME: %[[DATA:arg0]]: !llvm.ptr<1>
// CHECK-SAME: %[[VALID:arg10]]: i1, %[[STAGE:arg11]]: i32)
// CHECK: %[[OFFSET:.+]] = arith.select %[[VALID]], %{{.+}}, %c0_i64 : i64
// CHECK: %[[ROW:.+]] = llvm.getelementptr %[[DATA]][%[[OFFSET]]]
// CHECK: %[[ADDRESS:.+]] = llvm.ptrtoint %[[ROW]]
// CHECK: %[[LOW:.+]] = arith.trunci %[[ADDRESS]]
// CHECK: %[[SHIFTED:.+]] = arith.shrui %[[ADDRESS]], %c32_i64
// CHECK: %[[HIGH:.+]] = arith.trunci %[[SHIFTED]]
// CHECK: %[[SIZE:.+]] = arith.select %[[VALID]], %c16_i32, %c0_i32 : i32
// CHECK: %[[QUARTER:.+]] = arith.divui %{{.+}}, %c8_i32
// CHECK: %[[PIECE:.+]] = arith.remui %{{.+}}, %c8_i32
// CHECK: %[[LANE:.+]] = arith.remui %[[QUARTER]], %c32_i32
// CHECK-NEXT: %[[LOW0:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[LOW]], %[[LANE]], %c31_i32)
// CHECK-NEXT: %[[HIGH0:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[HIGH]], %[[LANE]], %c31_i32)
// CHECK-NEXT: %[[BYTES:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE]], %[[LANE]], %c31_i32)
// CHECK-NEXT: %[[START:.+]] = arith.muli %[[PIECE]], %c16_i32
// CHECK: %[[UPPER:.+]] = arith.extui %[[HIGH0]]
// CHECK: arith.shli %[[UPPER]], %c32_i64
// CHECK: arith.extui %[[LOW0]]
// CHECK: %[[BASE:.+]] = llvm.inttoptr
// CHECK: %[[FROM:.+]] = llvm.getelementptr %[[BASE]][%{{.+}}] : (!llvm.ptr<1>, i64)
// CHECK: %[[PLACE:.+]] = arith.muli %[[QUARTER]], %c592_i32
// CHECK: %[[WITHIN:.+]] = arith.addi %[[PLACE]], %[[START]]
// CHECK: %[[TO:.+]] = llvm.getelementptr %{{.+}}[%[[WITHIN]]] : (!llvm.ptr<3>, i32)
// CHECK-NEXT: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%[[TO]], %[[FROM]], %[[BYTES]])
// CHECK: llvm.getelementptr %[[TO]][128]
// CHECK: llvm.getelementptr %[[FROM]][128]
// CHECK-COUNT-3: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES]])
// CHECK: %[[LATER:.+]] = arith.addi %{{.+}}, %c4_i32
// CHECK: %[[LANE4:.+]] = arith.remui %[[LATER]], %c32_i32
// CHECK: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[LOW]], %[[LANE4]], %c31_i32)
// CHECK: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[HIGH]], %[[LANE4]], %c31_i32)
// CHECK: %[[BYTES4:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE]], %[[LANE4]], %c31_i32)
// CHECK-COUNT-4: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%{{.+}}, %{{.+}}, %[[BYTES4]])
// CHECK: %[[EIGHTH:.+]] = arith.divui %{{.+}}, %c4_i32
// CHECK: arith.remui %{{.+}}, %c4_i32
// CHECK: %[[BYTES8:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE]],
// CHECK: %[[LAST_TO:.+]] = llvm.getelementptr %{{.+}}[512] : (!llvm.ptr<3>)
// CHECK-NEXT: %[[LAST_FROM:.+]] = llvm.getelementptr %{{.+}}[512] : (!llvm.ptr<1>)
// CHECK-NEXT: "llvm.nvvm.cp.async.cg.shared.global.16.s"(%[[LAST_TO]], %[[LAST_FROM]], %[[BYTES8]])
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK-NOT: shfl
// CHECK: "llvm.nvvm.cp.async.commit.group"()
// CHECK: "llvm.nvvm.cp.async.wait.group"(%c1_i32)
// A group's barrier is its own and counts its threads; 0 is the block's.
// CHECK: %[[THREAD:.+]] = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
// CHECK: %[[GROUP:.+]] = arith.divui %[[THREAD]], %c128_i32 : i32
// CHECK: %[[ID:.+]] = arith.addi %[[GROUP]], %c1_i32 : i32
// CHECK-NEXT: "llvm.nvvm.barrier.cta.sync.aligned.count"(%[[ID]], %c128_i32) : (i32, i32) -> ()
// CHECK-NEXT: "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0_i32) : (i32) -> ()
// CHECK-NOT: llvm.store
tile.kernel @copy16(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.commit
  tile.wait 1
  tile.sync
  tile.barrier
  tile.return
}

// A row of nine pieces: one for each of eight lanes, the ninth for the first of four. Shuffles are outside of the branch.
// CHECK-LABEL: llvm.func @uneven(
// CHECK-COUNT-2: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK: %[[PIECE:.+]] = arith.remui %{{.+}}, %c4_i32
// CHECK-COUNT-3: "llvm.nvvm.shfl.sync.idx.i32"
// CHECK: %[[LAST:.+]] = arith.cmpi slt, %[[PIECE]], %c1_i32
// CHECK-NEXT: scf.if %[[LAST]] {
// CHECK-NOT: shfl
// CHECK: llvm.getelementptr %{{.+}}[128] : (!llvm.ptr<3>)
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @uneven(%kv: !mla.buffer<paged, 144xf8E4M3FN>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x144xf8E4M3FN, pitch = 144>
  tile.copy %kv at %at to %ring[%stage] : <paged, 144xf8E4M3FN>, <1> to <6x32x144xf8E4M3FN, pitch = 144>
  tile.return
}

// One warp copies four rows at a time, a tile of 32 in eight passes, what is left of eight rows at once in four more. Its lanes
// meet without a barrier of the block.
// CHECK-LABEL: llvm.func @one_warp(
// CHECK-COUNT-36: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.bar.warp.sync"(%c-1_i32) : (i32) -> ()
// CHECK-NOT: barrier
tile.kernel @one_warp(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 2, tokenWarps = 1, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <4x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <1> to <4x32x576xf8E4M3FN, pitch = 592>
  tile.sync
  tile.return
}

// A single group's barrier is the block's; each warp has four rows, so that half of its eight quads have no row whose end they
// could copy.
// CHECK-LABEL: llvm.func @idle(
// CHECK-COUNT-4: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK: %[[ROW:.+]] = arith.divui %{{.+}}, %c4_i32
// CHECK-COUNT-3: "llvm.nvvm.shfl.sync.idx.i32"
// CHECK: %[[ACTIVE:.+]] = arith.cmpi slt, %[[ROW]], %c4_i32
// CHECK-NEXT: scf.if %[[ACTIVE]] {
// CHECK: "llvm.nvvm.cp.async.cg.shared.global.16.s"
// CHECK-NOT: cp.async.c{{[ag]}}
// CHECK: "llvm.nvvm.barrier.cta.sync.aligned.all"(%c0_i32) : (i32) -> ()
// CHECK-NOT: barrier
tile.kernel @idle(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 32, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 4>} {
  %ring = tile.alloc "kv" at 0 : <2x16x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <1> to <2x16x576xf8E4M3FN, pitch = 592>
  tile.sync
  tile.return
}

// 64 rows a warp: a lane has two addresses, of rows 32 apart. The later rows' come from the second.
// CHECK-LABEL: llvm.func @two_addresses(
// CHECK-SAME: %[[VALID0:arg10]]: i1, %{{.+}}: i32, %{{.+}}: i32, %[[VALID1:arg13]]: i1, %arg14: i32)
// CHECK-DAG: %[[SIZE0:.+]] = arith.select %[[VALID0]], %c16_i32, %c0_i32 : i32
// CHECK-DAG: %[[SIZE1:.+]] = arith.select %[[VALID1]], %c16_i32, %c0_i32 : i32
// CHECK-COUNT-8: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE0]],
// CHECK-COUNT-8: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE1]],
// CHECK-COUNT-4: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE0]],
// CHECK-COUNT-4: "llvm.nvvm.shfl.sync.idx.i32"(%c-1_i32, %[[SIZE1]],
// CHECK-NOT: shfl
tile.kernel @two_addresses(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<2>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x64x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <2> to <2x64x576xf8E4M3FN, pitch = 592>
  tile.return
}

// Rows that are only 8 or 4 bytes aligned are copied in pieces of that size.
// CHECK-LABEL: llvm.func @copy8(
// CHECK-COUNT-18: "llvm.nvvm.cp.async.ca.shared.global.8.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy8(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 8>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN, align = 8>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// CHECK-LABEL: llvm.func @copy4(
// CHECK-COUNT-36: "llvm.nvvm.cp.async.ca.shared.global.4.s"
// CHECK-NOT: cp.async.c{{[ag]}}
tile.kernel @copy4(%kv: !mla.buffer<paged, 576xf8E4M3FN, align = 4>, %at: !tile.address<1>, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN, align = 4>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// The page table is read only for a token of the request, of a tile that exists, and everything from the page id on is 64 bits
// wide.
// CHECK-LABEL: llvm.func @paged(
// CHECK-SAME: %[[DATA:[a-z0-9]+]]: !llvm.ptr<1>, %[[PAGE_STRIDE:[a-z0-9]+]]: i64, %[[TOKEN_STRIDE:[a-z0-9]+]]: i64, %[[TABLE:[a-z0-9]+]]: !llvm.ptr<1>, %[[TABLE_STRIDE:[a-z0-9]+]]: i64, %[[PAGE_SIZE:[a-z0-9]+]]: i32, %[[MAGIC:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32, %[[REQUEST:[a-z0-9]+]]: i32, %[[TILE:[a-z0-9]+]]: i32, %[[TILE_END:[a-z0-9]+]]: i32, %[[KV_LEN:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32)
// CHECK: %[[EXISTS:.+]] = arith.cmpi slt, %[[TILE]], %[[TILE_END]] : i32
// CHECK: %[[TOKENS:.+]] = arith.select %[[EXISTS]], %[[KV_LEN]], %c0_i32 : i32
// CHECK: %[[VALID:.+]] = arith.cmpi slt, %[[TOKEN:.+]], %[[TOKENS]] : i32
// CHECK-NOT: llvm.load
// CHECK-DAG: %[[WIDE:.+]] = arith.extui %[[TOKEN]] : i32 to i64
// CHECK-DAG: %[[MAGIC64:.+]] = arith.extui %[[MAGIC]] : i32 to i64
// CHECK: arith.muli %[[WIDE]], %[[MAGIC64]] : i64
// CHECK: %[[REQUEST64:.+]] = arith.extsi %[[REQUEST]] : i32 to i64
// CHECK: %[[REQUEST_ROW:.+]] = arith.muli %[[REQUEST64]], %[[TABLE_STRIDE]] : i64
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
// CHECK: %[[OFFSET:.+]] = arith.select %[[VALID]], %[[ELEMENTS]], %c0_i64 : i64
// CHECK: llvm.getelementptr %[[DATA]][%[[OFFSET]]] : (!llvm.ptr<1>, i64)
tile.kernel @paged(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %cursor: !tile.cursor, %stage: i32)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>} {
  %ring = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
  %at = tile.locate %kv[%cursor] : <paged, 576xf8E4M3FN> -> <1>
  tile.copy %kv at %at to %ring[%stage] : <paged, 576xf8E4M3FN>, <1> to <6x32x576xf8E4M3FN, pitch = 592>
  tile.return
}

// Instructions become calls of their hooks, memory accesses are checked first, and every kernel gets an entry for the host.
// RUN: mla-opt %s --mlac-emulate | FileCheck %s

// CHECK-NOT: call_intrinsic
// CHECK-NOT: @mlac_shared
// CHECK-DAG: llvm.mlir.global internal constant @[[SITE:site_[0-9]+]]("tile.copy at cache.mla:7:3\00")
// CHECK-DAG: llvm.func @mlac_emu_cp_async(!llvm.ptr, !llvm.ptr, i32, i32, !llvm.ptr)

// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME: %[[GLOBAL:.+]]: !llvm.ptr<1>, %[[BYTES:.+]]: i32, %[[X:.+]]: f32)
// CHECK-NOT: nvvm.
llvm.mlir.global external @mlac_shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
llvm.func @kernel(%global: !llvm.ptr<1>, %bytes: i32, %x: f32) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 256>} {
  // CHECK: %[[BASE:.+]] = llvm.call @mlac_emu_shared_base() : () -> !llvm.ptr
  // CHECK: %[[SHARED:.+]] = llvm.addrspacecast %[[BASE]] : !llvm.ptr to !llvm.ptr<3>
  %shared = llvm.mlir.addressof @mlac_shared : !llvm.ptr<3>
  // CHECK: %[[ZERO:.+]] = llvm.mlir.constant(0 : i32)
  // CHECK: llvm.call @mlac_emu_sreg(%[[ZERO]]) : (i32) -> i32
  %thread = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"() : () -> i32
  // CHECK: %[[ONE:.+]] = llvm.mlir.constant(1 : i32)
  // CHECK: llvm.call @mlac_emu_sreg(%[[ONE]]) : (i32) -> i32
  %block = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.ctaid.x"() : () -> i32

  // The source size and the op's place go along.
  // CHECK-DAG: %[[TO:.+]] = llvm.addrspacecast %[[SHARED]] : !llvm.ptr<3> to !llvm.ptr
  // CHECK-DAG: %[[FROM:.+]] = llvm.addrspacecast %[[GLOBAL]] : !llvm.ptr<1> to !llvm.ptr
  // CHECK-DAG: %[[SIXTEEN:.+]] = llvm.mlir.constant(16 : i32)
  // CHECK-DAG: %[[AT:.+]] = llvm.mlir.addressof @[[SITE]]
  // CHECK: llvm.call @mlac_emu_cp_async(%[[TO]], %[[FROM]], %[[SIXTEEN]], %[[BYTES]], %[[AT]])
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%shared, %global, %bytes) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> () loc("tile.copy"("cache.mla":7:3))
  // CHECK: llvm.call @mlac_emu_cp_commit
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  // CHECK: llvm.call @mlac_emu_cp_wait
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%bytes) : (i32) -> ()
  // CHECK: llvm.call @mlac_emu_barrier
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%bytes) : (i32) -> ()

  // CHECK: llvm.call @mlac_emu_ldmatrix(
  %m = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16"(%shared) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
  %w = llvm.extractvalue %m[0] : !llvm.struct<(i32, i32)>
  // CHECK: llvm.call @mlac_emu_mma(
  %sums = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%w, %w, %w, %w, %w, %w, %x, %x, %x, %x)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %sum = llvm.extractvalue %sums[0] : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK: llvm.call @mlac_emu_ex2(%{{.+}}) : (f32) -> f32
  %p = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%sum) : (f32) -> f32

  // An access of 4 bytes is checked before it is made.
  // CHECK: %[[FOUR:.+]] = llvm.mlir.constant(4 : i32)
  // CHECK: llvm.call @mlac_emu_load(%{{.+}}, %[[FOUR]], %{{.+}})
  // CHECK-NEXT: llvm.load %[[GLOBAL]] : !llvm.ptr<1> -> f32
  %old = llvm.load %global : !llvm.ptr<1> -> f32
  %new = llvm.fadd %old, %p : f32
  // CHECK: llvm.call @mlac_emu_store(
  // CHECK-NEXT: llvm.store %{{.+}}, %[[GLOBAL]] : f32, !llvm.ptr<1>
  llvm.store %new, %global : f32, !llvm.ptr<1>
  llvm.return
}

// CHECK-LABEL: llvm.func @kernel_entry(%{{.+}}: !llvm.ptr)
// CHECK: %[[A:.+]] = llvm.load %{{.+}} : !llvm.ptr -> !llvm.ptr<1>
// CHECK: %[[B:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK: %[[C:.+]] = llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK: llvm.call @kernel(%[[A]], %[[B]], %[[C]])

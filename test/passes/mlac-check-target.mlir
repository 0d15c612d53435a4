// Every instruction is accepted on the targets that have it, from the PTX version that has it.
// RUN: mla-opt %s --mlac-check-target="target=sm_120a" | FileCheck %s
// RUN: mla-opt %s --mlac-check-target="target=sm_120f" | FileCheck %s
// RUN: mla-opt %s --mlac-check-target="target=sm_121a ptx=9.0" | FileCheck %s

// CHECK-LABEL: llvm.func @accelerated
// CHECK: ldmatrix.sync.aligned.m16n16.x2.trans.b8
// CHECK: mma.m16n8k32.row.col.kind.f8f6f4
// CHECK: mma.m16n8k32.row.col.f32.e4m3.e4m3.f32
// CHECK: setmaxnreg.dec
llvm.func @accelerated(%p: !llvm.ptr<3>, %a: i32, %f: f32) {
  %m = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m16n16.x2.trans.b8"(%p) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  %k = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %f, %f, %f, %f)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %n = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %f, %f, %f, %f)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %c = llvm.mlir.constant(24 : i32) : i32
  llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%c) : (i32) -> ()
  llvm.return
}

// What the kernels use needs no accelerated target: plain sm_120, and the stand-in sm_90.
// RUN: %python %S/Inputs/attention.py compute=f16,bf16 storage=f8E4M3FN,bf16 > %t.mlir
// RUN: mla-opt %t.mlir -split-input-file --mla-to-llvm="target=sm_120" > %t.out 2>/dev/null
// RUN: mla-opt %t.mlir -split-input-file --mla-to-llvm="target=sm_90 profile=sm_120" > %t.out 2>/dev/null
// RUN: mla-opt %t.mlir -split-input-file --mla-to-llvm="target=sm_89" > %t.out 2>/dev/null

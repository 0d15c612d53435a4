// An instruction that the target lacks is an error that names it and the targets that have it; it never reaches LLVM.
// RUN: mla-opt %s --mlac-check-target="target=sm_120" -split-input-file -verify-diagnostics
// RUN: not mla-opt %s --mlac-check-target="target=sm_90" -split-input-file 2>&1 | FileCheck %s --check-prefix=SM90
// RUN: not mla-opt %s --mlac-check-target="target=sm_90a" -split-input-file 2>&1 | FileCheck %s --check-prefix=SM90A
// RUN: not mla-opt %s --mlac-check-target="target=sm_100a" -split-input-file 2>&1 | FileCheck %s --check-prefix=SM100A
// RUN: not mla-opt %s --mlac-check-target="target=sm_89 ptx=8.3" -split-input-file 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not mla-opt %s --mlac-check-target="target=sm_120 ptx=8.6" -split-input-file 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: not mla-opt %s --mlac-check-target="target=sm_12" -split-input-file 2>&1 | FileCheck %s --check-prefix=NAME

// PTX: error: sm_120 needs PTX 8.7 to 9.0, not 8.6 [target-ptx]
// NAME: error: unknown target 'sm_12' [target-name]; known are sm_89 sm_90

// SM90: error: sm_90 at PTX 7.8 does not have LdmatrixB8Trans
// SM90: error: sm_90 at PTX 7.8 does not have MmaKindE4M3
// SM90: error: sm_90 at PTX 7.8 does not have SetMaxRegisters
// SM90: error: sm_90 at PTX 7.8 does not have MmaE4M3

// SM90A: error: sm_90a at PTX 8.0 does not have MmaKindE4M3
// SM90A-NOT: sm_90a at PTX 8.0 does not have SetMaxRegisters

// SM100A-NOT: sm_100a at PTX 8.6 does not have LdmatrixB8Trans
// SM100A: error: sm_100a at PTX 8.6 does not have MmaKindE4M3
// SM100A-NOT: sm_100a at PTX 8.6 does not have SetMaxRegisters

// OLD: error: sm_89 at PTX 8.3 does not have MmaE4M3 (llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32) [target-instruction]
// OLD: note: targets that have it: sm_89 sm_90 sm_90a sm_100 sm_100a sm_103 sm_103a sm_120 sm_120a sm_120f sm_121 sm_121a, from PTX 8.4
llvm.func @ldmatrix(%p: !llvm.ptr<3>) {
  // expected-error@+2 {{sm_120 at PTX 8.7 does not have LdmatrixB8Trans (llvm.nvvm.ldmatrix.sync.aligned.m16n16.x2.trans.b8) [target-instruction]}}
  // expected-note@+1 {{targets that have it: sm_100a sm_103a sm_120a sm_120f sm_121a, from PTX 8.6}}
  %0 = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m16n16.x2.trans.b8"(%p) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  llvm.return
}

// -----

llvm.func @kind_mma(%a: i32, %f: f32) {
  // expected-error@+2 {{sm_120 at PTX 8.7 does not have MmaKindE4M3 (llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.f32.e4m3.e4m3.f32) [target-instruction]}}
  // expected-note@+1 {{targets that have it: sm_120a sm_120f sm_121a, from PTX 8.7}}
  %0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.kind.f8f6f4.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %f, %f, %f, %f)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @setmaxnreg() {
  %0 = llvm.mlir.constant(24 : i32) : i32
  // expected-error@+2 {{sm_120 at PTX 8.7 does not have SetMaxRegisters (llvm.nvvm.setmaxnreg.dec.sync.aligned.u32) [target-instruction]}}
  // expected-note@+1 {{targets that have it: sm_90a sm_100a sm_103a sm_120a sm_120f sm_121a, from PTX 8.0}}
  llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%0) : (i32) -> ()
  llvm.return
}

// -----

// The form without a kind is another instruction: sm_120 has it.
llvm.func @plain_mma(%a: i32, %f: f32) {
  %0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"(%a, %a, %a, %a, %a, %a, %f, %f, %f, %f)
      : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// -----

llvm.func @unknown(%a: i16) {
  // expected-error@+1 {{'llvm.nvvm.e4m3x2.to.bf16x2.rn' is not in the instruction table, so no target is known to have it [target-unknown]}}
  %0 = llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.bf16x2.rn"(%a) : (i16) -> i32
  llvm.return
}

// -----

// Ops of the NVVM dialect bypass the table.
llvm.func @dialect_op() {
  // expected-error@+1 {{'nvvm.barrier0' is not in the instruction table, so no target is known to have it [target-unknown]}}
  nvvm.barrier0
  llvm.return
}

// -----

// All of a kernel's faults are reported.
llvm.func @several(%p: !llvm.ptr<3>) {
  %0 = llvm.mlir.constant(24 : i32) : i32
  // expected-error@+2 {{does not have SetMaxRegisters}}
  // expected-note@+1 {{targets that have it}}
  llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%0) : (i32) -> ()
  // expected-error@+2 {{does not have LdmatrixB8Trans}}
  // expected-note@+1 {{targets that have it}}
  %1 = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m16n16.x2.trans.b8"(%p) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  llvm.return
}

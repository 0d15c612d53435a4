// An instruction without a model is an error, whether the table knows it or not.
// RUN: mla-opt %s --mlac-emulate -split-input-file -verify-diagnostics

llvm.func @"emulate-instruction"() attributes {nvvm.kernel} {
  %0 = llvm.mlir.constant(24 : i32) : i32
  // expected-error@+1 {{the emulator has no model of 'llvm.nvvm.setmaxnreg.dec.sync.aligned.u32' [emulate-instruction]}}
  llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%0) : (i32) -> ()
  llvm.return
}

// -----

llvm.func @"emulate-instruction"(%a: i16) attributes {nvvm.kernel} {
  // expected-error@+1 {{the emulator has no model of 'llvm.nvvm.e4m3x2.to.bf16x2.rn' [emulate-instruction]}}
  %0 = llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.bf16x2.rn"(%a) : (i16) -> i32
  llvm.return
}

// -----

// Functions that are no kernels stay as they are.
llvm.func @helper() {
  %0 = llvm.mlir.constant(24 : i32) : i32
  llvm.call_intrinsic "llvm.nvvm.setmaxnreg.dec.sync.aligned.u32"(%0) : (i32) -> ()
  llvm.return
}

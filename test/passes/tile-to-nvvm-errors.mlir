// What cannot be lowered is an error at its op.
// RUN: mla-opt %s --tile-to-nvvm -split-input-file -verify-diagnostics
// RUN: not mla-opt %s --tile-to-nvvm="target=sm_80" -split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'sm_80' [target-name]; known are sm_89

tile.kernel @"combine-unscheduled"(%o: !mla.buffer<ragged, 8x512xbf16>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+2 {{has no row count; run tile-schedule first [combine-unscheduled]}}
  // expected-error@+1 {{failed to legalize operation 'tile.combine'}}
  tile.combine %plan to %o {rows = 0 : i64, threads = 128 : i64} : <ragged, 8x512xbf16>
  tile.return
}

// -----

tile.kernel @"target-mma"(%q: !tile.shared<1x8x64xf16, pitch = 144>, %i: i32)
    attributes {compute = f32, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  // expected-error@+2 {{the target has no matrix instruction for these operands [target-mma]}}
  // expected-error@+1 {{failed to legalize operation 'tile.score'}}
  %s = tile.score %q, %ring[%i] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  tile.return
}

// -----

tile.kernel @"target-mma"(%a: !tile.fragment<accumulator, 64x8xf32>, %p: !tile.shared<1x8x32xf16, pitch = 80>, %i: i32)
    attributes {compute = f32, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x128xf16, pitch = 272>
  // expected-error@+2 {{the target has no matrix instruction for these operands [target-mma]}}
  // expected-error@+1 {{failed to legalize operation 'tile.weigh'}}
  %s = tile.weigh %a, %p, %ring[%i] columns 0 + 128 : <accumulator, 64x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x128xf16, pitch = 272>
  tile.return
}

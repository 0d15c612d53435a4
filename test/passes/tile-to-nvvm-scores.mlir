// Scores between the product and the softmax: what depends on rows alone stands before the loop over KV tiles, head
// values are read once, hidden tokens are selected away last.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @edited(
// CHECK-DAG: %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// CHECK: scf.for
// Two rows a thread: each one's slope, end and start.
// CHECK-COUNT-2: llvm.load %{{.+}} invariant {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: scf.for
// CHECK-NOT: llvm.load {{.*}}invariant
// CHECK: %[[TOKEN:.+]] = arith.addi
// CHECK: arith.cmpi slt, %{{.+}}, %{{.+}} : i32
// CHECK: arith.cmpi slt, %{{.+}}, %{{.+}} : i32
// CHECK: %[[BOTH:.+]] = arith.andi %{{.+}}, %{{.+}} : i1
// CHECK: %[[SCORE:.+]] = arith.mulf %{{.+}}, %{{.+}} : f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%[[SCORE]])
// CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
// CHECK: llvm.intr.fabs
// CHECK: %[[VISIBLE:.+]] = arith.andi %[[BOTH]], %{{.+}} : i1
// CHECK: arith.select %[[VISIBLE]], %{{.+}}, %[[HIDDEN]] : f32
tile.kernel @edited(%values: !mla.head_values<8>, %scale: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {
  %one = arith.constant 1.0 : f32
  %step = arith.constant 1 : i32
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %begin, %end = tile.range %item
    %zero = tile.splat 0.0 : <accumulator, 16x8xf32>
    %sum = scf.for %i = %begin to %end step %step iter_args(%s = %zero) -> !tile.fragment<accumulator, 16x8xf32> : i32 {
      %m = tile.mask_scores causal window 7 %s[%item, %i] scale %scale edit {
      ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
        %power = math.exp2 %x : f32
        %inverse = arith.divf %one, %power : f32
        %size = math.absf %inverse : f32
        %slope = mla.head_value %values : <8>
        %r = arith.addf %size, %slope : f32
        %keep = arith.cmpi ne, %kv_pos, %head : i32
        mla.yield %r keep %keep
      } : <accumulator, 16x8xf32>
      scf.yield %m : !tile.fragment<accumulator, 16x8xf32>
    }
  }
  tile.return
}

// Without an edit nothing is read, and a mask without a window compares once.
// CHECK-LABEL: llvm.func @plain(
// CHECK-NOT: invariant
// CHECK-NOT: llvm.nvvm.ex2
// CHECK-NOT: arith.andi %{{.+}}, %{{.+}} : i1
// CHECK: llvm.return
tile.kernel @plain(%scale: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %begin, %end = tile.range %item
    %zero = tile.splat 0.0 : <accumulator, 16x8xf32>
    %m = tile.mask_scores causal %zero[%item, %begin] scale %scale : <accumulator, 16x8xf32>
  }
  tile.return
}

// A sink: its logit in base 2 joins the maximum and the sum, but not of an item that leaves partial results.
// CHECK-LABEL: llvm.func @sink(
// CHECK-DAG: %[[LOG2E:.+]] = arith.constant 1.44269502 : f32
// CHECK: %[[LOGIT:.+]] = llvm.load %{{.+}} invariant
// CHECK: %[[BASE2:.+]] = arith.mulf %[[LOGIT]], %[[LOG2E]]
// CHECK: %[[TERM:.+]] = arith.select %{{.+}}, %[[BASE2]], %{{.+}} : f32
// CHECK: arith.maxnumf %{{.+}}, %[[TERM]]
tile.kernel @sink(%item: !tile.item, %plan: !tile.plan, %f: f32,
                  %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %sinks: !mla.head_values<8>)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 16, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {
  %stats = tile.alloc "stats" at 0 : <2x1x8xf32, pitch = 32>
  %factor = tile.finish_rows %item, %plan, %stats times %f, lse ln %lse sink %sinks {sink_in_lse}
      : <2x1x8xf32, pitch = 32>, !mla.buffer<ragged, 8x1xf32, align = 4> sink !mla.head_values<8> -> <stats, 1x8xf32>
  tile.return
}

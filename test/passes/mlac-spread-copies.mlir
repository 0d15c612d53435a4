// A batch of copies is spread over the products that follow it; no copy, commit or shuffle passes a barrier or a wait. The pass
// refuses nothing.
// RUN: mla-opt %s --mlac-spread-copies | FileCheck %s

// Six copies over six products: four after the first, two after the fifth. The commit follows the last, each address goes with
// its copy. Between two products there are never more than four.
// CHECK-LABEL: llvm.func @spread(
// CHECK: "llvm.nvvm.cp.async.wait
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %[[LANE0:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO0:.+]] = llvm.getelementptr %{{.+}}[%[[LANE0]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO0]],
// CHECK-NEXT: %[[LANE1:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO1:.+]] = llvm.getelementptr %{{.+}}[%[[LANE1]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO1]],
// CHECK-NEXT: %[[LANE2:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO2:.+]] = llvm.getelementptr %{{.+}}[%[[LANE2]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO2]],
// CHECK-NEXT: %[[LANE3:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO3:.+]] = llvm.getelementptr %{{.+}}[%[[LANE3]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO3]],
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %[[LANE4:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO4:.+]] = llvm.getelementptr %{{.+}}[%[[LANE4]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO4]],
// CHECK-NEXT: %[[LANE5:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[TO5:.+]] = llvm.getelementptr %{{.+}}[%[[LANE5]]]
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO5]],
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
llvm.func @spread(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%n) : (i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  %s0 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t0 = llvm.getelementptr %to[%s0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t0, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %s1 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t1 = llvm.getelementptr %to[%s1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t1, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %s2 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t2 = llvm.getelementptr %to[%s2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t2, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %s3 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t3 = llvm.getelementptr %to[%s3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t3, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %s4 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t4 = llvm.getelementptr %to[%s4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t4, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  %s5 = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %t5 = llvm.getelementptr %to[%s5] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t5, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m1 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m2 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m3 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m4 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m5 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m6 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  llvm.return
}

// Two bursts after one product, if there are few: still in order, and the commit after the last.
// CHECK-LABEL: llvm.func @few_products(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.return
llvm.func @few_products(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m7 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m8 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// As far as the barrier: eight copies over the two products before it.
// CHECK-LABEL: llvm.func @barrier(
// CHECK: "llvm.nvvm.cp.async.wait
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
llvm.func @barrier(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%n) : (i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m7 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m8 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  %m9 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m10 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// Whatever makes threads or copies meet: here five copies over the one product before it.
// CHECK-LABEL: llvm.func @wait(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.wait
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
llvm.func @wait(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m11 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.cp.async.wait.group"(%n) : (i32) -> ()
  %m12 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m13 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// CHECK-LABEL: llvm.func @group_barrier(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
llvm.func @group_barrier(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m14 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.count"(%n, %n) : (i32, i32) -> ()
  %m15 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m16 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// CHECK-LABEL: llvm.func @warp_barrier(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
llvm.func @warp_barrier(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m17 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.bar.warp.sync"(%n) : (i32) -> ()
  %m18 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m19 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// No product before the barrier, none at all, no commit: nothing moves.
// CHECK-LABEL: llvm.func @no_products(
// CHECK-NEXT: %[[TO:.+]] = llvm.getelementptr
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg{{.*}}(%[[TO]],
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.return
llvm.func @no_products(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  %t = llvm.getelementptr %to[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%t, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  %m20 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.return
}

// Of two batches the first may not overtake the second: a wait counts them in order.
// CHECK-LABEL: llvm.func @two_batches(
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.return
llvm.func @two_batches(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m21 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// A loop with a barrier in it is a barrier, one without is not.
// CHECK-LABEL: llvm.func @loop(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: scf.for
// CHECK: "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK: }

// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
llvm.func @loop(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m22 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  scf.for %i = %n to %n step %n : i32 {
    llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  }
  %m23 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m24 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// CHECK-LABEL: llvm.func @plain_loop(
// CHECK-NEXT: scf.for
// CHECK: llvm.fadd
// CHECK: }

// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.return
llvm.func @plain_loop(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  scf.for %i = %n to %n step %n : i32 {
    %y = llvm.fadd %x, %x : f32
  }
  %m25 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// Copies under a condition stay where they are, in front of their commit; the batch's others move down with it.
// CHECK-LABEL: llvm.func @branch(
// CHECK-NEXT: scf.if
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: }

// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.return
llvm.func @branch(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  scf.if %f {
    llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m26 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %m27 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// CHECK-LABEL: llvm.func @only_branch(
// CHECK-NEXT: scf.if
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: }

// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.return
llvm.func @only_branch(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  scf.if %f {
    llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  }
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m28 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

// Those of the next batch are not overtaken.
// CHECK-LABEL: llvm.func @next_branch(
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: scf.if
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: }

// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
llvm.func @next_branch(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m29 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  scf.if %f {
    llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  }
  %m30 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  llvm.return
}

// What is first used behind the barrier: arithmetic goes there, shuffles do not, nor what another block uses.
// CHECK-LABEL: llvm.func @values(
// CHECK-NEXT: %[[LANE:.+]] = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"
// CHECK-NEXT: %[[SUM:.+]] = llvm.fadd
// CHECK-NEXT: %{{.+}} = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.cg
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.cp.async.commit
// CHECK-NEXT: llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"
// CHECK-NEXT: %[[LATE:.+]] = llvm.fmul
// CHECK-NEXT: %{{.+}} = llvm.fadd %[[LATE]]
// CHECK-NEXT: %{{.+}} = llvm.add %[[LANE]]
// CHECK: scf.if
// CHECK: llvm.fadd %[[SUM]]
llvm.func @values(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %n: i32, %x: f32, %f: i1) {
  %late = llvm.fmul %x, %x : f32
  %lane = llvm.call_intrinsic "llvm.nvvm.shfl.sync.idx.i32"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> i32
  %sum = llvm.fadd %x, %x : f32
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %n) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %m31 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.bf16"(%n, %n, %n, %n, %n, %n, %x, %x, %x, %x) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.call_intrinsic "llvm.nvvm.barrier.cta.sync.aligned.all"(%n) : (i32) -> ()
  %a = llvm.fadd %late, %x : f32
  %b = llvm.add %lane, %n : i32
  scf.if %f {
    %c = llvm.fadd %sum, %sum : f32
  }
  llvm.return
}

// Prefill kernels keep their copies together: they have no registers to spare.
// CHECK-LABEL: llvm.func @prefill
// CHECK: cp.async.cg.shared.global.16
// CHECK-NEXT: cp.async.commit.group
// CHECK-NEXT: mma.m16n8k16
llvm.func @prefill(%to: !llvm.ptr<3>, %from: !llvm.ptr<1>, %bytes: i32, %a: vector<2xf16>, %c: f32) attributes {prefill_schedule = unit} {
  llvm.call_intrinsic "llvm.nvvm.cp.async.cg.shared.global.16.s"(%to, %from, %bytes) : (!llvm.ptr<3>, !llvm.ptr<1>, i32) -> ()
  llvm.call_intrinsic "llvm.nvvm.cp.async.commit.group"() : () -> ()
  %0 = llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"(%a, %a, %a, %a, %a, %a, %c, %c, %c, %c) : (vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, vector<2xf16>, f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  llvm.return
}

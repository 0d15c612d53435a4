// Beside a scheduled kernel that walks a plan stand its planner and, for a paged cache, the check of page tables.
// RUN: mla-opt %s --tile-planner | FileCheck %s
// RUN: mla-opt %s --tile-planner --tile-to-nvvm --canonicalize | FileCheck %s --check-prefix=NVVM

// CHECK-LABEL: tile.kernel @paged(
// CHECK: tile.kernel @paged_plan(%[[BATCH:.+]]: !tile.batch {mla.name = "batch"}, %[[PLAN:.+]]: !tile.plan {mla.name = "plan"})
// CHECK-SAME: shared_bytes = 6144
// CHECK: tile.plan_batch causal %[[BATCH]] to %[[PLAN]] {rows = 8 : i64, threads = 256 : i64, tokens = 128 : i64}
// CHECK: tile.kernel @paged_check(%[[KV:.+]]: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %[[BATCH:.+]]: !tile.batch {mla.name = "batch"}, %[[PLAN:.+]]: !tile.plan {mla.name = "plan"})
// CHECK: tile.check_table %[[KV]], %[[BATCH]], %[[PLAN]]

// The planner's parameters; it reads 64-bit positions, and stores nothing but lists and a status.
// NVVM-LABEL: llvm.func @paged_plan(
// NVVM-SAME: mlac.params = ["batch.q_indptr", "batch.kv_len", "batch.cache_indptr", "batch.requests", "batch.rows", "batch.tokens", "batch.blocks", "batch.least", "batch.fixed", "batch.items", "batch.slots", "batch.merges", "batch.pages", "batch.scratch", "batch.status", "plan.q_indptr", "plan.kv_len", "plan.work_indptr", "plan.work", "plan.merges", "plan.partial_out", "plan.partial_lse"]
// NVVM-SAME: nvvm.reqntid = array<i32: 256>
// NVVM-LABEL: llvm.func @paged_check(
// NVVM-SAME: mlac.params = ["kv.data", "kv.stride_page", "kv.stride_token", "kv.table", "kv.table_stride", "kv.page_size", "kv.page_magic", "kv.page_shift", "batch.q_indptr"
// NVVM-SAME: nvvm.reqntid = array<i32: 128>
tile.kernel @paged(%kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %plan: !tile.plan {mla.name = "plan"})
    attributes {compute = f16, heads = 8 : i64, mlac.info = {causal = true},
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 2, tokenWarps = 4, rowWarps = 1>} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
  }
  tile.return
}

// A ragged cache has no table.
// CHECK-LABEL: tile.kernel @ragged(
// CHECK: tile.plan_batch ragged
// CHECK-NOT: tile.check_table
tile.kernel @ragged(%kv: !mla.buffer<ragged, 576xf16> {mla.name = "kv"}, %plan: !tile.plan {mla.name = "plan"})
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 2, tokenWarps = 4, rowWarps = 1>} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
  }
  tile.return
}

// What walks no plan is left alone.
// CHECK-LABEL: tile.kernel @combine(
// CHECK-NOT: tile.kernel
tile.kernel @combine(%plan: !tile.plan {mla.name = "plan"}) attributes {compute = f16, heads = 8 : i64} {
  tile.return
}

// RUN: mla-opt %s --tile-planner --split-input-file --verify-diagnostics

// expected-error @below {{needs the name 'taken_plan' for an entry point of its own; rename the other kernel [planner-name]}}
tile.kernel @taken(%kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %plan: !tile.plan {mla.name = "plan"})
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 2, tokenWarps = 4, rowWarps = 1>} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
  }
  tile.return
}
// expected-note @below {{the other kernel}}
tile.kernel @taken_plan(%plan: !tile.plan {mla.name = "plan"}) attributes {compute = f16, heads = 8 : i64} {
  tile.return
}

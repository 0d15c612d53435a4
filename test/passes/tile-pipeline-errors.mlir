// A kernel that was not scheduled has no stages to fill.
// RUN: mla-opt %s --mla-to-tile --tile-pipeline -split-input-file -verify-diagnostics

// expected-error@+1 {{has no schedule; run tile-schedule first [pipeline-unscheduled]}}
mla.kernel @"pipeline-unscheduled"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// A schedule, but not the ops of a walk over tiles.
// expected-error@+1 {{has no schedule; run tile-schedule first [pipeline-unscheduled]}}
tile.kernel @"pipeline-unscheduled"(%plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
  }
  tile.return
}

// RUN: mla-opt %s --mla-to-tile --tile-pipeline-prefill -verify-diagnostics

// expected-error@+1 {{has no schedule; run tile-schedule-prefill first [pipeline-unscheduled]}}
mla.kernel @"pipeline-unscheduled"(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// Scores of two products cannot meet in one edit.
// RUN: mla-opt %s --mla-fuse-edits -split-input-file -verify-diagnostics

mla.kernel @"edit-product"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>) -> !mla.lse<8, ln> attributes {compute = f16} {
  // expected-error@+1 {{the scores of two products meet in one edit [edit-product]}}
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  // expected-note@+1 {{the other product is here}}
  %other = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %sum = mla.edit(%dot, %other) {
  ^bb0(%s: f32, %t: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %sum = arith.addf %s, %t : f32
    mla.yield %sum
  } : !mla.scores<8>, !mla.scores<8> -> <8>
  %lse = mla.logsumexp %sum : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

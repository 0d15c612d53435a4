// Keys and values have a ring each. All threads meet before each use, and the copy into the place of what was used before starts
// right after: with s stages, 2 (s - 1) copies may still be under way.
// RUN: mla-opt %s --mla-to-tile --tile-schedule-prefill --tile-pipeline-prefill --tile-verify-pipeline 2>/dev/null | FileCheck %s

// CHECK-LABEL: tile.kernel @one_stage(
// CHECK: %[[KEYS:.+]] = tile.alloc "keys"
// CHECK: %[[VALUES:.+]] = tile.alloc "values"
// CHECK: %[[QUERY:.+]] = tile.alloc "query"
// CHECK: %[[BEGIN:.+]], %[[END:.+]] = tile.range %[[ITEM:.+]]
// CHECK: tile.copy_rows %{{.*}}[%[[ITEM]], %{{.*}}] to %[[KEYS]][%{{.*}}] if
// CHECK-NEXT: tile.commit
// CHECK-NOT: tile.copy_rows
// CHECK: tile.load_query_rows %{{.*}}[%[[ITEM]]] for bf16 to %[[QUERY]]
// CHECK: scf.for
// CHECK: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.copy_rows {{.*}} to %[[VALUES]]
// CHECK: %[[S:.+]] = tile.score_rows %[[QUERY]], %[[KEYS]][{{.*}} -> <accumulator, 16x64xf32>
// CHECK: %[[M:.+]] = tile.mask_rows causal %[[S]]
// CHECK: tile.wait 0
// CHECK-NEXT: tile.barrier
// CHECK: tile.copy_rows {{.*}} to %[[KEYS]]
// CHECK: %[[P:.+]], %{{.*}}, %{{.*}}, %[[SHRINK:.+]] = tile.softmax_rows %[[M]]
// CHECK: %[[R:.+]] = tile.rescale_rows %{{.*}} by %[[SHRINK]]
// CHECK: tile.weigh_rows %[[R]], %[[P]], %[[VALUES]]
// CHECK: tile.store_rows %[[ITEM]]
// CHECK-NEXT: tile.barrier
mla.kernel @one_stage(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 128, tokens = 64, stages = 1, row_warps = 8}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// CHECK-LABEL: tile.kernel @two_stages(
// CHECK: tile.copy_rows {{.*}}192xbf16> to <2x16x192xbf16
// CHECK: tile.copy_rows {{.*}}128xbf16> to <2x16x128xbf16
// CHECK: tile.copy_rows {{.*}}192xbf16> to <2x16x192xbf16
// CHECK-NOT: tile.copy_rows
// CHECK: tile.load_query_rows
// CHECK: tile.wait 2
// CHECK: tile.score_rows
// CHECK: tile.wait 2
// CHECK: tile.weigh_rows
mla.kernel @two_stages(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 16, tokens = 16, stages = 2, row_warps = 1}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %m = mla.causal %s : <16>
  %p = mla.softmax %m : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// Edited scores are scaled first, and the softmax takes them as they are. Bounds are the mask's; the sink joins at the end.
// CHECK-LABEL: tile.kernel @scores(
// CHECK: tile.load_query_rows
// CHECK: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
// CHECK: scf.for
// CHECK: %[[S:.+]] = tile.score_rows
// CHECK: %[[M:.+]] = tile.mask_rows causal window 7 %[[S]][%{{.*}}, %{{.*}}] scale %{{.*}} edit {
// CHECK: arith.mulf
// CHECK: mla.yield
// CHECK: tile.softmax_rows %[[M]] stats %{{.*}}, %{{.*}} scale %[[ONE]]
// CHECK: tile.store_rows {{.*}} sink %{{.*}}
mla.kernel @scores(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>, %sinks: !mla.head_values<16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 16, tokens = 16, stages = 1, row_warps = 1}} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %e = mla.edit(%s) {
  ^bb0(%score: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %two = arith.mulf %score, %score : f32
    mla.yield %two
  } : !mla.scores<16> -> <16>
  %m = mla.causal %e : <16>
  %w = mla.window %m left 7 : <16>
  %t = mla.sink %w, %sinks : <16>, <16>
  %p = mla.softmax %t : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// A factor below 0 turns maxima round: scores are scaled first, too.
// CHECK-LABEL: tile.kernel @negative(
// CHECK: tile.mask_rows %{{.*}}[%{{.*}}, %{{.*}}] scale %[[FACTOR:.+]] : <
// CHECK: tile.softmax_rows
// CHECK-NOT: scale %[[FACTOR]]
// CHECK: tile.store_rows
mla.kernel @negative(%q: !mla.buffer<ragged, 16x192xbf16>, %k: !mla.buffer<ragged, 16x192xbf16>, %v: !mla.buffer<ragged, 16x128xbf16>)
    -> !mla.buffer<ragged, 16x128xbf16> attributes {compute = bf16, mla.hints = {rows = 16, tokens = 16, stages = 1, row_warps = 1}} {
  %f = arith.constant -0.125 : f32
  %s = mla.dot %q, %k : !mla.buffer<ragged, 16x192xbf16>, !mla.buffer<ragged, 16x192xbf16> -> <16>
  %t = mla.scale %s, %f : !mla.scores<16>
  %p = mla.softmax %t : <16> -> <16>
  %o = mla.attend %p, %v : <16>, !mla.buffer<ragged, 16x128xbf16> -> <16x128xf32>
  mla.return %o : !mla.rows<16x128xf32>
}

// A ring of two stages, walked by hand: each stage is landed and visible when read, and unread when refilled. One copy runs
// ahead, over the ends of items; the groups' merge goes through the query.
// RUN: mla-opt %s --tile-verify-pipeline | FileCheck %s

// CHECK-LABEL: tile.kernel @by_hand
// CHECK: tile.copy
// CHECK: tile.weigh
// CHECK: tile.merge_groups
tile.kernel @by_hand(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = tile.stream %plan
  %place = tile.locate %kv[%first] : <paged, 64xf16> -> <1>
  %second = tile.advance %first of %plan
  tile.copy %kv at %place to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  tile.commit
  %last:2 = tile.items %plan carrying %zero, %second : i32, !tile.cursor {
  ^bb0(%item: !tile.item, %from: i32, %start: !tile.cursor):
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    %acc = tile.splat 0.0 : <accumulator, 32x8xf32>
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %begin, %end = tile.range %item
    tile.barrier
    %there:2 = scf.for %i = %begin to %end step %one iter_args(%stage = %from, %cursor = %start) -> (i32, !tile.cursor) : i32 {
      tile.wait 0
      tile.sync
      %behind = arith.xori %stage, %one : i32
      %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
      %after = tile.advance %cursor of %plan
      tile.copy %kv at %at to %ring[%behind] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
      tile.commit
      %s = tile.score %rows, %ring[%stage] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
      tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
      tile.sync
      %max, %sum, %shrink = tile.softmax %s to %probs stats %low, %low with %maxima : <accumulator, 16x8xf32> to <1x8x32xf16, pitch = 80> stats <stats, 1x8xf32> with !tile.shared<2x1x8xf32, pitch = 32>
      tile.sync
      %small = tile.rescale %acc by %shrink : <accumulator, 32x8xf32> by <stats, 1x8xf32>
      %next = tile.weigh %small, %probs, %ring[%stage] columns 0 + 64 : <accumulator, 32x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x64xf16, pitch = 144>
      scf.yield %behind, %after : i32, !tile.cursor
    }
    tile.store_stats %low, %low to %stats : <stats, 1x8xf32> to <3x1x8xf32, pitch = 32>
    tile.barrier
    %factor = tile.finish_rows %item, %plan, %stats times %f : <3x1x8xf32, pitch = 32> -> <stats, 1x8xf32>
    %merged = tile.merge_groups %acc through %rows : <accumulator, 32x8xf32> through <1x8x64xf16, pitch = 144>
    tile.barrier
    tile.yield %there#0, %there#1 : i32, !tile.cursor
  }
  tile.wait 0
  tile.return
}

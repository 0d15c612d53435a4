// A ring of two stages, walked by hand: each stage is landed and visible when read, and unread when refilled.
// RUN: mla-opt %s --tile-verify-pipeline | FileCheck %s

// CHECK-LABEL: tile.kernel @by_hand
// CHECK: tile.copy
// CHECK: tile.weigh
tile.kernel @by_hand(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %acc: !tile.fragment<accumulator, 32x8xf32>,
                     %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %planes = tile.alloc "scores" at 9216 : <4x8x32xf32, pitch = 144>
  %probs = tile.alloc "probs" at 13824 : <1x8x32xf16, pitch = 80>
  %factor = tile.alloc "row_factor" at 14464 : <1x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %begin, %end = tile.range %item
    scf.for %i = %begin to %end step %one : i32 {
      %stage = arith.andi %i, %one : i32
      %yes = arith.cmpi slt, %i, %end : i32
      %at = tile.locate %kv[%item, %i] : <paged, 64xf16>
      tile.copy %kv at %at to %ring[%stage] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
      tile.commit
      tile.wait 0
      tile.barrier
      %s = tile.score %q, %ring[%stage] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
      tile.store_scores %s to %planes : <accumulator, 32x8xf32> to <4x8x32xf32, pitch = 144>
      tile.barrier
      %max, %sum = tile.softmax %planes to %probs, %factor[%item, %i] scale %f stats %f, %f : <4x8x32xf32, pitch = 144> to <1x8x32xf16, pitch = 80>, <1x1x8xf32, pitch = 32>
      tile.barrier
      %small = tile.rescale %acc by %factor : <accumulator, 32x8xf32> by <1x1x8xf32, pitch = 32>
      %next = tile.weigh %small, %probs, %ring[%stage] columns 0 + 64 : <accumulator, 32x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x64xf16, pitch = 144>
    }
  }
  tile.return
}

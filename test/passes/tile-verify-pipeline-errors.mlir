// A reader that may find another tile, a copy that may overtake a reader, a missing barrier or one that is too narrow, a copy
// left under way, memory that the groups' merge overwrites while it is used.
// RUN: mla-opt %s --tile-verify-pipeline -split-input-file -verify-diagnostics

tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    // expected-error@+1 {{needs tile 0 and finds nothing, for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    // expected-error@+1 {{needs tile 0 and finds a copy under way (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// The one group may still be under way.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 1
    tile.barrier
    // expected-error@+1 {{needs tile 0 and finds a copy under way (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// Landed for this thread, not for those that copied the rest.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    // expected-error@+1 {{needs tile 0 and finds a copy that is not visible to all (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// They met too early.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.sync
    tile.wait 0
    // expected-error@+1 {{needs tile 0 and finds a copy that is not visible to all (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// Each tile is scored once.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    // expected-error@+1 {{needs tile 1 and finds a tile (0), for 0 tiles [pipeline-read]}}
    %s2 = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// The stream goes on from item to item: the second one's tile is not the first one's.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %zero = arith.constant 0 : i32
  %cursor = tile.stream %plan
  %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
  tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  tile.commit
  tile.wait 0
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    tile.barrier
    // expected-error@+1 {{needs tile 1 and finds a tile (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    tile.barrier
  }
  tile.return
}

// -----

tile.kernel @"pipeline-refill"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    // expected-error@+1 {{refills a stage whose tile 0 may still be read, for 0 tiles [pipeline-refill]}}
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-refill"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    // expected-error@+1 {{refills a stage whose tile 0 is still under way, for 0 tiles [pipeline-refill]}}
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// -----

// expected-error@+1 {{ends with a copy of tile 0 under way, for 0 tiles [pipeline-drain]}}
tile.kernel @"pipeline-drain"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %zero = arith.constant 0 : i32
  %cursor = tile.stream %plan
  %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
  tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  tile.commit
  tile.items %plan {
  ^bb0(%item: !tile.item):
  }
  tile.return
}

// -----

// The one that ran ahead of the last item.
// expected-error@+1 {{ends with a copy of tile 2 under way, for 0 tiles [pipeline-drain]}}
tile.kernel @"pipeline-drain"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %cursor = tile.stream %plan
  %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
  %second = tile.advance %cursor of %plan
  tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  tile.commit
  %last:2 = tile.items %plan carrying %one, %second : i32, !tile.cursor {
  ^bb0(%item: !tile.item, %stage: i32, %ahead: !tile.cursor):
    tile.wait 0
    %next = tile.locate %kv[%ahead] : <paged, 64xf16> -> <1>
    tile.copy %kv at %next to %ring[%stage] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    %other = arith.xori %stage, %one : i32
    %after = tile.advance %ahead of %plan
    tile.yield %other, %after : i32, !tile.cursor
  }
  tile.wait 1
  tile.return
}

// -----

// The query is the block's: a group's barrier does not order it.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    // expected-note@+1 {{the other use}}
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.sync
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// Maxima that other warps have not stored yet.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    // expected-note@+1 {{the other use}}
    tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %max, %sum, %shrink = tile.softmax %s to %probs stats %low, %low with %maxima : <accumulator, 16x8xf32> to <1x8x32xf16, pitch = 80> stats <stats, 1x8xf32> with !tile.shared<2x1x8xf32, pitch = 32>
  }
  tile.return
}

// -----

// Probabilities that are not there yet.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
    tile.sync
    // expected-note@+1 {{the other use}}
    %max, %sum, %shrink = tile.softmax %s to %probs stats %low, %low with %maxima : <accumulator, 16x8xf32> to <1x8x32xf16, pitch = 80> stats <stats, 1x8xf32> with !tile.shared<2x1x8xf32, pitch = 32>
    %acc = tile.splat 0.0 : <accumulator, 32x8xf32>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %next = tile.weigh %acc, %probs, %ring[%zero] columns 0 + 64 : <accumulator, 32x8xf32>, <1x8x32xf16, pitch = 80>, <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// -----

// Maxima that are still being read.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
    tile.sync
    // expected-note@+1 {{the other use}}
    %max, %sum, %shrink = tile.softmax %s to %probs stats %low, %low with %maxima : <accumulator, 16x8xf32> to <1x8x32xf16, pitch = 80> stats <stats, 1x8xf32> with !tile.shared<2x1x8xf32, pitch = 32>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    tile.store_maxima %s to %maxima : <accumulator, 16x8xf32> to <2x1x8xf32, pitch = 32>
  }
  tile.return
}

// -----

// Statistics of all groups: a group's barrier does not order them.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    // expected-note@+1 {{the other use}}
    tile.store_stats %low, %low to %stats : <stats, 1x8xf32> to <3x1x8xf32, pitch = 32>
    tile.sync
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %factor = tile.finish_rows %item, %plan, %stats times %f : <3x1x8xf32, pitch = 32> -> <stats, 1x8xf32>
  }
  tile.return
}

// -----

// Statistics that nothing has written.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 10368 : <1x8x32xf16, pitch = 80>
  %maxima = tile.alloc "maxima" at 11008 : <2x1x8xf32, pitch = 32>
  %stats = tile.alloc "stats" at 11072 : <3x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %low = tile.splat 0.0 : <stats, 1x8xf32>
    // expected-note@+2 {{the other use}}
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %factor = tile.finish_rows %item, %plan, %stats times %f : <3x1x8xf32, pitch = 32> -> <stats, 1x8xf32>
  }
  tile.return
}

// -----

// The groups' merge goes through the query, which is still read.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %acc = tile.splat 0.0 : <accumulator, 32x8xf32>
    // expected-note@+1 {{the other use}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %merged = tile.merge_groups %acc through %rows : <accumulator, 32x8xf32> through <1x8x64xf16, pitch = 144>
  }
  tile.return
}

// -----

// By another group: a group's barrier is not enough.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %cursor = tile.stream %plan
    %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
    tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %acc = tile.splat 0.0 : <accumulator, 32x8xf32>
    // expected-note@+1 {{the other use}}
    %s = tile.score %rows, %ring[%zero] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
    tile.sync
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %merged = tile.merge_groups %acc through %rows : <accumulator, 32x8xf32> through <1x8x64xf16, pitch = 144>
  }
  tile.return
}

// -----

// The next item's query comes while the merge may still read.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %pieces = tile.fetch_query %q[%item] : <ragged, 8x64xf16> -> <16>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    tile.store_query %pieces of %item : f16 for f16 to %rows : <16> to <1x8x64xf16, pitch = 144>
    %acc = tile.splat 0.0 : <accumulator, 32x8xf32>
    tile.barrier
    // expected-note@+1 {{the other use}}
    %merged = tile.merge_groups %acc through %rows : <accumulator, 32x8xf32> through <1x8x64xf16, pitch = 144>
    tile.sync
  }
  tile.return
}

// -----

tile.kernel @"pipeline-stage"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %two = arith.constant 2 : i32
    // expected-error@+1 {{uses a stage that is not one of the ring's 2 [pipeline-stage]}}
    %s = tile.score %rows, %ring[%two] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

// A stage that does not follow from the tile.
tile.kernel @"pipeline-stage"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    // expected-error@+1 {{uses a stage that is not one of the ring's 2 [pipeline-stage]}}
    %s = tile.score %rows, %ring[%n] : <1x8x64xf16, pitch = 144>, <2x32x64xf16, pitch = 144> -> <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    // expected-error@+1 {{has bounds that do not follow from the item's tiles [pipeline-control]}}
    scf.for %i = %zero to %n step %one : i32 {
    }
  }
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
    scf.if %flag {
      tile.barrier
    }
  }
  tile.return
}

// -----

// Where a tile lies must follow from the stream, from its first tile on.
tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %at: !tile.address<1>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  %zero = arith.constant 0 : i32
  // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
  tile.copy %kv at %at to %ring[%zero] : <paged, 64xf16>, <1> to <2x32x64xf16, pitch = 144>
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %cursor: !tile.cursor, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
  %at = tile.locate %kv[%cursor] : <paged, 64xf16> -> <1>
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !mla.buffer<ragged, 8x64xf16>, %n: i32, %flag: i1, %f: f32, %cursor: !tile.cursor, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %rows = tile.alloc "query" at 9216 : <1x8x64xf16, pitch = 144>
  // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
  %next = tile.advance %cursor of %plan
  tile.return
}

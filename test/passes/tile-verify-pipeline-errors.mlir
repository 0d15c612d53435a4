// A reader that may find another tile, a copy that may overtake a reader, a missing barrier, a copy left under way.
// RUN: mla-opt %s --tile-verify-pipeline -split-input-file -verify-diagnostics

tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    // expected-error@+1 {{needs tile 0 and finds nothing, for 0 tiles [pipeline-read]}}
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    // expected-error@+1 {{needs tile 0 and finds a copy under way (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

// The one group may still be under way.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 1
    tile.barrier
    // expected-error@+1 {{needs tile 0 and finds a copy under way (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

// A thread waits for its own copies only.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    // expected-error@+1 {{needs tile 0 and finds a copy that is not visible to all (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

// The barrier comes too early.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.barrier
    tile.wait 0
    // expected-error@+1 {{needs tile 0 and finds a copy that is not visible to all (0), for 0 tiles [pipeline-read]}}
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

// Each tile is scored once.
tile.kernel @"pipeline-read"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
    // expected-error@+1 {{needs tile 1 and finds a tile (0), for 0 tiles [pipeline-read]}}
    %s2 = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-refill"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
    // expected-error@+1 {{refills a stage whose tile 0 may still be read, for 0 tiles [pipeline-refill]}}
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-refill"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    // expected-error@+1 {{refills a stage whose tile 0 is still under way, for 0 tiles [pipeline-refill]}}
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-drain"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  // expected-error@+1 {{ends with a copy of tile 0 under way, for 0 tiles [pipeline-drain]}}
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
  }
  tile.return
}

// -----

tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %planes = tile.alloc "scores" at 9216 : <4x8x32xf32, pitch = 144>
  %probs = tile.alloc "probs" at 13824 : <1x8x32xf16, pitch = 80>
  %factor = tile.alloc "row_factor" at 14464 : <1x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %yes = arith.constant true
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    tile.copy %kv at %at to %ring[%zero] if %yes : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
    tile.commit
    tile.wait 0
    tile.barrier
    %s = tile.score %q, %ring[%zero] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
    // expected-note@+1 {{the other use}}
    tile.store_scores %s to %planes : <accumulator, 32x8xf32> to <4x8x32xf32, pitch = 144>
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %max, %sum = tile.softmax %planes to %probs, %factor[%item, %zero] scale %f stats %f, %f : <4x8x32xf32, pitch = 144> to <1x8x32xf16, pitch = 80>, <1x1x8xf32, pitch = 32>
  }
  tile.return
}

// -----

// Scores that nothing has written.
tile.kernel @"pipeline-barrier"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  %planes = tile.alloc "scores" at 9216 : <4x8x32xf32, pitch = 144>
  %probs = tile.alloc "probs" at 13824 : <1x8x32xf16, pitch = 80>
  %factor = tile.alloc "row_factor" at 14464 : <1x1x8xf32, pitch = 32>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    // expected-note@+2 {{the other use}}
    // expected-error@+1 {{uses shared memory that another thread may still use: no barrier lies between, for 0 tiles [pipeline-barrier]}}
    %max, %sum = tile.softmax %planes to %probs, %factor[%item, %zero] scale %f stats %f, %f : <4x8x32xf32, pitch = 144> to <1x8x32xf16, pitch = 80>, <1x1x8xf32, pitch = 32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-stage"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    // expected-error@+1 {{uses a stage that is not one of the ring's 2 [pipeline-stage]}}
    %s = tile.score %q, %ring[%two] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

// A stage that does not follow from the tile.
tile.kernel @"pipeline-stage"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    // expected-error@+1 {{uses a stage that is not one of the ring's 2 [pipeline-stage]}}
    %s = tile.score %q, %ring[%n] : <operand, 16x8xf16>, <2x32x64xf16, pitch = 144> -> <accumulator, 32x8xf32>
  }
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
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

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
    scf.if %flag {
      tile.barrier
    }
  }
  tile.return
}

// -----

tile.kernel @"pipeline-control"(%kv: !mla.buffer<paged, 64xf16>, %q: !tile.fragment<operand, 16x8xf16>, %n: i32, %flag: i1, %f: f32, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 8, tokens = 32, stages = 2, dimWarps = 4, tokenWarps = 1>} {
  %ring = tile.alloc "kv" at 0 : <2x32x64xf16, pitch = 144>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %zero = arith.constant 0 : i32
    %at = tile.locate %kv[%item, %zero] : <paged, 64xf16>
    // expected-error@+1 {{depends on more than the item's tiles [pipeline-control]}}
    tile.copy %kv at %at to %ring[%zero] if %flag : <paged, 64xf16> to <2x32x64xf16, pitch = 144>
  }
  tile.return
}

// Every verifier rule of the tile dialect: one kernel a message, named after its rule.
// RUN: mla-opt %s -split-input-file -verify-diagnostics

//===-- Types ---===//

// expected-error@+1 {{a tile has rows and columns, not 1 dimensions [tile-rank]}}
tile.kernel @"tile-rank"(%a: !tile.tile<64xf16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a tile holds floating-point values, int8 or records [tile-element]}}
tile.kernel @"tile-element"(%a: !tile.tile<64x576xi16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a tile holds floating-point values, int8 or records [tile-element]}}
tile.kernel @"tile-element"(%a: !tile.tile<64x576xf16 from i16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{shared memory is stages x rows x columns [shared-rank]}}
tile.kernel @"shared-rank"(%a: !tile.shared<64x576xf16, pitch = 1152>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{shared memory holds floating-point values, int8 or records, not 'index' [shared-element]}}
tile.kernel @"shared-element"(%a: !tile.shared<2x64x576xindex, pitch = 4608>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{rows of 1152 bytes do not fit a pitch of 1136 [shared-pitch]}}
tile.kernel @"shared-pitch"(%a: !tile.shared<2x64x576xf16, pitch = 1136>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<accumulator, 24x8xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<accumulator, 32x12xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<accumulator, 0x8xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<stats, 16x8xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<stats, 1x12xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<stats, 1x0xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a fragment holds f32, an operand f16 or bf16, not 'f16' [fragment-element]}}
tile.kernel @"fragment-element"(%a: !tile.fragment<accumulator, 32x8xf16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a fragment holds f32, an operand f16 or bf16, not 'f8E4M3FN' [fragment-element]}}
tile.kernel @"fragment-element"(%a: !tile.fragment<accumulator, 32x8xf8E4M3FN>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a fragment holds f32, an operand f16 or bf16, not 'bf16' [fragment-element]}}
tile.kernel @"fragment-element"(%a: !tile.fragment<stats, 1x8xbf16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<operand, 32x8xf16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{an accumulator is a multiple of 16 x a multiple of 8, statistics 1 x a multiple of 8, row statistics a multiple of 16 x 1, an operand multiples of 16 [fragment-shape]}}
tile.kernel @"fragment-shape"(%a: !tile.fragment<row_stats, 16x8xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{a fragment holds f32, an operand f16 or bf16, not 'f32' [fragment-element]}}
tile.kernel @"fragment-element"(%a: !tile.fragment<operand, 32x16xf32>) attributes {compute = f16, heads = 8 : i64} {}

// -----

// expected-error@+1 {{unknown role 'values'}}
tile.kernel @"role"(%a: !tile.fragment<values, 32x16xf16>) attributes {compute = f16, heads = 8 : i64} {}

// -----

//===-- Schedules ---===//

// expected-error@+1 {{rows is 4; 8, 16, 32 or 64 [schedule-rows]}}
module @"schedule-rows" attributes {tile.schedule = #tile.schedule<rows = 4, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{rows is 24; 8, 16, 32 or 64 [schedule-rows]}}
module @"schedule-rows" attributes {tile.schedule = #tile.schedule<rows = 24, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{rows is 128; 8, 16, 32 or 64 [schedule-rows]}}
module @"schedule-rows" attributes {tile.schedule = #tile.schedule<rows = 128, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{tokens is 8; 16, 32, 64 or 128 [schedule-tokens]}}
module @"schedule-tokens" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 8, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {}

// -----

// A tile of 48 tokens is refused rather than computed wrong.
// expected-error@+1 {{tokens is 48; 16, 32, 64 or 128 [schedule-tokens]}}
module @"schedule-tokens" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 48, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {}

// -----

// expected-error@+1 {{tokens is 256; 16, 32, 64 or 128 [schedule-tokens]}}
module @"schedule-tokens" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 256, stages = 2, groups = 1, tokenWarps = 1, rowWarps = 1>} {}

// -----

// expected-error@+1 {{stages is 1; 2 to 8 [schedule-stages]}}
module @"schedule-stages" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 64, stages = 1, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{stages is 9; 2 to 8 [schedule-stages]}}
module @"schedule-stages" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 64, stages = 9, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 3 x 2 x 1; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 3, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 0 x 2 x 1; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 0, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 1 x 3 x 1; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 1, tokenWarps = 3, rowWarps = 1>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 1 x 0 x 1; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 1, tokenWarps = 0, rowWarps = 1>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 1 x 2 x 3; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 3>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 1 x 2 x 0; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 0>} {}

// -----

// expected-error@+1 {{groups x tokenWarps x rowWarps is 32 x 1 x 1; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 32, tokenWarps = 1, rowWarps = 1>} {}

// -----

// Each is allowed, together they are too many.
// expected-error@+1 {{groups x tokenWarps x rowWarps is 8 x 2 x 2; powers of two, at most 16 warps [schedule-warps]}}
module @"schedule-warps" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 8, tokenWarps = 2, rowWarps = 2>} {}

// -----

// expected-error@+1 {{16 tokens x 8 rows do not split over 2 x 1 warps; 16 tokens and 8 rows a warp or more [schedule-spread]}}
module @"schedule-spread" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 16, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 1>} {}

// -----

// expected-error@+1 {{64 tokens x 8 rows do not split over 2 x 2 warps; 16 tokens and 8 rows a warp or more [schedule-spread]}}
module @"schedule-spread" attributes {tile.schedule = #tile.schedule<rows = 8, tokens = 64, stages = 2, groups = 1, tokenWarps = 2, rowWarps = 2>} {}

// -----

// expected-error@+1 {{64 tokens x 64 rows do not split over 8 x 1 warps; 16 tokens and 8 rows a warp or more [schedule-spread]}}
module @"schedule-spread" attributes {tile.schedule = #tile.schedule<rows = 64, tokens = 64, stages = 2, groups = 1, tokenWarps = 8, rowWarps = 1>} {}

// -----

//===-- Structure ---===//

// expected-error@+1 {{'tile.kernel' op returns nothing [tile-kernel-results]}}
tile.kernel @"tile-kernel-results"() -> f32 attributes {compute = f16, heads = 8 : i64} {
  tile.return
}

// -----

tile.kernel @"items-argument"(%plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op has a body whose first argument is a !tile.item [items-argument]}}
  tile.items %plan {
  ^bb0(%a: i32):
  }
  tile.return
}

// -----

tile.kernel @"items-argument"(%plan: !tile.plan, %stage: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op has a body whose first argument is a !tile.item [items-argument]}}
  %0 = tile.items %plan carrying %stage : i32 {
  ^bb0(%a: i32):
    tile.yield %a : i32
  }
  tile.return
}

// -----

tile.kernel @"items-carried"(%plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op hands on other types than it is handed [items-carried]}}
  tile.items %plan {
  ^bb0(%a: !tile.item, %b: !tile.item):
  }
  tile.return
}

// -----

tile.kernel @"items-carried"(%plan: !tile.plan, %stage: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op hands on other types than it is handed [items-carried]}}
  %0 = tile.items %plan carrying %stage : i32 {
  ^bb0(%item: !tile.item):
    tile.yield %stage : i32
  }
  tile.return
}

// -----

tile.kernel @"items-carried"(%plan: !tile.plan, %stage: i32, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op hands on other types than it is handed [items-carried]}}
  %0 = tile.items %plan carrying %stage : i32 {
  ^bb0(%item: !tile.item, %a: f32):
    tile.yield %stage : i32
  }
  tile.return
}

// -----

tile.kernel @"items-carried"(%plan: !tile.plan, %stage: i32, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op hands on other types than it is handed [items-carried]}}
  %0 = tile.items %plan carrying %stage : i32 {
  ^bb0(%item: !tile.item, %a: i32):
    tile.yield %f : f32
  }
  tile.return
}

// -----

tile.kernel @"items-carried"(%plan: !tile.plan, %stage: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.items' op hands on other types than it is handed [items-carried]}}
  %0 = tile.items %plan carrying %stage : i32 {
  ^bb0(%item: !tile.item, %a: i32):
  }
  tile.return
}

// -----

//===-- Values ---===//

tile.kernel @"query-width"(%q: !mla.buffer<ragged, 8x576xbf16>, %item: !tile.item) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.query' op changes the row's width [query-width]}}
  %0 = tile.query %q[%item] : <ragged, 8x576xbf16> -> <?x512xf16>
  tile.return
}

// -----

tile.kernel @"load-width"(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %item: !tile.item, %i: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.load' op changes the row's width [load-width]}}
  %0 = tile.load %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <?x512xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @"load-storage"(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %item: !tile.item, %i: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.load' op loads 'f8E4M3FN' as 'f16' [load-storage]}}
  %0 = tile.load %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <?x576xf16>
  tile.return
}

// -----

tile.kernel @"load-storage"(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %item: !tile.item, %i: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.load' op loads 'f8E4M3FN' as 'f8E5M2' [load-storage]}}
  %0 = tile.load %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <?x576xf16 from f8E5M2>
  tile.return
}

// -----

tile.kernel @"tile-dequant-shape"(%t: !tile.tile<?x576xf8E4M3FN>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dequant' op changes the tile's shape [tile-dequant-shape]}}
  %0 = tile.dequant %t : <?x576xf8E4M3FN> -> <64x576xf16>
  tile.return
}

// -----

tile.kernel @"tile-slice-bounds"(%t: !tile.tile<?x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.slice' op [512:577] is not within 576 columns [tile-slice-bounds]}}
  %0 = tile.slice %t[512 : 577] : <?x576xf16> -> <?x65xf16>
  tile.return
}

// -----

tile.kernel @"tile-slice-bounds"(%t: !tile.tile<?x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.slice' op [64:64] is not within 576 columns [tile-slice-bounds]}}
  %0 = tile.slice %t[64 : 64] : <?x576xf16> -> <?x0xf16>
  tile.return
}

// -----

tile.kernel @"tile-slice-bounds"(%t: !tile.tile<?x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.slice' op [0:512] is not within 576 columns [tile-slice-bounds]}}
  %0 = tile.slice %t[0 : 512] : <?x576xf16> -> <?x448xf16>
  tile.return
}

// -----

tile.kernel @"tile-dot-width"(%q: !tile.tile<8x576xf16>, %k: !tile.tile<64x512xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dot' op contracts 576 with 512 columns [tile-dot-width]}}
  %0 = tile.dot %q, %k : <8x576xf16>, <64x512xf16> -> <8x64xf32>
  tile.return
}

// -----

tile.kernel @"tile-dot-element"(%q: !tile.tile<8x576xf16>, %k: !tile.tile<64x576xbf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dot' op multiplies 'f16' by 'bf16' [tile-dot-element]}}
  %0 = tile.dot %q, %k : <8x576xf16>, <64x576xbf16> -> <8x64xf32>
  tile.return
}

// -----

tile.kernel @"tile-dot-shape"(%q: !tile.tile<8x576xf16>, %k: !tile.tile<64x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dot' op gives f32 scores of query rows x key rows [tile-dot-shape]}}
  %0 = tile.dot %q, %k : <8x576xf16>, <64x576xf16> -> <64x64xf32>
  tile.return
}

// -----

tile.kernel @"tile-dot-shape"(%q: !tile.tile<8x576xf16>, %k: !tile.tile<64x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dot' op gives f32 scores of query rows x key rows [tile-dot-shape]}}
  %0 = tile.dot %q, %k : <8x576xf16>, <64x576xf16> -> <8x32xf32>
  tile.return
}

// -----

tile.kernel @"tile-dot-shape"(%q: !tile.tile<8x576xf16>, %k: !tile.tile<64x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.dot' op gives f32 scores of query rows x key rows [tile-dot-shape]}}
  %0 = tile.dot %q, %k : <8x576xf16>, <64x576xf16> -> <8x64xf16>
  tile.return
}

// -----

tile.kernel @"softmax-stats"(%s: !tile.tile<8x64xf32>, %m: !tile.tile<8x2xf32>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.online_softmax' op keeps one f32 a row, not '!tile.tile<8x2xf32>' [softmax-stats]}}
  %p, %a, %b, %c = tile.online_softmax %s, %m, %m : (!tile.tile<8x64xf32>, !tile.tile<8x2xf32>, !tile.tile<8x2xf32>) -> (!tile.tile<8x64xf16>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>)
  tile.return
}

// -----

tile.kernel @"softmax-stats"(%s: !tile.tile<8x64xf32>, %m: !tile.tile<8x1xf32>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.online_softmax' op keeps one f32 a row, not '!tile.tile<8x1xf16>' [softmax-stats]}}
  %p, %a, %b, %c = tile.online_softmax %s, %m, %m : (!tile.tile<8x64xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>) -> (!tile.tile<8x64xf16>, !tile.tile<8x1xf32>, !tile.tile<8x1xf32>, !tile.tile<8x1xf16>)
  tile.return
}

// -----

tile.kernel @"accumulate-width"(%a: !tile.tile<8x512xf32>, %s: !tile.tile<8x1xf32>, %p: !tile.tile<8x64xf16>, %v: !tile.tile<64x576xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.accumulate' op adds 576 columns to 512 [accumulate-width]}}
  %0 = tile.accumulate %a, %s, %p, %v : !tile.tile<8x512xf32>, !tile.tile<8x1xf32>, !tile.tile<8x64xf16>, !tile.tile<64x576xf16> -> <8x512xf32>
  tile.return
}

// -----

tile.kernel @"accumulate-element"(%a: !tile.tile<8x512xf32>, %s: !tile.tile<8x1xf32>, %p: !tile.tile<8x64xbf16>, %v: !tile.tile<64x512xf16>) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.accumulate' op multiplies 'bf16' by 'f16' [accumulate-element]}}
  %0 = tile.accumulate %a, %s, %p, %v : !tile.tile<8x512xf32>, !tile.tile<8x1xf32>, !tile.tile<8x64xbf16>, !tile.tile<64x512xf16> -> <8x512xf32>
  tile.return
}

// -----

//===-- Scheduled ---===//

tile.kernel @"alloc-align"() attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.alloc' op offset 40 is not a multiple of 16 [alloc-align]}}
  %0 = tile.alloc "probs" at 40 : <1x8x64xf16, pitch = 144>
  tile.return
}

// -----

tile.kernel @"copy-width"(%kv: !mla.buffer<paged, 576xf16>, %at: !tile.address<2>, %ring: !tile.shared<2x64x512xf16, pitch = 1040>, %i: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.copy' op copies '!mla.buffer<paged, 576xf16>' into '!tile.shared<2x64x512xf16, pitch = 1040>' [copy-width]}}
  tile.copy %kv at %at to %ring[%i] : <paged, 576xf16>, <2> to <2x64x512xf16, pitch = 1040>
  tile.return
}

// -----

tile.kernel @"copy-width"(%kv: !mla.buffer<paged, 576xf8E4M3FN>, %at: !tile.address<2>, %ring: !tile.shared<2x64x576xf8E5M2, pitch = 592>, %i: i32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.copy' op copies '!mla.buffer<paged, 576xf8E4M3FN>' into '!tile.shared<2x64x576xf8E5M2, pitch = 592>' [copy-width]}}
  tile.copy %kv at %at to %ring[%i] : <paged, 576xf8E4M3FN>, <2> to <2x64x576xf8E5M2, pitch = 592>
  tile.return
}

// -----

tile.kernel @"tile-window"(%plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %begin, %end = tile.range %item
    %s = tile.fill 0.0 : <?x?xf32>
    // expected-error@+1 {{'tile.mask' op has a window of -1 tokens; 0 or more [tile-window]}}
    %m = tile.mask window -1 %s[%item, %begin] : <?x?xf32>
  }
  tile.return
}

// -----

tile.kernel @"edit-heads"(%plan: !tile.plan, %values: !mla.head_values<4>) attributes {compute = f16, heads = 8 : i64} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %begin, %end = tile.range %item
    %s = tile.fill 0.0 : <?x?xf32>
    %m = tile.mask %s[%item, %begin] edit {
    ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
      // expected-error@+1 {{'mla.head_value' op reads values of 4 heads for scores of 8 [edit-heads]}}
      %value = mla.head_value %values : <4>
      mla.yield %value
    } : <?x?xf32>
  }
  tile.return
}

// -----

tile.kernel @"edit-arguments"(%plan: !tile.plan, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  tile.items %plan {
  ^bb0(%item: !tile.item):
    %begin, %end = tile.range %item
    %s = tile.splat 0.0 : <accumulator, 16x8xf32>
    // expected-error@+1 {{'tile.mask_scores' op has a region with 1 f32 and 3 i32 arguments [edit-arguments]}}
    %m = tile.mask_scores %s[%item, %begin] scale %f edit {
    ^bb0(%x: f32):
      mla.yield %x
    } : <accumulator, 16x8xf32>
  }
  tile.return
}

// -----

//===-- Planning on the device ---===//

tile.kernel @"plan-batch-sizes"(%batch: !tile.batch, %plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.plan_batch' op has 8 rows, 64 tokens and 200 threads; all are positive, threads a multiple of 32 [plan-batch-sizes]}}
  tile.plan_batch %batch to %plan {rows = 8 : i64, tokens = 64 : i64, threads = 200 : i64}
  tile.return
}

// -----

tile.kernel @"check-table-paged"(%kv: !mla.buffer<ragged, 576xf16>, %batch: !tile.batch, %plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.check_table' op checks the table of '!mla.buffer<ragged, 576xf16>', which has none [check-table-paged]}}
  tile.check_table %kv, %batch, %plan : <ragged, 576xf16>
  tile.return
}

//===-- Prefill ---===//

// -----

// expected-error@+1 {{rows is 8; 16, 32, 64, 128 or 256 [prefill-rows]}}
module @"prefill-rows" attributes {tile.schedule = #tile.prefill_schedule<rows = 8, tokens = 64, stages = 1, rowWarps = 1>} {}

// -----

// expected-error@+1 {{rows is 96; 16, 32, 64, 128 or 256 [prefill-rows]}}
module @"prefill-rows" attributes {tile.schedule = #tile.prefill_schedule<rows = 96, tokens = 64, stages = 1, rowWarps = 4>} {}

// -----

// expected-error@+1 {{tokens is 256; 16, 32, 64 or 128 [prefill-tokens]}}
module @"prefill-tokens" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 256, stages = 1, rowWarps = 4>} {}

// -----

// expected-error@+1 {{stages is 0; 1 to 4 [prefill-stages]}}
module @"prefill-stages" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 64, stages = 0, rowWarps = 4>} {}

// -----

// expected-error@+1 {{stages is 5; 1 to 4 [prefill-stages]}}
module @"prefill-stages" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 64, stages = 5, rowWarps = 4>} {}

// -----

// expected-error@+1 {{rowWarps is 3; 1, 2, 4, 8 or 16 [prefill-warps]}}
module @"prefill-warps" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 64, stages = 1, rowWarps = 3>} {}

// -----

// expected-error@+1 {{64 rows do not split over 1 warps; 16 or 32 rows a warp [prefill-spread]}}
module @"prefill-spread" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 64, stages = 1, rowWarps = 1>} {}

// -----

// expected-error@+1 {{64 rows do not split over 8 warps; 16 or 32 rows a warp [prefill-spread]}}
module @"prefill-spread" attributes {tile.schedule = #tile.prefill_schedule<rows = 64, tokens = 64, stages = 1, rowWarps = 8>} {}

// -----

// expected-error@+1 {{'tile.kernel' op has 8 heads, which 3 KV heads do not divide [tile-kernel-heads]}}
tile.kernel @"tile-kernel-heads"() attributes {compute = f16, heads = 8 : i64, kv_heads = 3 : i64} {
  tile.return
}

// -----

tile.kernel @"copy-width"(%k: !mla.buffer<ragged, 8x64xf16>, %item: !tile.item, %ring: !tile.shared<1x32x128xf16, pitch = 272>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.copy_rows' op copies '!mla.buffer<ragged, 8x64xf16>' into '!tile.shared<1x32x128xf16, pitch = 272>' [copy-width]}}
  tile.copy_rows %k[%item, %i] to %ring[%i] if %yes : <ragged, 8x64xf16> to <1x32x128xf16, pitch = 272>
  tile.return
}

// -----

tile.kernel @"score-rows-shape"(%q: !tile.shared<1x64x64xf16, pitch = 144>, %r: !tile.shared<1x32x64xf16, pitch = 144>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.score_rows' op gives accumulators of rows x tokens, from query and keys of one width [score-rows-shape]}}
  %s = tile.score_rows %q, %r[%i] : <1x64x64xf16, pitch = 144>, <1x32x64xf16, pitch = 144> -> <accumulator, 16x64xf32>
  tile.return
}

// -----

tile.kernel @"score-rows-shape"(%q: !tile.shared<1x64x64xf16, pitch = 144>, %r: !tile.shared<1x32x48xf16, pitch = 144>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.score_rows' op gives accumulators of rows x tokens, from query and keys of one width [score-rows-shape]}}
  %s = tile.score_rows %q, %r[%i] : <1x64x64xf16, pitch = 144>, <1x32x48xf16, pitch = 144> -> <accumulator, 16x32xf32>
  tile.return
}

// -----

tile.kernel @"softmax-rows-shape"(%s: !tile.fragment<accumulator, 16x32xf32>, %m: !tile.fragment<row_stats, 16x1xf32>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.softmax_rows' op gives operands of the scores' shape, and a statistic a row [softmax-rows-shape]}}
  %p, %a, %b, %c = tile.softmax_rows %s stats %m, %m scale %f : <accumulator, 16x32xf32> stats <row_stats, 16x1xf32> -> <operand, 16x64xf16>
  tile.return
}

// -----

tile.kernel @"softmax-rows-shape"(%s: !tile.fragment<accumulator, 16x32xf32>, %m: !tile.fragment<row_stats, 32x1xf32>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.softmax_rows' op gives operands of the scores' shape, and a statistic a row [softmax-rows-shape]}}
  %p, %a, %b, %c = tile.softmax_rows %s stats %m, %m scale %f : <accumulator, 16x32xf32> stats <row_stats, 32x1xf32> -> <operand, 16x32xf16>
  tile.return
}

// -----

tile.kernel @"weigh-rows-shape"(%a: !tile.fragment<accumulator, 16x128xf32>, %p: !tile.fragment<operand, 16x32xf16>, %v: !tile.shared<1x32x64xf16, pitch = 144>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.weigh_rows' op adds rows x tokens times tokens x value dimensions [weigh-rows-shape]}}
  %s = tile.weigh_rows %a, %p, %v[%i] : <accumulator, 16x128xf32>, <operand, 16x32xf16>, <1x32x64xf16, pitch = 144>
  tile.return
}

// -----

tile.kernel @"weigh-rows-shape"(%a: !tile.fragment<accumulator, 16x64xf32>, %p: !tile.fragment<operand, 16x64xf16>, %v: !tile.shared<1x32x64xf16, pitch = 144>, %i: i32, %yes: i1, %f: f32) attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{'tile.weigh_rows' op adds rows x tokens times tokens x value dimensions [weigh-rows-shape]}}
  %s = tile.weigh_rows %a, %p, %v[%i] : <accumulator, 16x64xf32>, <operand, 16x64xf16>, <1x32x64xf16, pitch = 144>
  tile.return
}

// -----

tile.kernel @"mask-rows-scale"(%s: !tile.fragment<accumulator, 16x32xf32>, %i: i32, %p: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  tile.items %p {
  ^bb0(%item: !tile.item):
    // expected-error@+1 {{'tile.mask_rows' op edits scores that have no scale [mask-rows-scale]}}
    %m = tile.mask_rows %s[%item, %i] edit {
    ^bb0(%score: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
      mla.yield %score
    } : <accumulator, 16x32xf32>
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @"append-elements"(%a: !mla.buffer<ragged, 64xf16>, %kv: !mla.buffer<paged, 64xf16>, %p: !tile.places) attributes {compute = f32, heads = 1 : i64} {
  // expected-error@+1 {{'tile.append' op gives a thread 32 elements; 4, 8 or 16 [append-elements]}}
  tile.append %a to %kv at %p {elements = 32 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xf16> to <paged, 64xf16>
  tile.return
}

// -----

tile.kernel @"append-width"(%a: !mla.buffer<ragged, 20xf16>, %kv: !mla.buffer<paged, 20xf16>, %p: !tile.places) attributes {compute = f32, heads = 1 : i64} {
  // expected-error@+1 {{'tile.append' op has a source 20 wide, which is no multiple of 8 elements [append-width]}}
  tile.append %a to %kv at %p {elements = 8 : i64, threads = 256 : i64} : !mla.buffer<ragged, 20xf16> to <paged, 20xf16>
  tile.return
}

// -----

tile.kernel @"append-width"(%a: !mla.buffer<ragged, 32xf16>, %kv: !mla.buffer<paged, 64xf16>, %p: !tile.places) attributes {compute = f32, heads = 1 : i64} {
  // expected-error@+1 {{'tile.append' op writes rows of 32 to a cache of 64 [append-width]}}
  tile.append %a to %kv at %p {elements = 8 : i64, threads = 256 : i64} : !mla.buffer<ragged, 32xf16> to <paged, 64xf16>
  tile.return
}

// -----

tile.kernel @"append-storage"(%a: !mla.buffer<ragged, 64xf16>, %kv: !mla.buffer<paged, 64xi8>, %p: !tile.places) attributes {compute = f32, heads = 1 : i64} {
  // expected-error@+1 {{'tile.append' op copies '!mla.buffer<ragged, 64xf16>' to a cache of 'i8'; what is divided or of another type is rounded [append-storage]}}
  tile.append %a to %kv at %p {elements = 8 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xf16> to <paged, 64xi8>
  tile.return
}

// -----

tile.kernel @"append-storage"(%a: !mla.buffer<ragged, 64xf16>, %s: f32, %kv: !mla.buffer<paged, 64xf16>, %p: !tile.places) attributes {compute = f32, heads = 1 : i64} {
  // expected-error@+1 {{'tile.append' op copies '!mla.buffer<ragged, 64xf16>' to a cache of 'f16'; what is divided or of another type is rounded [append-storage]}}
  tile.append %a over %s to %kv at %p {elements = 8 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xf16> to <paged, 64xf16>
  tile.return
}

// -----

tile.kernel @"softmax-scales"(%s: !tile.fragment<accumulator, 16x8xf32>, %m: !tile.fragment<stats, 1x8xf32>, %at: i32) attributes {compute = f16, heads = 8 : i64} {
  %p = tile.alloc "probs" at 0 : <4x8x16xf16, pitch = 48>
  %r = tile.alloc "kv" at 0 : <2x16x576x!mla.record<<"a" : f8E4M3FN[512] scaled f32 per 128>, <"b" : bf16[64]>>, pitch = 656>
  // expected-error@+1 {{'tile.softmax' op takes scales of columns 512 + 64, which have none [softmax-scales]}}
  %a, %b, %c = tile.softmax %s to %p stats %m, %m scales %r[%at] columns 512 + 64 : <accumulator, 16x8xf32> to <4x8x16xf16, pitch = 48> stats <stats, 1x8xf32> scales !tile.shared<2x16x576x!mla.record<<"a" : f8E4M3FN[512] scaled f32 per 128>, <"b" : bf16[64]>>, pitch = 656>
  tile.return
}

// -----

tile.kernel @"softmax-copies"(%s: !tile.fragment<accumulator, 16x8xf32>, %m: !tile.fragment<stats, 1x8xf32>, %at: i32) attributes {compute = f16, heads = 8 : i64} {
  %p = tile.alloc "probs" at 0 : <2x8x16xf16, pitch = 48>
  %r = tile.alloc "kv" at 0 : <2x16x512x!mla.record<<"a" : f8E4M3FN[512] scaled f32 per 128>>, pitch = 528>
  // expected-error@+1 {{'tile.softmax' op keeps 2 planes of probabilities, no multiple of the 4 groups of columns [softmax-copies]}}
  %a, %b, %c = tile.softmax %s to %p stats %m, %m scales %r[%at] columns 0 + 512 : <accumulator, 16x8xf32> to <2x8x16xf16, pitch = 48> stats <stats, 1x8xf32> scales !tile.shared<2x16x512x!mla.record<<"a" : f8E4M3FN[512] scaled f32 per 128>>, pitch = 528>
  tile.return
}

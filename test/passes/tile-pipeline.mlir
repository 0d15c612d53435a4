// A scheduled kernel becomes groups of warps, each with its own ring of stages and three barriers of its own a tile; the block
// meets only at an item's start and end.
// RUN: mla-opt %s --mla-to-tile --tile-schedule="target=sm_90" --tile-pipeline --canonicalize 2>/dev/null | FileCheck %s

// CHECK-LABEL: tile.kernel @decode(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xbf16>{{[^,]*}}, %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN>{{.*}} %[[PLAN:[a-z0-9]+]]: !tile.plan
// CHECK-SAME: schedule = #tile.schedule<rows = 16, tokens = 32, stages = 3, groups = 2, tokenWarps = 2, rowWarps = 2>
// CHECK: %[[RING:.+]] = tile.alloc "kv" at 0 : <6x32x576xf8E4M3FN, pitch = 592>
// CHECK: %[[QUERY:.+]] = tile.alloc "query" at {{[0-9]+}} : <1x16x576xf16, pitch = 1168>
// CHECK: %[[PROBS:.+]] = tile.alloc "probs" at {{[0-9]+}} : <2x16x32xf16, pitch = 80>
// CHECK: %[[MAXIMA:.+]] = tile.alloc "maxima" at {{[0-9]+}} : <4x1x16xf32, pitch = 64>
// CHECK: %[[SHRINKS:.+]] = tile.alloc "shrinks" at {{[0-9]+}} : <2x1x16xf32, pitch = 64>
// CHECK: %[[STATS:.+]] = tile.alloc "stats" at {{[0-9]+}} : <6x1x16xf32, pitch = 64>

// The stream starts before the first item: two of three stages are filled, each copy a batch. The third address is at hand.
// CHECK: %[[C0:.+]] = tile.stream %[[PLAN]]
// CHECK-NEXT: %[[A0:.+]] = tile.locate %[[KV]][%[[C0]]] : <paged, 576xf8E4M3FN> -> <1>
// CHECK-NEXT: %[[C1:.+]] = tile.advance %[[C0]] of %[[PLAN]]
// CHECK-NEXT: tile.copy %[[KV]] at %[[A0]] to %[[RING]][%c0_i32]
// CHECK-NEXT: tile.commit
// CHECK-NEXT: %[[A1:.+]] = tile.locate %[[KV]][%[[C1]]]
// CHECK-NEXT: %[[C2:.+]] = tile.advance %[[C1]] of %[[PLAN]]
// CHECK-NEXT: tile.copy %[[KV]] at %[[A1]] to %[[RING]][%c1_i32]
// CHECK-NEXT: tile.commit
// CHECK-NEXT: %[[A2:.+]] = tile.locate %[[KV]][%[[C2]]]
// CHECK-NEXT: %[[C3:.+]] = tile.advance %[[C2]] of %[[PLAN]]

// The first item's query is on the way; stream and query go from item to item.
// CHECK-NEXT: %[[FIRST:.+]] = tile.first_item %[[PLAN]]
// CHECK-NEXT: %[[FETCHED:.+]] = tile.fetch_query %[[Q]][%[[FIRST]]] : <ragged, 8x576xbf16> -> <24>
// CHECK-NEXT: %{{.+}}:4 = tile.items %[[PLAN]] carrying %c0_i32, %[[A2]], %[[C3]], %[[FETCHED]] :
// CHECK-NEXT: ^bb0(%[[ITEM:.+]]: !tile.item, %[[STAGE0:.+]]: i32, %[[AT0:.+]]: !tile.address<1>, %[[CURSOR0:.+]]: !tile.cursor, %[[PIECES:.+]]: !tile.pieces<24>):

// The query is there for all before the first tile; the sums start at 0, the references at -inf; a warp keeps
// those of its own rows.
// CHECK-NEXT: tile.store_query %[[PIECES]] of %[[ITEM]] : bf16 for f8E4M3FN to %[[QUERY]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[BEGIN:.+]], %[[END:.+]] = tile.range %[[ITEM]]
// CHECK-DAG: %[[ACC0:.+]] = tile.splat 0.000000e+00 : <accumulator, 128x16xf32>
// CHECK-DAG: %[[MAX0:.+]] = tile.splat 0xFF800000 : <stats, 1x8xf32>
// CHECK-DAG: %[[SUM0:.+]] = tile.splat 0.000000e+00 : <stats, 1x8xf32>
// CHECK: %[[R:.+]]:6 = scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step %{{.+}} iter_args(%[[ACC:.+]] = %[[ACC0]], %[[MAX:.+]] = %[[MAX0]], %[[SUM:.+]] = %[[SUM0]], %[[STAGE:.+]] = %[[STAGE0]], %[[AT:.+]] = %[[AT0]], %[[CURSOR:.+]] = %[[CURSOR0]])

// The tile has landed for the group, which has done with the stage behind it: that is refilled, be it for a later item.
// CHECK-NEXT: tile.wait 1
// CHECK-NEXT: tile.sync
// CHECK-DAG: %[[FIRST_STAGE:.+]] = arith.cmpi eq, %[[STAGE]], %c0_i32
// CHECK-DAG: %[[LOWER:.+]] = arith.addi %[[STAGE]], %c-1_i32
// CHECK: %[[BEHIND:.+]] = arith.select %[[FIRST_STAGE]], %c2_i32, %[[LOWER]]
// CHECK-NEXT: tile.copy %[[KV]] at %[[AT]] to %[[RING]][%[[BEHIND]]]
// CHECK-NEXT: tile.commit
// CHECK-NEXT: %[[AT2:.+]] = tile.locate %[[KV]][%[[CURSOR]]]
// CHECK-NEXT: %[[CURSOR2:.+]] = tile.advance %[[CURSOR]] of %[[PLAN]]

// Scores stay in registers; maxima, probabilities and shrink factors go to the group's other warps.
// CHECK-NEXT: %[[DOT:.+]] = tile.score %[[QUERY]], %[[RING]][%[[STAGE]]] {{.*}} -> <accumulator, 16x8xf32>
// CHECK-NEXT: %[[S:.+]] = tile.mask_scores causal %[[DOT]][%[[ITEM]], %[[I]]] scale
// CHECK-NEXT: tile.store_maxima %[[S]] to %[[MAXIMA]]
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[MAX2:.+]], %[[SUM2:.+]], %[[SHRINK:.+]] = tile.softmax %[[S]] to %[[PROBS]] stats %[[MAX]], %[[SUM]] with %[[MAXIMA]] {headroom = 8 : i64}
// CHECK-NEXT: tile.share_rows %[[SHRINK]] to %[[SHRINKS]]
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %[[ALL:.+]] = tile.all_rows %[[SHRINKS]] : <2x1x16xf32, pitch = 64> -> <stats, 1x16xf32>
// CHECK-NEXT: %[[SMALL:.+]] = tile.rescale %[[ACC]] by %[[ALL]]
// CHECK-NEXT: %[[ACC2:.+]] = tile.weigh %[[SMALL]], %[[PROBS]], %[[RING]][%[[STAGE]]] columns 64 + 512
// CHECK: %[[UP:.+]] = arith.addi %[[STAGE]], %c1_i32
// CHECK: %[[END_OF_RING:.+]] = arith.cmpi eq, %[[UP]], %c3_i32
// CHECK: %[[STAGE2:.+]] = arith.select %[[END_OF_RING]], %c0_i32, %[[UP]]
// CHECK-NEXT: scf.yield %[[ACC2]], %[[MAX2]], %[[SUM2]], %[[STAGE2]], %[[AT2]], %[[CURSOR2]] :

// Each group's statistics are read when all are written. The next item's fields are asked for before that, its query before
// this one's results are stored. The merge goes through the query, which the next item overwrites after the barrier.
// CHECK: %[[NEXT:.+]] = tile.next_item %[[ITEM]] of %[[PLAN]]
// CHECK-NEXT: tile.store_stats %[[R]]#1, %[[R]]#2 to %[[STATS]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[FACTOR:.+]] = tile.finish_rows %[[ITEM]], %[[PLAN]], %[[STATS]] times %{{.+}}, lse ln
// CHECK-NEXT: %[[AHEAD:.+]] = tile.fetch_query %[[Q]][%[[NEXT]]]
// CHECK-NEXT: %[[SHARE:.+]] = tile.rescale %[[R]]#0 by %[[FACTOR]]
// CHECK-NEXT: %[[MERGED:.+]] = tile.merge_groups %[[SHARE]] through %[[QUERY]]
// CHECK-NEXT: tile.store_result %[[ITEM]], %[[PLAN]], %[[MERGED]] from f8E4M3FN width 512
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.yield %[[R]]#3, %[[R]]#4, %[[R]]#5, %[[AHEAD]] :

// Copies of tiles that do not exist are waited for.
// CHECK: tile.wait 0
// CHECK-NEXT: tile.return
mla.kernel @decode(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> (!mla.buffer<ragged, 8x512xbf16>, !mla.lse<8, ln>) attributes {compute = f16, mla.hints = {rows = 16, tokens = 32, stages = 3, groups = 2, token_warps = 2, row_warps = 2}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %dot = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %s = mla.causal %dot : <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[64 : 576] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %lse = mla.logsumexp %s : <8> -> <8, ln>
  mla.return %o, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// A group of one warp needs no maxima of others, a single group no merge. Too large a share of the query a thread (72 registers)
// is fetched when its item begins.
// CHECK-LABEL: tile.kernel @one_warp(
// CHECK: %[[RING:.+]] = tile.alloc "kv" at 0 : <2x16x576xf8E4M3FN, pitch = 592>
// CHECK-NOT: tile.first_item
// CHECK: tile.items %{{.+}} carrying %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} : i32, !tile.address<1>, !tile.cursor {
// CHECK-NEXT: ^bb0(%[[ITEM:[a-z0-9]+]]: !tile.item,
// CHECK-NEXT: %[[PIECES:.+]] = tile.fetch_query %{{.+}}[%[[ITEM]]] : <ragged, 8x576xbf16> -> <72>
// CHECK-NEXT: tile.store_query %[[PIECES]] of %[[ITEM]]
// CHECK-NEXT: tile.barrier
// CHECK: scf.for
// CHECK-NEXT: tile.wait 0
// CHECK-NEXT: tile.sync
// CHECK: %[[S:.+]] = tile.mask_scores
// CHECK-NEXT: %{{.+}}, %{{.+}}, %[[SHRINK:.+]] = tile.softmax %[[S]] to %{{.+}} stats %{{[^ ]+}}, %{{[^ ]+}} {headroom = 8 : i64} : <accumulator, 16x8xf32> to <1x8x16xf16, pitch = 48> stats <stats, 1x8xf32>
// CHECK-NEXT: tile.sync
// CHECK-NEXT: %{{.+}} = tile.rescale %{{.+}} by %[[SHRINK]]
// CHECK-NEXT: %{{.+}} = tile.weigh
// CHECK-NOT: tile.sync
// CHECK-NOT: tile.next_item
// CHECK-NOT: tile.fetch_query
// CHECK: %[[ACC:.+]] = tile.rescale %{{.+}}#0 by
// CHECK-NEXT: tile.store_result %{{.+}}, %{{.+}}, %[[ACC]] from
mla.kernel @one_warp(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> (!mla.buffer<ragged, 8x512xbf16>, !mla.lse<8, ln>) attributes {compute = f16, mla.hints = {rows = 8, tokens = 16, stages = 2, groups = 1, token_warps = 1, row_warps = 1}} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %dot = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %s = mla.causal %dot : <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[64 : 576] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %lse = mla.logsumexp %s : <8> -> <8, ln>
  mla.return %o, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// A window, an edit and a sink go along; what the edit takes from outside stays outside the items.
// CHECK-LABEL: tile.kernel @edited(
// CHECK-SAME: %[[SINKS:[a-z0-9]+]]: !mla.head_values<8>
// CHECK: %[[INVERSE:.+]] = arith.divf
// CHECK: tile.items
// CHECK: tile.mask_scores causal window 9 %{{.+}}[%{{.+}}] scale %{{.+}} edit {
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %{{.+}}: i32, %{{.+}}: i32, %[[H:.+]]: i32):
// CHECK: mla.yield %{{.+}}
// CHECK: tile.finish_rows {{.*}}, lse ln %{{.+}} sink %[[SINKS]] :
mla.kernel @edited(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %x: f32, %sinks: !mla.head_values<8>)
    -> (!mla.buffer<ragged, 8x512xbf16>, !mla.lse<8, ln>) attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %dot = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %e = mla.edit(%dot) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %at = arith.sitofp %head : i32 to f32
    %part = arith.divf %at, %x : f32
    %sum = arith.addf %s, %part : f32
    mla.yield %sum
  } : !mla.scores<8> -> <8>
  %c = mla.causal %e : <8>
  %w = mla.window %c left 9 : <8>
  %k2 = mla.sink %w, %sinks : <8>, <8>
  %p = mla.softmax %k2 : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %lse = mla.logsumexp %w : <8> -> <8, ln>
  mla.return %o, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// Every op, type and attribute of the tile dialect, at both of its levels, prints what it parses.
// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s --mlir-print-op-generic | mla-opt | FileCheck %s

// Tiles as values: open sizes, a tile that reads as f16 while its bytes are e4m3.
// CHECK-LABEL: tile.kernel @values
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"}
// CHECK-SAME: %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN>, %[[S:[a-z0-9]+]]: f32
// CHECK-SAME: %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16>, %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4>
// CHECK-SAME: %[[PLAN:[a-z0-9]+]]: !tile.plan
// CHECK-SAME: attributes {compute = f16, heads = 8 : i64, hints = {stages = 2 : i64}}
tile.kernel @values(%q: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"}, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %s: f32,
                    %o: !mla.buffer<ragged, 8x512xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64, hints = {stages = 2 : i64}} {
  // CHECK: tile.items %[[PLAN]] {
  // CHECK-NEXT: ^bb0(%[[ITEM:.+]]: !tile.item):
  tile.items %plan {
  ^bb0(%item: !tile.item):
    // CHECK: %[[QUERY:.+]] = tile.query %[[Q]][%[[ITEM]]] : <ragged, 8x576xbf16> -> <?x576xf16>
    %query = tile.query %q[%item] : <ragged, 8x576xbf16> -> <?x576xf16>
    // CHECK: %[[BEGIN:.+]], %{{.+}} = tile.range %[[ITEM]]
    %begin, %end = tile.range %item
    // CHECK: %[[ZERO:.+]] = tile.fill 0.000000e+00 : <?x512xf32>
    %zero = tile.fill 0.0 : <?x512xf32>
    // CHECK: %[[LOW:.+]] = tile.fill 0xFF800000 : <?x1xf32>
    %low = tile.fill 0xFF800000 : <?x1xf32>
    // CHECK: %[[STORED:.+]] = tile.load %[[KV]][%[[ITEM]], %[[BEGIN]]] : <paged, 576xf8E4M3FN> -> <?x576xf8E4M3FN>
    %stored = tile.load %kv[%item, %begin] : <paged, 576xf8E4M3FN> -> <?x576xf8E4M3FN>
    // CHECK: tile.dequant %[[STORED]] : <?x576xf8E4M3FN> -> <?x576xf16>
    %wide = tile.dequant %stored : <?x576xf8E4M3FN> -> <?x576xf16>
    // CHECK: %[[KEY:.+]] = tile.load %[[KV]][%[[ITEM]], %[[BEGIN]]] : <paged, 576xf8E4M3FN> -> <?x576xf16 from f8E4M3FN>
    %key = tile.load %kv[%item, %begin] : <paged, 576xf8E4M3FN> -> <?x576xf16 from f8E4M3FN>
    // CHECK: %[[DOT:.+]] = tile.dot %[[QUERY]], %[[KEY]] : <?x576xf16>, <?x576xf16 from f8E4M3FN> -> <?x?xf32>
    %dot = tile.dot %query, %key : <?x576xf16>, <?x576xf16 from f8E4M3FN> -> <?x?xf32>
    // CHECK: %[[SCALED:.+]] = tile.scale %[[DOT]], %[[S]] : <?x?xf32>
    %scaled = tile.scale %dot, %s : <?x?xf32>
    // CHECK: tile.mask %[[SCALED]][%[[ITEM]], %[[BEGIN]]] : <?x?xf32>
    %all = tile.mask %scaled[%item, %begin] : <?x?xf32>
    // CHECK: %[[SCORES:.+]] = tile.mask causal %[[SCALED]][%[[ITEM]], %[[BEGIN]]] : <?x?xf32>
    %scores = tile.mask causal %scaled[%item, %begin] : <?x?xf32>
    // CHECK: tile.mask causal window 7 %[[SCALED]][%[[ITEM]], %[[BEGIN]]] edit {
    // CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %{{.+}}: i32, %{{.+}}: i32, %{{.+}}: i32):
    // CHECK-NEXT: %[[N:.+]] = arith.negf %[[X]] : f32
    // CHECK-NEXT: mla.yield %[[N]]
    // CHECK-NEXT: } : <?x?xf32>
    %edited = tile.mask causal window 7 %scaled[%item, %begin] edit {
    ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
      %n = arith.negf %x : f32
      mla.yield %n
    } : <?x?xf32>
    // CHECK: %[[P:.+]], %[[MAX:.+]], %[[SUM:.+]], %[[SHRINK:.+]] = tile.online_softmax %[[SCORES]], %[[LOW]], %[[LOW]]
    // CHECK-SAME: : (!tile.tile<?x?xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>) -> (!tile.tile<?x?xf16>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
    %p, %max, %sum, %shrink = tile.online_softmax %scores, %low, %low
        : (!tile.tile<?x?xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
       -> (!tile.tile<?x?xf16>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
    // CHECK: %[[V:.+]] = tile.slice %[[KEY]][0 : 512] : <?x576xf16 from f8E4M3FN> -> <?x512xf16 from f8E4M3FN>
    %v = tile.slice %key[0 : 512] : <?x576xf16 from f8E4M3FN> -> <?x512xf16 from f8E4M3FN>
    // CHECK: %[[ACC:.+]] = tile.accumulate %[[ZERO]], %[[SHRINK]], %[[P]], %[[V]]
    // CHECK-SAME: : !tile.tile<?x512xf32>, !tile.tile<?x1xf32>, !tile.tile<?x?xf16>, !tile.tile<?x512xf16 from f8E4M3FN> -> <?x512xf32>
    %acc = tile.accumulate %zero, %shrink, %p, %v
        : !tile.tile<?x512xf32>, !tile.tile<?x1xf32>, !tile.tile<?x?xf16>, !tile.tile<?x512xf16 from f8E4M3FN> -> <?x512xf32>
    // CHECK: tile.finish %[[ITEM]], %[[PLAN]], %[[ACC]], %[[MAX]], %[[SUM]], %[[S]] to %[[O]], lse ln %[[LSE]]
    // CHECK-SAME: : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>
    tile.finish %item, %plan, %acc, %max, %sum, %s to %o, lse ln %lse
        : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>
    // CHECK: tile.finish %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}}, %{{[^ ]+}} to %[[O]] : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
    tile.finish %item, %plan, %acc, %max, %sum, %s to %o
        : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
  }
  // CHECK: tile.return
  tile.return
}

// CHECK-LABEL: tile.kernel @combine
tile.kernel @combine(%o: !mla.buffer<ragged, 8x512xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64} {
  // CHECK: tile.combine %{{.+}} to %{{.+}}, lse ln %{{.+}} {rows = 8 : i64, threads = 128 : i64} : <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>
  tile.combine %plan to %o, lse ln %lse {rows = 8 : i64, threads = 128 : i64} : <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>
  // CHECK: tile.combine %{{[^ ]+}} to %{{[^ ]+}} {rows = 8 : i64, threads = 64 : i64} : <ragged, 8x512xbf16>
  tile.combine %plan to %o {rows = 8 : i64, threads = 64 : i64} : <ragged, 8x512xbf16>
  tile.return
}

// CHECK-LABEL: tile.kernel @merge
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16>, %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4>
tile.kernel @merge(%n: i32, %o: !mla.buffer<ragged, 8x512xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>)
    attributes {compute = f16, heads = 8 : i64} {
  // CHECK: tile.merge %[[N]] of(%[[O]], %[[O]]), lse(%[[LSE]], %[[LSE]]) to %[[O]], lse ln %[[LSE]] {threads = 128 : i64}
  // CHECK-SAME: : !mla.buffer<ragged, 8x512xbf16>, !mla.buffer<ragged, 8x512xbf16> lse !mla.buffer<ragged, 8x1xf32, align = 4>, !mla.buffer<ragged, 8x1xf32, align = 4> to <ragged, 8x512xbf16>, <ragged, 8x1xf32, align = 4>
  tile.merge %n of (%o, %o), lse (%lse, %lse) to %o, lse ln %lse {threads = 128 : i64}
      : !mla.buffer<ragged, 8x512xbf16>, !mla.buffer<ragged, 8x512xbf16> lse !mla.buffer<ragged, 8x1xf32, align = 4>, !mla.buffer<ragged, 8x1xf32, align = 4>
        to <ragged, 8x512xbf16>, <ragged, 8x1xf32, align = 4>
  tile.return
}

// The scheduled form: shared memory, asynchronous copies, barriers and fragments.
// CHECK-LABEL: tile.kernel @scheduled
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xbf16>, %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN>
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32, %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16>
// CHECK-SAME: %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4>, %[[PLAN:[a-z0-9]+]]: !tile.plan)
// CHECK-SAME: schedule = #tile.schedule<rows = 16, tokens = 64, stages = 2, groups = 2, tokenWarps = 2, rowWarps = 1>
tile.kernel @scheduled(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %s: f32,
                       %o: !mla.buffer<ragged, 8x512xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64,
                schedule = #tile.schedule<rows = 16, tokens = 64, stages = 2, groups = 2, tokenWarps = 2, rowWarps = 1>} {
  // CHECK: %[[RING:.+]] = tile.alloc "kv" at 0 : <4x64x576xf8E4M3FN, pitch = 592>
  %ring = tile.alloc "kv" at 0 : <4x64x576xf8E4M3FN, pitch = 592>
  // CHECK: %[[ROWS:.+]] = tile.alloc "query" at 151552 : <1x16x576xf16, pitch = 1168>
  %rows = tile.alloc "query" at 151552 : <1x16x576xf16, pitch = 1168>
  // CHECK: %[[PROBS:.+]] = tile.alloc "probs" at 170240 : <2x16x64xf16, pitch = 144>
  %probs = tile.alloc "probs" at 170240 : <2x16x64xf16, pitch = 144>
  // CHECK: %[[MAXIMA:.+]] = tile.alloc "maxima" at 174848 : <4x1x16xf32, pitch = 64>
  %maxima = tile.alloc "maxima" at 174848 : <4x1x16xf32, pitch = 64>
  // CHECK: %[[STATS:.+]] = tile.alloc "stats" at 175104 : <6x1x16xf32, pitch = 64>
  %stats = tile.alloc "stats" at 175104 : <6x1x16xf32, pitch = 64>
  // CHECK: %[[STAGE:.+]] = arith.constant 0 : i32
  %zero_stage = arith.constant 0 : i32
  // CHECK-NEXT: %[[FIRST:.+]] = tile.stream %[[PLAN]]
  %first = tile.stream %plan
  // CHECK-NEXT: %[[FIRST_ITEM:.+]] = tile.first_item %[[PLAN]]
  %first_item = tile.first_item %plan
  // CHECK-NEXT: %[[FETCHED:.+]] = tile.fetch_query %[[Q]][%[[FIRST_ITEM]]] : <ragged, 8x576xbf16> -> <40>
  %fetched = tile.fetch_query %q[%first_item] : <ragged, 8x576xbf16> -> <40>
  // CHECK-NEXT: %{{.+}}:3 = tile.items %[[PLAN]] carrying %[[STAGE]], %[[FIRST]], %[[FETCHED]] : i32, !tile.cursor, !tile.pieces<40> {
  // CHECK-NEXT: ^bb0(%[[ITEM:.+]]: !tile.item, %[[AT:.+]]: i32, %[[CURSOR:.+]]: !tile.cursor, %[[PIECES:.+]]: !tile.pieces<40>):
  %last:3 = tile.items %plan carrying %zero_stage, %first, %fetched : i32, !tile.cursor, !tile.pieces<40> {
  ^bb0(%item: !tile.item, %stage: i32, %cursor: !tile.cursor, %pieces: !tile.pieces<40>):
    // CHECK-NEXT: tile.store_query %[[PIECES]] of %[[ITEM]] : bf16 for f8E4M3FN to %[[ROWS]] : <40> to <1x16x576xf16, pitch = 1168>
    tile.store_query %pieces of %item : bf16 for f8E4M3FN to %rows : <40> to <1x16x576xf16, pitch = 1168>
    // CHECK-NEXT: %[[ADDRESS:.+]] = tile.locate %[[KV]][%[[CURSOR]]] : <paged, 576xf8E4M3FN> -> <2>
    %address = tile.locate %kv[%cursor] : <paged, 576xf8E4M3FN> -> <2>
    // CHECK-NEXT: %[[NEXT:.+]] = tile.advance %[[CURSOR]] of %[[PLAN]]
    %next = tile.advance %cursor of %plan
    // CHECK-NEXT: tile.copy %[[KV]] at %[[ADDRESS]] to %[[RING]][%[[AT]]] : <paged, 576xf8E4M3FN>, <2> to <4x64x576xf8E4M3FN, pitch = 592>
    tile.copy %kv at %address to %ring[%stage] : <paged, 576xf8E4M3FN>, <2> to <4x64x576xf8E4M3FN, pitch = 592>
    // CHECK-NEXT: tile.commit
    tile.commit
    // CHECK-NEXT: tile.wait 1
    tile.wait 1
    // CHECK-NEXT: tile.barrier
    tile.barrier
    // CHECK-NEXT: tile.sync
    tile.sync
    // CHECK-NEXT: %[[DOT:.+]] = tile.score %[[ROWS]], %[[RING]][%{{.+}}] : <1x16x576xf16, pitch = 1168>, <4x64x576xf8E4M3FN, pitch = 592> -> <accumulator, 32x16xf32>
    %dot = tile.score %rows, %ring[%stage] : <1x16x576xf16, pitch = 1168>, <4x64x576xf8E4M3FN, pitch = 592> -> <accumulator, 32x16xf32>
    // CHECK-NEXT: %[[SCORES:.+]] = tile.mask_scores causal %[[DOT]][%[[ITEM]], %{{.+}}] scale %[[S]] : <accumulator, 32x16xf32>
    %scores = tile.mask_scores causal %dot[%item, %stage] scale %s : <accumulator, 32x16xf32>
    // CHECK-NEXT: %{{.+}} = tile.mask_scores %[[DOT]][%[[ITEM]], %{{.+}}] scale %[[S]] : <accumulator, 32x16xf32>
    %all = tile.mask_scores %dot[%item, %stage] scale %s : <accumulator, 32x16xf32>
    // CHECK-NEXT: tile.mask_scores window 0 %[[DOT]][%[[ITEM]], %{{.+}}] scale %[[S]] edit {
    // CHECK-NEXT: ^bb0(%[[X:.+]]: f32, %{{.+}}: i32, %{{.+}}: i32, %{{.+}}: i32):
    // CHECK-NEXT: mla.yield %[[X]]
    // CHECK-NEXT: } : <accumulator, 32x16xf32>
    %edited = tile.mask_scores window 0 %dot[%item, %stage] scale %s edit {
    ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
      mla.yield %x
    } : <accumulator, 32x16xf32>
    // CHECK-NEXT: tile.store_maxima %[[SCORES]] to %[[MAXIMA]] : <accumulator, 32x16xf32> to <4x1x16xf32, pitch = 64>
    tile.store_maxima %scores to %maxima : <accumulator, 32x16xf32> to <4x1x16xf32, pitch = 64>
    // CHECK-NEXT: %[[LOW:.+]] = tile.splat 0xFF800000 : <stats, 1x16xf32>
    %low = tile.splat 0xFF800000 : <stats, 1x16xf32>
    // CHECK-NEXT: %[[NONE:.+]] = tile.splat 0.000000e+00 : <stats, 1x16xf32>
    %none = tile.splat 0.0 : <stats, 1x16xf32>
    // CHECK-NEXT: %[[MAX:.+]], %[[SUM:.+]], %[[SHRINK:.+]] = tile.softmax %[[SCORES]] to %[[PROBS]] stats %[[LOW]], %[[NONE]] with %[[MAXIMA]] : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32> with !tile.shared<4x1x16xf32, pitch = 64>
    %max, %sum, %shrink = tile.softmax %scores to %probs stats %low, %none with %maxima : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32> with !tile.shared<4x1x16xf32, pitch = 64>
    // CHECK-NEXT: %[[MAX2:.+]], %[[SUM2:.+]], %{{.+}} = tile.softmax %[[SCORES]] to %[[PROBS]] stats %[[MAX]], %[[SUM]] : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32>{{$}}
    %max2, %sum2, %shrink2 = tile.softmax %scores to %probs stats %max, %sum : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32>
    // CHECK-NEXT: %[[RECORDS:.+]] = tile.alloc "records" at 0 : <4x64x576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>, pitch = 656>
    %records = tile.alloc "records" at 0 : <4x64x576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>, pitch = 656>
    // CHECK-NEXT: %{{.+}} = tile.softmax %[[SCORES]] to %[[PROBS]] stats %[[MAX]], %[[SUM]] scales %[[RECORDS]][%{{.+}}] columns 0 + 256 : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32> scales !tile.shared<4x64x576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>, pitch = 656>
    %max3, %sum3, %shrink3 = tile.softmax %scores to %probs stats %max, %sum scales %records[%stage] columns 0 + 256 : <accumulator, 32x16xf32> to <2x16x64xf16, pitch = 144> stats <stats, 1x16xf32> scales !tile.shared<4x64x576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>, pitch = 656>
    // CHECK-NEXT: %[[ZERO:.+]] = tile.splat 0.000000e+00 : <accumulator, 256x16xf32>
    %zero = tile.splat 0.0 : <accumulator, 256x16xf32>
    // CHECK-NEXT: %[[SMALL:.+]] = tile.rescale %[[ZERO]] by %[[SHRINK]] : <accumulator, 256x16xf32> by <stats, 1x16xf32>
    %small = tile.rescale %zero by %shrink : <accumulator, 256x16xf32> by <stats, 1x16xf32>
    // CHECK-NEXT: %[[ACC:.+]] = tile.weigh %[[SMALL]], %[[PROBS]], %[[RING]][%{{.+}}] columns 64 + 512 : <accumulator, 256x16xf32>, <2x16x64xf16, pitch = 144>, <4x64x576xf8E4M3FN, pitch = 592>
    %acc = tile.weigh %small, %probs, %ring[%stage] columns 64 + 512 : <accumulator, 256x16xf32>, <2x16x64xf16, pitch = 144>, <4x64x576xf8E4M3FN, pitch = 592>
    // CHECK-NEXT: tile.store_stats %[[MAX2]], %[[SUM2]] to %[[STATS]] : <stats, 1x16xf32> to <6x1x16xf32, pitch = 64>
    tile.store_stats %max2, %sum2 to %stats : <stats, 1x16xf32> to <6x1x16xf32, pitch = 64>
    // CHECK-NEXT: %[[FACTOR:.+]] = tile.finish_rows %[[ITEM]], %[[PLAN]], %[[STATS]] times %[[S]], lse ln %[[LSE]] : <6x1x16xf32, pitch = 64>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x16xf32>
    %factor = tile.finish_rows %item, %plan, %stats times %s, lse ln %lse : <6x1x16xf32, pitch = 64>, !mla.buffer<ragged, 8x1xf32, align = 4> -> <stats, 1x16xf32>
    // CHECK-NEXT: %{{.+}} = tile.finish_rows %[[ITEM]], %[[PLAN]], %[[STATS]] times %[[S]] : <6x1x16xf32, pitch = 64> -> <stats, 1x16xf32>
    %factor2 = tile.finish_rows %item, %plan, %stats times %s : <6x1x16xf32, pitch = 64> -> <stats, 1x16xf32>
    // CHECK-NEXT: %[[MERGED:.+]] = tile.merge_groups %[[ACC]] through %[[ROWS]] : <accumulator, 256x16xf32> through <1x16x576xf16, pitch = 1168>
    %merged = tile.merge_groups %acc through %rows : <accumulator, 256x16xf32> through <1x16x576xf16, pitch = 1168>
    // CHECK-NEXT: tile.store_result %[[ITEM]], %[[PLAN]], %[[MERGED]] from f8E4M3FN width 512 to %[[O]] : <accumulator, 256x16xf32> to <ragged, 8x512xbf16>
    tile.store_result %item, %plan, %merged from f8E4M3FN width 512 to %o : <accumulator, 256x16xf32> to <ragged, 8x512xbf16>
    // CHECK-NEXT: %[[NEXT_ITEM:.+]] = tile.next_item %[[ITEM]] of %[[PLAN]]
    %next_item = tile.next_item %item of %plan
    // CHECK-NEXT: %[[AHEAD:.+]] = tile.fetch_query %[[Q]][%[[NEXT_ITEM]]] : <ragged, 8x576xbf16> -> <40>
    %ahead = tile.fetch_query %q[%next_item] : <ragged, 8x576xbf16> -> <40>
    // CHECK-NEXT: tile.yield %[[AT]], %[[NEXT]], %[[AHEAD]] : i32, !tile.cursor, !tile.pieces<40>
    tile.yield %stage, %next, %ahead : i32, !tile.cursor, !tile.pieces<40>
  }
  tile.return
}

// Sinks, counted in the log-sum-exp or not.
// CHECK-LABEL: tile.kernel @sinks
tile.kernel @sinks(%o: !mla.buffer<ragged, 8x512xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>,
                   %sinks: !mla.head_values<8>, %plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // CHECK: tile.combine %{{.+}} to %{{.+}}, lse ln %{{.+}} sink %{{.+}} {rows = 8 : i64, sink_in_lse, threads = 512 : i64} : <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4> sink !mla.head_values<8>
  tile.combine %plan to %o, lse ln %lse sink %sinks {rows = 8 : i64, sink_in_lse, threads = 512 : i64}
      : <ragged, 8x512xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4> sink !mla.head_values<8>
  // CHECK: tile.combine %{{.+}} to %{{.+}} sink %{{.+}} {rows = 8 : i64, threads = 512 : i64} : <ragged, 8x512xbf16> sink !mla.head_values<8>
  tile.combine %plan to %o sink %sinks {rows = 8 : i64, threads = 512 : i64} : <ragged, 8x512xbf16> sink !mla.head_values<8>
  tile.return
}

// CHECK-LABEL: tile.kernel @planner
// CHECK-SAME: (%[[KV:.+]]: !mla.buffer<paged, 576xf16>, %[[BATCH:.+]]: !tile.batch, %[[PLAN:.+]]: !tile.plan)
tile.kernel @planner(%kv: !mla.buffer<paged, 576xf16>, %batch: !tile.batch, %plan: !tile.plan) attributes {compute = f16, heads = 8 : i64} {
  // CHECK: tile.plan_batch %[[BATCH]] to %[[PLAN]] {rows = 8 : i64, threads = 256 : i64, tokens = 64 : i64}
  tile.plan_batch %batch to %plan {rows = 8 : i64, threads = 256 : i64, tokens = 64 : i64}
  // CHECK-NEXT: tile.plan_batch causal ragged %[[BATCH]] to %[[PLAN]] {rows = 8 : i64, threads = 256 : i64, tokens = 64 : i64}
  tile.plan_batch causal ragged %batch to %plan {rows = 8 : i64, threads = 256 : i64, tokens = 64 : i64}
  // CHECK-NEXT: tile.check_table %[[KV]], %[[BATCH]], %[[PLAN]] : <paged, 576xf16>
  tile.check_table %kv, %batch, %plan : <paged, 576xf16>
  tile.return
}

// Prefill: a schedule of its own family, and warps that own rows.
// CHECK-LABEL: tile.kernel @prefill_ops(
// CHECK-SAME: kv_heads = 4 : i64, prefill_schedule = #tile.prefill_schedule<rows = 64, tokens = 32, stages = 2, rowWarps = 2>
tile.kernel @prefill_ops(%q: !mla.buffer<ragged, 8x192xbf16>, %k: !mla.buffer<ragged, 4x192xf8E4M3FN>, %i: i32, %yes: i1, %s: f32,
                         %o: !mla.buffer<ragged, 8x128xbf16>, %lse: !mla.buffer<ragged, 8x1xf32, align = 4>, %plan: !tile.plan)
    attributes {compute = f16, heads = 8 : i64, kv_heads = 4 : i64,
                prefill_schedule = #tile.prefill_schedule<rows = 64, tokens = 32, stages = 2, rowWarps = 2>} {
  %keys = tile.alloc "keys" at 0 : <2x32x192xf8E4M3FN, pitch = 208>
  %values = tile.alloc "values" at 13312 : <1x32x128xf16, pitch = 272>
  %rows = tile.alloc "query" at 22016 : <1x64x192xf16, pitch = 400>
  tile.items %plan {
  ^bb0(%item: !tile.item):
    // CHECK: tile.load_query_rows %{{.+}}[%{{.+}}] for f8E4M3FN to %{{.+}} : <ragged, 8x192xbf16> to <1x64x192xf16, pitch = 400>{{$}}
    tile.load_query_rows %q[%item] for f8E4M3FN to %rows : <ragged, 8x192xbf16> to <1x64x192xf16, pitch = 400>
    // CHECK: tile.copy_rows %{{.+}}[%{{.+}}, %{{.+}}] to %{{.+}}[%{{.+}}] if %{{.+}} : <ragged, 4x192xf8E4M3FN> to <2x32x192xf8E4M3FN, pitch = 208>{{$}}
    tile.copy_rows %k[%item, %i] to %keys[%i] if %yes : <ragged, 4x192xf8E4M3FN> to <2x32x192xf8E4M3FN, pitch = 208>
    // CHECK: tile.score_rows %{{.+}}, %{{.+}}[%{{.+}}] : <1x64x192xf16, pitch = 400>, <2x32x192xf8E4M3FN, pitch = 208> -> <accumulator, 32x32xf32>{{$}}
    %dot = tile.score_rows %rows, %keys[%i] : <1x64x192xf16, pitch = 400>, <2x32x192xf8E4M3FN, pitch = 208> -> <accumulator, 32x32xf32>
    // CHECK: tile.mask_rows causal %{{.+}}[%{{.+}}, %{{.+}}] : <accumulator, 32x32xf32>{{$}}
    %scores = tile.mask_rows causal %dot[%item, %i] : <accumulator, 32x32xf32>
    // CHECK: tile.mask_rows %{{.+}}[%{{.+}}, %{{.+}}] : <accumulator, 32x32xf32>{{$}}
    %all = tile.mask_rows %dot[%item, %i] : <accumulator, 32x32xf32>
    // CHECK: tile.mask_rows window 7 %{{.+}}[%{{.+}}, %{{.+}}] scale %{{.+}} edit {
    // CHECK-NEXT: ^bb0(%[[SCORE:.+]]: f32, %{{.+}}: i32, %{{.+}}: i32, %{{.+}}: i32):
    // CHECK-NEXT: mla.yield %[[SCORE]]
    // CHECK-NEXT: } : <accumulator, 32x32xf32>{{$}}
    %edited = tile.mask_rows window 7 %dot[%item, %i] scale %s edit {
    ^bb0(%score: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
      mla.yield %score
    } : <accumulator, 32x32xf32>
    // CHECK: tile.splat 0xFF800000 : <row_stats, 32x1xf32>{{$}}
    %low = tile.splat 0xFF800000 : <row_stats, 32x1xf32>
    // CHECK: tile.softmax_rows %{{.+}} stats %{{.+}}, %{{.+}} scale %{{.+}} : <accumulator, 32x32xf32> stats <row_stats, 32x1xf32> -> <operand, 32x32xf16>{{$}}
    %probs, %max, %sum, %shrink = tile.softmax_rows %scores stats %low, %low scale %s : <accumulator, 32x32xf32> stats <row_stats, 32x1xf32> -> <operand, 32x32xf16>
    // CHECK: tile.splat 0.000000e+00 : <accumulator, 32x128xf32>{{$}}
    %zero = tile.splat 0.000000e+00 : <accumulator, 32x128xf32>
    // CHECK: tile.rescale_rows %{{.+}} by %{{.+}} : <accumulator, 32x128xf32> by <row_stats, 32x1xf32>{{$}}
    %small = tile.rescale_rows %zero by %shrink : <accumulator, 32x128xf32> by <row_stats, 32x1xf32>
    // CHECK: tile.weigh_rows %{{.+}}, %{{.+}}, %{{.+}}[%{{.+}}] : <accumulator, 32x128xf32>, <operand, 32x32xf16>, <1x32x128xf16, pitch = 272>{{$}}
    %acc = tile.weigh_rows %small, %probs, %values[%i] : <accumulator, 32x128xf32>, <operand, 32x32xf16>, <1x32x128xf16, pitch = 272>
    // CHECK: tile.store_rows %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} times %{{.+}} from f16 to %{{.+}}, lse ln %{{.+}} : <accumulator, 32x128xf32>, <row_stats, 32x1xf32> to <ragged, 8x128xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>{{$}}
    tile.store_rows %item, %acc, %max, %sum times %s from f16 to %o, lse ln %lse : <accumulator, 32x128xf32>, <row_stats, 32x1xf32> to <ragged, 8x128xbf16>, !mla.buffer<ragged, 8x1xf32, align = 4>
    // CHECK: tile.store_rows %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} times %{{.+}} from f16 to %{{.+}} : <accumulator, 32x128xf32>, <row_stats, 32x1xf32> to <ragged, 8x128xbf16>{{$}}
    tile.store_rows %item, %acc, %max, %sum times %s from f16 to %o : <accumulator, 32x128xf32>, <row_stats, 32x1xf32> to <ragged, 8x128xbf16>
  }
  tile.return
}

// Writers.
// CHECK-LABEL: tile.kernel @append
tile.kernel @append(%a: !mla.buffer<ragged, 64xf16>, %b: !mla.buffer<ragged, 16xbf16, align = 8>, %s: f32, %kv: !mla.buffer<paged, 80xi8>, %copy: !mla.buffer<paged, 64xf16>, %p: !tile.places)
    attributes {compute = f32, heads = 1 : i64} {
  // CHECK: tile.append %{{.+}}, %{{.+}} over %{{.+}} rounded to %{{.+}} at %{{.+}} {elements = 16 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xf16>, !mla.buffer<ragged, 16xbf16, align = 8> to <paged, 80xi8>{{$}}
  tile.append %a, %b over %s rounded to %kv at %p {elements = 16 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xf16>, !mla.buffer<ragged, 16xbf16, align = 8> to <paged, 80xi8>
  // CHECK: tile.append %{{.+}} to %{{.+}} at %{{.+}} {elements = 8 : i64, threads = 128 : i64} : !mla.buffer<ragged, 64xf16> to <paged, 64xf16>{{$}}
  tile.append %a to %copy at %p {elements = 8 : i64, threads = 128 : i64} : !mla.buffer<ragged, 64xf16> to <paged, 64xf16>
  tile.return
}

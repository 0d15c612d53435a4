// A scheduled kernel becomes copies into a ring of stages, two barriers a tile, and the next tile's scores beside this
// tile's values.
// RUN: mla-opt %s --mla-to-tile --tile-schedule --tile-pipeline --canonicalize 2>/dev/null | FileCheck %s

// CHECK-LABEL: tile.kernel @decode(
// CHECK: %[[RING:.+]] = tile.alloc "kv" at 0 : <3x32x576xf8E4M3FN, pitch = 592>
// CHECK: %[[PLANES:.+]] = tile.alloc "scores"
// CHECK: %[[PROBS:.+]] = tile.alloc "probs"
// CHECK: %[[FACTOR:.+]] = tile.alloc "row_factor"
// CHECK: tile.items
// CHECK: %[[QUERY:.+]] = tile.query_fragment {{.*}} for f8E4M3FN : <ragged, 8x576xbf16> -> <operand, 144x8xf16>
// CHECK: %[[BEGIN:.+]], %[[END:.+]] = tile.range

// Two of three stages are filled; each copy is a group, also one that copies nothing. The third address is at hand.
// CHECK: %[[A0:.+]] = tile.locate %{{.+}}[%{{.+}}, %[[BEGIN]]]
// CHECK: %[[HAS0:.+]] = arith.cmpi slt, %[[BEGIN]], %[[END]]
// CHECK: tile.copy %{{.+}} at %[[A0]] to %[[RING]][%c0_i32] if %[[HAS0]]
// CHECK-NEXT: tile.commit
// CHECK: %[[I1:.+]] = arith.addi %[[BEGIN]], %c1_i32
// CHECK: %[[A1:.+]] = tile.locate %{{.+}}[%{{.+}}, %[[I1]]]
// CHECK: %[[HAS1:.+]] = arith.cmpi slt, %[[I1]], %[[END]]
// CHECK: tile.copy %{{.+}} at %[[A1]] to %[[RING]][%c1_i32] if %[[HAS1]]
// CHECK-NEXT: tile.commit
// CHECK: %[[A2:.+]] = tile.locate
// CHECK-NOT: tile.copy

// The first tile has landed for every thread before it is scored.
// CHECK: tile.wait 1
// CHECK-NEXT: tile.barrier
// CHECK: scf.if %{{.+}} {
// CHECK-NEXT: %[[S0:.+]] = tile.score %[[QUERY]], %[[RING]][%c0_i32]
// CHECK-NEXT: tile.store_scores %[[S0]] to %[[PLANES]]
// CHECK: %[[R:.+]]:5 = scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}}, %[[MAX:.+]] = %{{.+}}, %[[SUM:.+]] = %{{.+}}, %[[AT:.+]] = %[[A2]], %[[STAGE:.+]] = %c0_i32)

// Before the second barrier: the softmax, and the refill of the stage that was read before the first.
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[MAX2:.+]], %[[SUM2:.+]] = tile.softmax causal %[[PLANES]] to %[[PROBS]], %[[FACTOR]]{{.*}} stats %[[MAX]], %[[SUM]]
// CHECK-DAG: %[[AHEAD:.+]] = arith.addi %[[I]], %c2_i32
// CHECK-DAG: %[[FIRST:.+]] = arith.cmpi eq, %[[STAGE]], %c0_i32
// CHECK-DAG: %[[LOWER:.+]] = arith.addi %[[STAGE]], %c-1_i32
// CHECK-DAG: %[[BEHIND:.+]] = arith.select %[[FIRST]], %c2_i32, %[[LOWER]]
// CHECK-DAG: %[[MORE:.+]] = arith.cmpi slt, %[[AHEAD]], %[[END]]
// CHECK: tile.copy %{{.+}} at %[[AT]] to %[[RING]][%[[BEHIND]]] if %[[MORE]]
// CHECK-NEXT: tile.commit
// CHECK: %[[NEXT:.+]] = arith.addi %[[I]], %c3_i32
// CHECK: %[[AT2:.+]] = tile.locate %{{.+}}[%{{.+}}, %[[NEXT]]]
// CHECK-NEXT: tile.wait 1
// CHECK-NEXT: tile.barrier

// After it: the next stage is scored, this one weighed.
// CHECK: %[[UP:.+]] = arith.addi %[[STAGE]], %c1_i32
// CHECK: %[[END_OF_RING:.+]] = arith.cmpi eq, %[[UP]], %c3_i32
// CHECK: %[[STAGE2:.+]] = arith.select %[[END_OF_RING]], %c0_i32, %[[UP]]
// CHECK: scf.if
// CHECK-NEXT: %[[S:.+]] = tile.score %[[QUERY]], %[[RING]][%[[STAGE2]]]
// CHECK-NEXT: tile.store_scores %[[S]] to %[[PLANES]]
// CHECK: %[[SMALL:.+]] = tile.rescale %[[ACC]] by %[[FACTOR]]
// CHECK-NEXT: %[[ACC2:.+]] = tile.weigh %[[SMALL]], %[[PROBS]], %[[RING]][%[[STAGE]]] columns 64 + 512
// CHECK: scf.yield %[[ACC2]], %[[MAX2]], %[[SUM2]], %[[AT2]], %{{.+}}

// The row factors overwrite the shrink factors only when all warps have read those, and are read when all are written.
// CHECK: tile.barrier
// CHECK-NEXT: tile.finish_rows %{{.+}}, %{{.+}} stats %[[R]]#1, %[[R]]#2, %{{.+}} to %[[FACTOR]], lse ln
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.store_result %{{.+}}, %{{.+}}, %[[R]]#0 by %[[FACTOR]] from f8E4M3FN width 512
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

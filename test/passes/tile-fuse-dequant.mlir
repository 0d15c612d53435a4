// Every conversion moves into the load of its tile, and key and value come from one load.
// RUN: mla-opt %s --tile-fuse-dequant | FileCheck %s
// RUN: mla-opt %s --tile-fuse-dequant | FileCheck %s --check-prefix=NONE

// No dequant is left, and nothing but a load makes a compute value out of a stored one.
// NONE-NOT: dequant
// NONE-NOT: mla.cast
// NONE-NOT: arith.extf

// Key and value each have their load and dequant, the value sliced before it is converted.
// CHECK-LABEL: tile.kernel @two_loads(
// CHECK: %[[TILE:.+]] = tile.load %{{.+}}[%{{.+}}, %{{.+}}] : <paged, 576xf8E4M3FN> -> <?x576xf16 from f8E4M3FN>
// CHECK-NOT: tile.load
// CHECK: tile.dot %{{.+}}, %[[TILE]] : <?x576xf16>, <?x576xf16 from f8E4M3FN> -> <?x?xf32>
// CHECK-NOT: tile.load
// CHECK: %[[V:.+]] = tile.slice %[[TILE]][0 : 512] : <?x576xf16 from f8E4M3FN> -> <?x512xf16 from f8E4M3FN>
// CHECK: tile.accumulate %{{.+}}, %{{.+}}, %{{.+}}, %[[V]] : {{.*}}, !tile.tile<?x512xf16 from f8E4M3FN> -> <?x512xf32>
// CHECK-NOT: tile.load
// CHECK: tile.return
tile.kernel @two_loads(%q: !mla.buffer<ragged, 8x576xbf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %f: f32,
                       %o: !mla.buffer<ragged, 8x512xbf16>, %plan: !tile.plan, %item: !tile.item, %i: i32,
                       %acc: !tile.tile<?x512xf32>, %stat: !tile.tile<?x1xf32>) attributes {compute = f16, heads = 8 : i64} {
  %query = tile.query %q[%item] : <ragged, 8x576xbf16> -> <?x576xf16>
  %k8 = tile.load %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <?x576xf8E4M3FN>
  %key = tile.dequant %k8 : <?x576xf8E4M3FN> -> <?x576xf16>
  %s = tile.dot %query, %key : <?x576xf16>, <?x576xf16> -> <?x?xf32>
  %p, %max, %sum, %shrink = tile.online_softmax %s, %stat, %stat
      : (!tile.tile<?x?xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
     -> (!tile.tile<?x?xf16>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
  %v8 = tile.load %kv[%item, %i] : <paged, 576xf8E4M3FN> -> <?x576xf8E4M3FN>
  %part = tile.slice %v8[0 : 512] : <?x576xf8E4M3FN> -> <?x512xf8E4M3FN>
  %v = tile.dequant %part : <?x512xf8E4M3FN> -> <?x512xf16>
  %next = tile.accumulate %acc, %shrink, %p, %v
      : !tile.tile<?x512xf32>, !tile.tile<?x1xf32>, !tile.tile<?x?xf16>, !tile.tile<?x512xf16> -> <?x512xf32>
  tile.finish %item, %plan, %next, %max, %sum, %f to %o : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
  tile.return
}

// Key and value of different tiles stay two loads; a slice of a converted tile takes its storage.
// CHECK-LABEL: tile.kernel @two_tiles(
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i32
// CHECK: tile.load %{{.+}}[%{{.+}}, %[[I]]] : <ragged, 576xf8E5M2> -> <?x576xf16 from f8E5M2>
// CHECK: %[[B:.+]] = tile.load %{{.+}}[%{{.+}}, %[[J]]] : <ragged, 576xf8E5M2> -> <?x576xf16 from f8E5M2>
// CHECK: tile.slice %[[B]][64 : 576] : <?x576xf16 from f8E5M2> -> <?x512xf16 from f8E5M2>
tile.kernel @two_tiles(%kv: !mla.buffer<ragged, 576xf8E5M2>, %f: f32, %o: !mla.buffer<ragged, 8x512xbf16>,
                       %plan: !tile.plan, %item: !tile.item, %i: i32, %j: i32, %query: !tile.tile<?x576xf16>,
                       %acc: !tile.tile<?x512xf32>, %stat: !tile.tile<?x1xf32>) attributes {compute = f16, heads = 8 : i64} {
  %k8 = tile.load %kv[%item, %i] : <ragged, 576xf8E5M2> -> <?x576xf8E5M2>
  %key = tile.dequant %k8 : <?x576xf8E5M2> -> <?x576xf16>
  %s = tile.dot %query, %key : <?x576xf16>, <?x576xf16> -> <?x?xf32>
  %p, %max, %sum, %shrink = tile.online_softmax %s, %stat, %stat
      : (!tile.tile<?x?xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
     -> (!tile.tile<?x?xf16>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>, !tile.tile<?x1xf32>)
  %v8 = tile.load %kv[%item, %j] : <ragged, 576xf8E5M2> -> <?x576xf8E5M2>
  %wide = tile.dequant %v8 : <?x576xf8E5M2> -> <?x576xf16>
  %v = tile.slice %wide[64 : 576] : <?x576xf16> -> <?x512xf16>
  %next = tile.accumulate %acc, %shrink, %p, %v
      : !tile.tile<?x512xf32>, !tile.tile<?x1xf32>, !tile.tile<?x?xf16>, !tile.tile<?x512xf16> -> <?x512xf32>
  tile.finish %item, %plan, %next, %max, %sum, %f to %o : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
  tile.return
}

// A kernel whose result is a cache becomes one entry point that appends; a thread takes as many elements as one access stores,
// fewer where a part of the row is no multiple. Factors of the scale stand in the manifest's order.
// RUN: mla-opt %s --mla-tile-writer | FileCheck %s

// CHECK-LABEL: tile.kernel @quantised(
// CHECK-SAME: %[[LATENT:[a-z0-9]+]]: !mla.buffer<ragged, 512xbf16> {mla.name = "latent"}
// CHECK-SAME: %[[ROPE:[a-z0-9]+]]: !mla.buffer<ragged, 64xbf16> {mla.name = "rope"}
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: f32 {mla.name = "s"}
// CHECK-SAME: %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}
// CHECK-SAME: %[[PLACES:[a-z0-9]+]]: !tile.places {mla.name = "places"}
// CHECK-SAME: mlac.writer = {cache = "kv", constant = 5.000000e-01 : f64, elements = 16 : i64, parts = ["latent", "rope"], rounded = true, scalars = ["s"]}
// CHECK: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[DIVISOR:.+]] = arith.mulf %[[HALF]], %[[SCALE]] : f32
// CHECK: tile.append %[[LATENT]], %[[ROPE]] over %[[DIVISOR]] rounded to %[[KV]] at %[[PLACES]] {elements = 16 : i64, threads = 256 : i64}
// CHECK-NEXT: tile.return
mla.kernel @quantised(%latent: !mla.buffer<ragged, 512xbf16> {mla.name = "latent"}, %rope: !mla.buffer<ragged, 64xbf16> {mla.name = "rope"}, %s: f32 {mla.name = "s"})
    -> (!mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}) attributes {compute = f32} {
  %half = arith.constant 0.5 : f32
  %scale = arith.mulf %s, %half : f32
  %row = mla.concat %latent, %rope : !mla.buffer<ragged, 512xbf16>, !mla.buffer<ragged, 64xbf16> -> <576xbf16>
  %numbers = mla.divide %row, %scale : !mla.rows<576xbf16> -> <576xf32>
  %stored = mla.quant %numbers : !mla.rows<576xf32> -> <576xf8E4M3FN>
  mla.return %stored : !mla.rows<576xf8E4M3FN>
}

// CHECK-LABEL: tile.kernel @copied(
// CHECK-SAME: rounded = false
// CHECK: tile.append %{{.+}} to %{{.+}} at %{{.+}} {elements = 8 : i64, threads = 256 : i64}
mla.kernel @copied(%row: !mla.buffer<ragged, 576xbf16> {mla.name = "row"}) -> (!mla.buffer<paged, 576xbf16> {mla.name = "kv"}) attributes {compute = f32} {
  %rows = mla.slice %row[0 : 576] : !mla.buffer<ragged, 576xbf16> -> <576xbf16>
  mla.return %rows : !mla.rows<576xbf16>
}

// CHECK-LABEL: tile.kernel @narrow(
// CHECK-NOT: arith
// CHECK: tile.append %{{.+}}, %{{.+}} rounded to %{{.+}} at %{{.+}} {elements = 4 : i64, threads = 256 : i64}
mla.kernel @narrow(%a: !mla.buffer<ragged, 16xf16> {mla.name = "a"}, %b: !mla.buffer<ragged, 12xbf16> {mla.name = "b"})
    -> (!mla.buffer<paged, 28xf16> {mla.name = "kv"}) attributes {compute = f32} {
  %row = mla.concat %a, %b : !mla.buffer<ragged, 16xf16>, !mla.buffer<ragged, 12xbf16> -> <28xf32>
  %stored = mla.quant %row : !mla.rows<28xf32> -> <28xf16>
  mla.return %stored : !mla.rows<28xf16>
}

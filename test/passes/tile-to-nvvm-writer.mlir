// Writers: 16 bytes an access, packed conversions, 64-bit offsets, and no store without a place.
// RUN: mla-opt %s --tile-to-nvvm --canonicalize --cse | FileCheck %s

// A chunk of 16 elements: two loads, eight conversions, one store, under the condition that the row has a place.
// CHECK-LABEL: llvm.func @quantised(
// CHECK-COUNT-2: llvm.load %{{.+}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: %[[PLACE:.+]]:2 = scf.if
// CHECK: arith.cmpi ult, %{{.+}}, %{{.+}} : i64
// CHECK: %[[THERE:.+]] = arith.cmpi sgt, %[[PLACE]]#0, %c-1_i32 : i32
// CHECK: scf.if %[[THERE]] {
// CHECK-COUNT-16: arith.divf
// CHECK-COUNT-8: "llvm.nvvm.ff.to.e4m3x2.rn"
// CHECK: arith.extsi %[[PLACE]]#0 : i32 to i64
// CHECK: llvm.store %{{.+}}, %{{.+}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
// CHECK: llvm.return
tile.kernel @quantised(%a: !mla.buffer<ragged, 512xbf16> {mla.name = "a"}, %b: !mla.buffer<ragged, 64xbf16> {mla.name = "b"}, %s: f32 {mla.name = "s"}, %kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %p: !tile.places {mla.name = "places"})
    attributes {compute = f32, heads = 1 : i64} {
  tile.append %a, %b over %s rounded to %kv at %p {elements = 16 : i64, threads = 256 : i64} : !mla.buffer<ragged, 512xbf16>, !mla.buffer<ragged, 64xbf16> to <paged, 576xf8E4M3FN>
  tile.return
}

// Copied bits are not converted; a pool of lesser alignment is written in smaller pieces.
// CHECK-LABEL: llvm.func @copied(
// CHECK-NOT: arith.divf
// CHECK-NOT: nvvm.ff2
// CHECK-COUNT-2: llvm.store %{{.+}}, %{{.+}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store
tile.kernel @copied(%a: !mla.buffer<ragged, 512xbf16> {mla.name = "a"}, %kv: !mla.buffer<paged, 512xbf16, align = 8> {mla.name = "kv"}, %p: !tile.places {mla.name = "places"})
    attributes {compute = f32, heads = 1 : i64} {
  tile.append %a to %kv at %p {elements = 8 : i64, threads = 128 : i64} : !mla.buffer<ragged, 512xbf16> to <paged, 512xbf16, align = 8>
  tile.return
}

// 16-bit storage saturates, NaN passes through the bounds.
// CHECK-LABEL: llvm.func @bounded(
// CHECK: arith.minimumf %{{.+}}, %cst{{.*}} : f32
// CHECK: arith.maximumf
// CHECK: "llvm.nvvm.ff2f16x2.rn"
tile.kernel @bounded(%a: !mla.buffer<ragged, 64xbf16> {mla.name = "a"}, %kv: !mla.buffer<paged, 64xf16> {mla.name = "kv"}, %p: !tile.places {mla.name = "places"})
    attributes {compute = f32, heads = 1 : i64} {
  tile.append %a rounded to %kv at %p {elements = 8 : i64, threads = 256 : i64} : !mla.buffer<ragged, 64xbf16> to <paged, 64xf16>
  tile.return
}

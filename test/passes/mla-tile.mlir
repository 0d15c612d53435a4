// Attention becomes a loop over KV tiles that reads each cached row once, and a combine of split rows.
// RUN: mla-opt %s --mla-tile | FileCheck %s

// CHECK-LABEL: tile.kernel @decode(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"}, %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32 {mla.name = "s"}, %[[SM:[a-z0-9]+]]: f32 {mla.name = "sm"}
// CHECK-SAME: %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4> {mla.name = "lse"}
// CHECK-SAME: %[[PLAN:[a-z0-9]+]]: !tile.plan {mla.name = "plan"})
// CHECK-SAME: attributes {compute = f16, heads = 8 : i64, hints = {stages = 2 : i64}, mlac.info = {
// CHECK-SAME: cache = "kv", causal = true, lse = "ln", qk_dim = 576 : i64, query = "q"
// CHECK-SAME: score_scale = {constant = 1.000000e+00 : f64, scalars = ["sm", "s"]}
// CHECK-SAME: v_dim = 512 : i64, v_offset = 0 : i64, value_scale = {constant = 1.000000e+00 : f64, scalars = ["s"]}}
mla.kernel @decode(%q: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"},
                   %kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %s: f32 {mla.name = "s"}, %sm: f32 {mla.name = "sm"})
    -> (!mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, !mla.lse<8, ln> {mla.name = "lse"})
    attributes {compute = f16, mla.hints = {stages = 2 : i64}} {
  // Scores are kept in base-2 units: log2(e) is multiplied in once.
  // CHECK: %[[LOG2E:.+]] = arith.constant 1.44269502 : f32
  // CHECK: %[[SM2:.+]] = arith.mulf %[[LOG2E]], %[[SM]] : f32
  // CHECK: %[[SCALE:.+]] = arith.mulf %[[SM2]], %[[S]] : f32
  // CHECK: %[[ONE:.+]] = arith.constant 1.000000e+00 : f32
  // CHECK: %[[FACTOR:.+]] = arith.mulf %[[ONE]], %[[S]] : f32
  // CHECK: tile.items %[[PLAN]] {
  // CHECK-NEXT: ^bb0(%[[ITEM:.+]]: !tile.item):
  // CHECK-NEXT: %[[QUERY:.+]] = tile.query %[[Q]][%[[ITEM]]] : <ragged, 8x576xbf16> -> <?x576xf16>
  // CHECK-NEXT: %[[BEGIN:.+]], %[[END:.+]] = tile.range %[[ITEM]]
  // CHECK-NEXT: %[[ZERO:.+]] = tile.fill 0.000000e+00 : <?x512xf32>
  // CHECK-NEXT: %[[LOW:.+]] = tile.fill 0xFF800000 : <?x1xf32>
  // CHECK-NEXT: %[[NONE:.+]] = tile.fill 0.000000e+00 : <?x1xf32>
  // CHECK: %[[R:.+]]:3 = scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step %{{.+}} iter_args(%[[ACC:.+]] = %[[ZERO]], %[[MAX:.+]] = %[[LOW]], %[[SUM:.+]] = %[[NONE]])
  // CHECK-NEXT: %[[TILE:.+]] = tile.load %[[KV]][%[[ITEM]], %[[I]]] : <paged, 576xf8E4M3FN> -> <?x576xf8E4M3FN>
  // CHECK-NEXT: %[[KEY:.+]] = tile.dequant %[[TILE]] : <?x576xf8E4M3FN> -> <?x576xf16>
  // CHECK-NEXT: %[[DOT:.+]] = tile.dot %[[QUERY]], %[[KEY]]
  // CHECK-NEXT: %[[SCALED:.+]] = tile.scale %[[DOT]], %[[SCALE]]
  // CHECK-NEXT: %[[SCORES:.+]] = tile.mask causal %[[SCALED]][%[[ITEM]], %[[I]]]
  // CHECK-NEXT: %[[P:.+]], %[[MAX2:.+]], %[[SUM2:.+]], %[[SHRINK:.+]] = tile.online_softmax %[[SCORES]], %[[MAX]], %[[SUM]] {{.*}} -> (!tile.tile<?x?xf16>
  // CHECK-NEXT: %[[V:.+]] = tile.slice %[[KEY]][0 : 512]
  // CHECK-NEXT: %[[NEXT:.+]] = tile.accumulate %[[ACC]], %[[SHRINK]], %[[P]], %[[V]]
  // CHECK-NEXT: scf.yield %[[NEXT]], %[[MAX2]], %[[SUM2]]
  // CHECK: tile.finish %[[ITEM]], %[[PLAN]], %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[FACTOR]] to %[[O]], lse ln %[[LSE]]
  // CHECK: tile.return
  %raw = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %dot = mla.dot %q, %raw : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %sdot = mla.scale %dot, %s : !mla.scores<8>
  %scaled = mla.scale %sdot, %sm : !mla.scores<8>
  %scores = mla.causal %scaled : <8>
  %p = mla.softmax %scores : <8> -> <8>
  %v = mla.slice %raw[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %os = mla.scale %o, %s : !mla.rows<8x512xf32>
  %lse = mla.logsumexp %scores : <8> -> <8, ln>
  mla.return %os, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// CHECK-LABEL: tile.kernel @decode_combine(
// CHECK-SAME: %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4> {mla.name = "lse"}, %[[PLAN:[a-z0-9]+]]: !tile.plan
// CHECK-NEXT: tile.combine %[[PLAN]] to %[[O]], lse ln %[[LSE]] {rows = 0 : i64, threads = 512 : i64}

// Results of several calls are merged in the base that they have.
// CHECK-LABEL: tile.kernel @decode_merge(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32 {mla.name = "states"}, %[[OUT0:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16> {mla.name = "state0.out"}, %[[LSE0:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4> {mla.name = "state0.lse"}
// CHECK-SAME: %[[O:[a-z0-9]+]]: !mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, %[[LSE:[a-z0-9]+]]: !mla.buffer<ragged, 8x1xf32, align = 4> {mla.name = "lse"})
// CHECK-NEXT: tile.merge %[[N]] of(%[[OUT0]], {{.*}}), lse(%[[LSE0]], {{.*}}) to %[[O]], lse ln %[[LSE]] {threads = 128 : i64}

// Storage that is the compute type needs no dequant; the rope part may come first; no mask, no log-sum-exp, a number
// among the factors.
// CHECK-LABEL: tile.kernel @plain(
// CHECK-SAME: heads = 16 : i64, mlac.info = {cache = "kv", causal = false, lse = "none", qk_dim = 576 : i64
// CHECK-SAME: score_scale = {constant = 2.500000e-01 : f64, scalars = ["sm"]}, v_dim = 512 : i64, v_offset = 64 : i64
// CHECK-SAME: value_scale = {constant = 1.000000e+00 : f64, scalars = []}
// CHECK-NOT: tile.dequant
// CHECK: %[[TILE:.+]] = tile.load
// CHECK-NEXT: tile.dot %{{.+}}, %[[TILE]] : <?x576xbf16>, <?x576xbf16> -> <?x?xf32>
// CHECK: tile.mask %{{.+}}[
// CHECK: %[[V:.+]] = tile.slice %[[TILE]][64 : 576]
// CHECK: tile.accumulate %{{.+}}, %{{.+}}, %{{.+}}, %[[V]]
// CHECK: tile.finish
// CHECK-NOT: lse
// CHECK: tile.kernel @plain_combine(
// CHECK-NEXT: tile.combine %{{[^ ]+}} to %{{[^ ]+}} {
// CHECK-NOT: @plain_merge
mla.kernel @plain(%q: !mla.buffer<ragged, 16x576xbf16> {mla.name = "q"}, %kv: !mla.buffer<paged, 576xbf16> {mla.name = "kv"},
                  %sm: f32 {mla.name = "sm"})
    -> (!mla.buffer<ragged, 16x512xf32> {mla.name = "o"}) attributes {compute = bf16} {
  %quarter = arith.constant 0.25 : f32
  %factor = arith.mulf %sm, %quarter : f32
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 16x576xbf16>, !mla.buffer<paged, 576xbf16> -> <16>
  %scaled = mla.scale %dot, %factor : !mla.scores<16>
  %p = mla.softmax %scaled : <16> -> <16>
  %v = mla.slice %kv[64 : 576] : !mla.buffer<paged, 576xbf16> -> <512xbf16>
  %o = mla.attend %p, %v : <16>, !mla.rows<512xbf16> -> <16x512xf32>
  mla.return %o : !mla.rows<16x512xf32>
}

// Slices of slices add up; a row that is all value needs none.
// CHECK-LABEL: tile.kernel @nested(
// CHECK: tile.slice %{{.+}}[64 : 320]
// CHECK-LABEL: tile.kernel @whole(
// CHECK-NOT: tile.slice
// CHECK: tile.accumulate {{.*}}!tile.tile<?x512xf16> -> <?x512xf32>
// CHECK-LABEL: tile.kernel @whole_combine(
mla.kernel @nested(%q: !mla.buffer<ragged, 8x320xf16>, %kv: !mla.buffer<paged, 320xf16>)
    -> !mla.buffer<ragged, 8x256xbf16> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x320xf16>, !mla.buffer<paged, 320xf16> -> <8>
  %p = mla.softmax %dot : <8> -> <8>
  %a = mla.slice %kv[16 : 320] : !mla.buffer<paged, 320xf16> -> <304xf16>
  %b = mla.slice %a[48 : 304] : !mla.rows<304xf16> -> <256xf16>
  %o = mla.attend %p, %b : <8>, !mla.rows<256xf16> -> <8x256xf32>
  mla.return %o : !mla.rows<8x256xf32>
}
mla.kernel @whole(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %dot : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

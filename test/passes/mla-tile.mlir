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
// CHECK-SAME: v_dim = 512 : i64, v_offset = 0 : i64, value = "kv", value_scale = {constant = 1.000000e+00 : f64, scalars = ["s"]}}
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

// An edit comes to base 2 where that costs nothing a score: into the scale before it, into the slopes; what is the same
// for all scores stands before the items. The description is in the program's own units.
// CHECK-LABEL: tile.kernel @edited(
// CHECK-SAME: %[[SM:[a-z0-9]+]]: f32 {mla.name = "sm"}, %[[SLOPES:[a-z0-9]+]]: !mla.head_values<8> {mla.name = "slopes"}, %[[SINKS:[a-z0-9]+]]: !mla.head_values<8> {mla.name = "sinks"}
// CHECK-SAME: causal = true
// CHECK-SAME: score_edit = {keep = "%2", steps = ["float kv_pos", "mul $slopes %0", "lt kv_pos q_pos", "add score %1"], value = "%3"}
// CHECK-SAME: sink = "sinks", sink_in_lse = true
// CHECK-SAME: window = 7 : i64
// CHECK: %[[LOG2E:.+]] = arith.constant 1.44269502 : f32
// CHECK: %[[SCALE:.+]] = arith.mulf %{{.+}}, %[[LOG2E]]
// CHECK: tile.items
// CHECK: %[[SCALED:.+]] = tile.scale %{{.+}}, %[[SCALE]]
// CHECK-NEXT: tile.mask causal window 7 %[[SCALED]][%{{.+}}] edit {
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %[[Q:.+]]: i32, %[[KV:.+]]: i32, %{{.+}}: i32):
// CHECK-NEXT: %[[SLOPE:.+]] = mla.head_value %[[SLOPES]]
// CHECK-NEXT: %[[SLOPE2:.+]] = arith.mulf %[[SLOPE]], %[[LOG2E]]
// CHECK-NEXT: %[[KVF:.+]] = arith.sitofp %[[KV]]
// CHECK-NEXT: %[[BIAS:.+]] = arith.mulf %[[SLOPE2]], %[[KVF]]
// CHECK-NEXT: %[[NEAR:.+]] = arith.cmpi slt, %[[KV]], %[[Q]]
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[S]], %[[BIAS]]
// CHECK-NEXT: mla.yield %[[SUM]] keep %[[NEAR]]
// CHECK: tile.finish {{.*}} sink %[[SINKS]] {sink_in_lse}
// CHECK-LABEL: tile.kernel @edited_combine(
// CHECK-SAME: %[[SINKS:[a-z0-9]+]]: !mla.head_values<8> {mla.name = "sinks"}
// CHECK: tile.combine {{.*}} sink %[[SINKS]] {rows = 0 : i64, sink_in_lse
mla.kernel @edited(%q: !mla.buffer<ragged, 8x512xf16> {mla.name = "q"}, %kv: !mla.buffer<paged, 512xf16> {mla.name = "kv"},
                   %sm: f32 {mla.name = "sm"}, %slopes: !mla.head_values<8> {mla.name = "slopes"},
                   %sinks: !mla.head_values<8> {mla.name = "sinks"})
    -> (!mla.buffer<ragged, 8x512xf16> {mla.name = "o"}, !mla.lse<8, ln> {mla.name = "lse"}) attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %scaled = mla.scale %dot, %sm : !mla.scores<8>
  %e = mla.edit(%scaled) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %slope = mla.head_value %slopes : <8>
    %at = arith.sitofp %kv_pos : i32 to f32
    %bias = arith.mulf %slope, %at : f32
    %near = arith.cmpi slt, %kv_pos, %q_pos : i32
    %sum = arith.addf %s, %bias : f32
    mla.yield %sum keep %near
  } : !mla.scores<8> -> <8>
  %m = mla.causal %e : <8>
  %w = mla.window %m left 7 : <8>
  %k = mla.sink %w, %sinks : <8>, <8>
  %p = mla.softmax %k : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  %lse = mla.logsumexp %k : <8> -> <8, ln>
  mla.return %o, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// A soft cap takes five instructions a score: a product, 2^x, a sum, a reciprocal, a fused product and sum. The
// log-sum-exp may leave the sink out.
// CHECK-LABEL: tile.kernel @capped(
// CHECK-SAME: sink_in_lse = false
// CHECK: edit {
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32,
// CHECK-NEXT: %[[POWER:.+]] = math.exp2 %[[S]]
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[POWER]], %{{.+}}
// CHECK-NEXT: %[[INVERSE:.+]] = arith.divf %{{.+}}, %[[SUM]]
// CHECK-NEXT: %[[PRODUCT:.+]] = arith.mulf %[[INVERSE]], %{{.+}}
// CHECK-NEXT: %[[RESULT:.+]] = arith.addf %{{.+}}, %{{.+}}
// CHECK-NEXT: mla.yield %[[RESULT]]
// CHECK: tile.finish {{.*}} sink %{{[a-z0-9]+}} :
mla.kernel @capped(%q: !mla.buffer<ragged, 8x512xf16> {mla.name = "q"}, %kv: !mla.buffer<paged, 512xf16> {mla.name = "kv"},
                   %cap: f32 {mla.name = "cap"}, %sinks: !mla.head_values<8> {mla.name = "sinks"})
    -> (!mla.buffer<ragged, 8x512xf16> {mla.name = "o"}, !mla.lse<8, ln> {mla.name = "lse"}) attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %e = mla.edit(%dot) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %x = arith.divf %s, %cap : f32
    %t = math.tanh %x : f32
    %r = arith.mulf %t, %cap : f32
    mla.yield %r
  } : !mla.scores<8> -> <8>
  %k = mla.sink %e, %sinks : <8>, <8>
  %p = mla.softmax %k : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  %lse = mla.logsumexp %e : <8> -> <8, ln>
  mla.return %o, %lse : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// Keys and values of two buffers: two loads a step, each converted on its own, as many KV heads as they have, and no combine.
// CHECK-LABEL: tile.kernel @prefill(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 4x64xbf16> {mla.name = "q"}, %[[K:[a-z0-9]+]]: !mla.buffer<ragged, 2x64xf8E4M3FN> {mla.name = "k"}
// CHECK-SAME: %[[V:[a-z0-9]+]]: !mla.buffer<ragged, 2x32xbf16> {mla.name = "v"}
// CHECK-SAME: heads = 4 : i64, kv_heads = 2 : i64, mlac.info = {cache = "k"
// CHECK-SAME: v_dim = 32 : i64, v_offset = 0 : i64, value = "v"
// CHECK: tile.query %[[Q]][%[[ITEM:.*]]] : <ragged, 4x64xbf16> -> <?x64xf16>
// CHECK: scf.for
// CHECK: %[[KT:.*]] = tile.load %[[K]][%[[ITEM]], %{{.*}}] : <ragged, 2x64xf8E4M3FN> -> <?x64xf8E4M3FN>
// CHECK: tile.dequant %[[KT]]
// CHECK: tile.mask causal
// CHECK: %[[VT:.*]] = tile.load %[[V]][%[[ITEM]], %{{.*}}] : <ragged, 2x32xbf16> -> <?x32xbf16>
// CHECK: %[[VALUE:.*]] = tile.dequant %[[VT]]
// CHECK-NOT: tile.slice
// CHECK: tile.accumulate {{.*}}, %[[VALUE]] :
// CHECK-NOT: @prefill_combine
// CHECK: tile.kernel @prefill_merge(
mla.kernel @prefill(%q: !mla.buffer<ragged, 4x64xbf16> {mla.name = "q"}, %k: !mla.buffer<ragged, 2x64xf8E4M3FN> {mla.name = "k"},
                    %v: !mla.buffer<ragged, 2x32xbf16> {mla.name = "v"})
    -> (!mla.buffer<ragged, 4x32xbf16> {mla.name = "o"}, !mla.lse<4, log2> {mla.name = "lse"}) attributes {compute = f16} {
  %kr = mla.dequant %k : <ragged, 2x64xf8E4M3FN> -> <2x64xf16>
  %vr = mla.dequant %v : <ragged, 2x32xbf16> -> <2x32xf16>
  %s = mla.dot %q, %kr : !mla.buffer<ragged, 4x64xbf16>, !mla.rows<2x64xf16> -> <4>
  %m = mla.causal %s : <4>
  %p = mla.softmax %m : <4> -> <4>
  %o = mla.attend %p, %vr : <4>, !mla.rows<2x32xf16> -> <4x32xf32>
  %l = mla.logsumexp %m : <4> -> <4, log2>
  mla.return %o, %l : !mla.rows<4x32xf32>, !mla.lse<4, log2>
}

// What is computed on scores becomes one edit between the product's scale and the masks, wherever the masks stood.
// RUN: mla-opt %s --mla-fuse-edits | FileCheck %s

// Scales before the first edit stay scales; a mask and a scale between edits do not part them; of two windows the
// narrower counts.
// CHECK-LABEL: mla.kernel @chain
// CHECK-SAME: %[[SM:[a-z0-9]+]]: f32, %[[X:[a-z0-9]+]]: f32)
// CHECK: %[[DOT:.+]] = mla.dot
// CHECK-NEXT: %[[SCALED:.+]] = mla.scale %[[DOT]], %[[SM]]
// CHECK-NEXT: %[[EDIT:.+]] = mla.edit(%[[SCALED]]) {
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %[[Q:.+]]: i32, %[[KV:.+]]: i32, %{{.+}}: i32):
// CHECK-NEXT: %[[A:.+]] = math.tanh %[[S]]
// CHECK-NEXT: %[[B:.+]] = arith.mulf %[[A]], %[[X]]
// CHECK-NEXT: %[[NEAR:.+]] = arith.cmpi slt, %[[KV]], %[[Q]]
// CHECK-NEXT: %[[C:.+]] = arith.negf %[[B]]
// CHECK-NEXT: mla.yield %[[C]] keep %[[NEAR]]
// CHECK: %[[CAUSAL:.+]] = mla.causal %[[EDIT]]
// CHECK-NEXT: %[[WINDOW:.+]] = mla.window %[[CAUSAL]] left 10
// CHECK-NEXT: mla.softmax %[[WINDOW]]
// CHECK: mla.logsumexp %[[WINDOW]]
mla.kernel @chain(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %sm: f32, %x: f32) -> !mla.lse<8, ln>
    attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %w1 = mla.window %dot left 10 : <8>
  %scaled = mla.scale %w1, %sm : !mla.scores<8>
  %a = mla.edit(%scaled) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %t = math.tanh %s : f32
    mla.yield %t
  } : !mla.scores<8> -> <8>
  %b = mla.scale %a, %x : !mla.scores<8>
  %m = mla.causal %b : <8>
  %w2 = mla.window %m left 20 : <8>
  %c = mla.edit(%w2) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %near = arith.cmpi slt, %kv_pos, %q_pos : i32
    %n = arith.negf %s : f32
    mla.yield %n keep %near
  } : !mla.scores<8> -> <8>
  %p = mla.softmax %c : <8> -> <8>
  %lse = mla.logsumexp %c : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

// An edit of scores and of what was computed from them; conditions of both hold.
// CHECK-LABEL: mla.kernel @diamond
// CHECK: %[[DOT:.+]] = mla.dot
// CHECK-NEXT: mla.edit(%[[DOT]]) {
// CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %[[Q:.+]]: i32, %[[KV:.+]]: i32, %[[H:.+]]: i32):
// CHECK-NEXT: %[[ONE:.+]] = arith.cmpi slt, %[[KV]], %[[Q]]
// CHECK-NEXT: %[[TWICE:.+]] = arith.addf %[[S]], %[[S]]
// CHECK-NEXT: %[[OTHER:.+]] = arith.cmpi slt, %[[H]], %[[KV]]
// CHECK-NEXT: %[[BOTH:.+]] = arith.andi %[[ONE]], %[[OTHER]]
// CHECK-NEXT: mla.yield %[[TWICE]] keep %[[BOTH]]
// CHECK-NOT: mla.edit
mla.kernel @diamond(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>) -> !mla.lse<8, ln> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %a = mla.edit(%dot) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %near = arith.cmpi slt, %kv_pos, %q_pos : i32
    mla.yield %s keep %near
  } : !mla.scores<8> -> <8>
  %b = mla.edit(%a, %dot) {
  ^bb0(%s: f32, %t: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %sum = arith.addf %s, %t : f32
    %other = arith.cmpi slt, %head, %kv_pos : i32
    mla.yield %sum keep %other
  } : !mla.scores<8>, !mla.scores<8> -> <8>
  %lse = mla.logsumexp %b : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

// Scores below a sink; without an edit there is none afterwards.
// CHECK-LABEL: mla.kernel @sunk
// CHECK: %[[DOT:.+]] = mla.dot
// CHECK-NEXT: %[[SCALED:.+]] = mla.scale %[[DOT]]
// CHECK-NEXT: %[[CAUSAL:.+]] = mla.causal %[[SCALED]]
// CHECK-NEXT: %[[SINK:.+]] = mla.sink %[[CAUSAL]]
// CHECK-NEXT: mla.softmax %[[SINK]]
mla.kernel @sunk(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %sm: f32, %sinks: !mla.head_values<8>) -> !mla.lse<8, ln>
    attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %m = mla.causal %dot : <8>
  %scaled = mla.scale %m, %sm : !mla.scores<8>
  %k = mla.sink %scaled, %sinks : <8>, <8>
  %p = mla.softmax %k : <8> -> <8>
  %lse = mla.logsumexp %k : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

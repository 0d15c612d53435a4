// Every op and type of the mla dialect prints what it parses, in its own and in the generic form.
// RUN: mla-opt %s | mla-opt | FileCheck %s
// RUN: mla-opt %s --mlir-print-op-generic | mla-opt | FileCheck %s

// CHECK-LABEL: mla.kernel @fp8_cache
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"}
// CHECK-SAME: %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32 {mla.name = "s"}
// CHECK-SAME: -> (!mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, !mla.lse<8, log2> {mla.name = "lse"})
// CHECK-SAME: attributes {compute = f16, mla.hints = {rows = 8 : i64}}
mla.kernel @fp8_cache(%q: !mla.buffer<ragged, 8x576xbf16> {mla.name = "q"},
                      %kv: !mla.buffer<paged, 576xf8E4M3FN> {mla.name = "kv"}, %s: f32 {mla.name = "s"})
    -> (!mla.buffer<ragged, 8x512xbf16> {mla.name = "o"}, !mla.lse<8, log2> {mla.name = "lse"})
    attributes {compute = f16, mla.hints = {rows = 8 : i64}} {
  // CHECK: %[[K:.+]] = mla.dequant %[[KV]] : <paged, 576xf8E4M3FN> -> <576xf16>
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  // CHECK: %[[KS:.+]] = mla.scale %[[K]], %[[S]] : !mla.rows<576xf16>
  %ks = mla.scale %k, %s : !mla.rows<576xf16>
  // CHECK: %[[DOT:.+]] = mla.dot %[[Q]], %[[KS]] : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  %dot = mla.dot %q, %ks : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xf16> -> <8>
  // CHECK: %[[SCALED:.+]] = mla.scale %[[DOT]], %[[S]] : !mla.scores<8>
  %scaled = mla.scale %dot, %s : !mla.scores<8>
  // CHECK: %[[SCORES:.+]] = mla.causal %[[SCALED]] : <8>
  %scores = mla.causal %scaled : <8>
  // CHECK: %[[PROBS:.+]] = mla.softmax %[[SCORES]] : <8> -> <8>
  %probs = mla.softmax %scores : <8> -> <8>
  // CHECK: %[[V:.+]] = mla.slice %[[KS]][0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %v = mla.slice %ks[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  // CHECK: %[[OUT:.+]] = mla.attend %[[PROBS]], %[[V]] : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %out = mla.attend %probs, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  // CHECK: %[[LSE:.+]] = mla.logsumexp %[[SCORES]] : <8> -> <8, log2>
  %lse = mla.logsumexp %scores : <8> -> <8, log2>
  // CHECK: mla.return %[[OUT]], %[[LSE]] : !mla.rows<8x512xf32>, !mla.lse<8, log2>
  mla.return %out, %lse : !mla.rows<8x512xf32>, !mla.lse<8, log2>
}

// Every storage type, alignment and layout; a log-sum-exp with base e; 16 bytes of alignment go without saying.
// CHECK-LABEL: mla.kernel @types
// CHECK-SAME: !mla.buffer<paged, 576xf8E5M2>, %{{.+}}: !mla.buffer<ragged, 512xf16, align = 8>,
// CHECK-SAME: !mla.buffer<paged, 4x128xf32, align = 4>, %{{.+}}: !mla.buffer<paged, 576xbf16>) -> !mla.lse<4, ln>
mla.kernel @types(%a: !mla.buffer<paged, 576xf8E5M2>, %b: !mla.buffer<ragged, 512xf16, align = 8>,
                  %c: !mla.buffer<paged, 4x128xf32, align = 4>, %d: !mla.buffer<paged, 576xbf16, align = 16>)
    -> !mla.lse<4, ln> attributes {compute = bf16} {
  // CHECK: mla.cast %{{.+}} : !mla.buffer<paged, 576xf8E5M2> -> <576xf16>
  %half = mla.cast %a : !mla.buffer<paged, 576xf8E5M2> -> <576xf16>
  // CHECK: mla.cast %{{.+}} : !mla.rows<576xf16> -> <576xbf16>
  %rows = mla.cast %half : !mla.rows<576xf16> -> <576xbf16>
  // CHECK: mla.slice %{{.+}}[448 : 576] : !mla.buffer<paged, 576xbf16> -> <128xbf16>
  %key = mla.slice %d[448 : 576] : !mla.buffer<paged, 576xbf16> -> <128xbf16>
  // CHECK: mla.slice %{{.+}}[0 : 64] : !mla.buffer<paged, 4x128xf32, align = 4> -> <4x64xf32>
  %narrow = mla.slice %c[0 : 64] : !mla.buffer<paged, 4x128xf32, align = 4> -> <4x64xf32>
  %dot = mla.dot %c, %key : !mla.buffer<paged, 4x128xf32, align = 4>, !mla.rows<128xbf16> -> <4>
  // CHECK: mla.logsumexp %{{.+}} : <4> -> <4, ln>
  %lse = mla.logsumexp %dot : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// Windows, edits of one and of several scores, sinks.
// CHECK-LABEL: mla.kernel @scores
// CHECK-SAME: %[[SLOPES:[a-z0-9]+]]: !mla.head_values<4>, %[[SINKS:[a-z0-9]+]]: !mla.head_values<4>, %[[X:[a-z0-9]+]]: f32)
mla.kernel @scores(%q: !mla.buffer<ragged, 4x128xf16>, %kv: !mla.buffer<paged, 128xf16>, %slopes: !mla.head_values<4>,
                   %sinks: !mla.head_values<4>, %x: f32) -> !mla.lse<4, ln> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 4x128xf16>, !mla.buffer<paged, 128xf16> -> <4>
  // CHECK: %[[W:.+]] = mla.window %{{.+}} left 127 : <4>
  %w = mla.window %dot left 127 : <4>
  // CHECK: %[[E:.+]] = mla.edit(%[[W]]) {
  // CHECK-NEXT: ^bb0(%[[S:.+]]: f32, %{{.+}}: i32, %{{.+}}: i32, %{{.+}}: i32):
  // CHECK-NEXT: %[[SLOPE:.+]] = mla.head_value %[[SLOPES]] : <4>
  // CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[S]], %[[SLOPE]] : f32
  // CHECK-NEXT: mla.yield %[[SUM]]
  // CHECK-NEXT: } : !mla.scores<4> -> <4>
  %e = mla.edit(%w) {
  ^bb0(%s: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %slope = mla.head_value %slopes : <4>
    %sum = arith.addf %s, %slope : f32
    mla.yield %sum
  } : !mla.scores<4> -> <4>
  // CHECK: %[[TWO:.+]] = mla.edit(%[[E]], %[[W]]) {
  // CHECK: mla.yield %{{.+}} keep %{{.+}}
  // CHECK-NEXT: } : !mla.scores<4>, !mla.scores<4> -> <4>
  %two = mla.edit(%e, %w) {
  ^bb0(%a: f32, %b: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    %product = arith.mulf %a, %x : f32
    %near = arith.cmpi slt, %kv_pos, %q_pos : i32
    mla.yield %product keep %near
  } : !mla.scores<4>, !mla.scores<4> -> <4>
  // CHECK: mla.sink %[[TWO]], %[[SINKS]] : <4>, <4>
  %sunk = mla.sink %two, %sinks : <4>, <4>
  %lse = mla.logsumexp %sunk : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// Writers.
// CHECK-LABEL: mla.kernel @append
mla.kernel @append(%a: !mla.buffer<ragged, 64xf16>, %b: !mla.buffer<ragged, 16xf16>, %s: f32) -> !mla.buffer<paged, 80xi8>
    attributes {compute = f32} {
  // CHECK: mla.concat %{{.+}}, %{{.+}} : !mla.buffer<ragged, 64xf16>, !mla.buffer<ragged, 16xf16> -> <80xf16>
  %row = mla.concat %a, %b : !mla.buffer<ragged, 64xf16>, !mla.buffer<ragged, 16xf16> -> <80xf16>
  // CHECK: mla.divide %{{.+}}, %{{.+}} : !mla.rows<80xf16> -> <80xf32>
  %quotient = mla.divide %row, %s : !mla.rows<80xf16> -> <80xf32>
  // CHECK: mla.quant %{{.+}} : !mla.rows<80xf32> -> <80xi8>
  %stored = mla.quant %quotient : !mla.rows<80xf32> -> <80xi8>
  mla.return %stored : !mla.rows<80xi8>
}

// Records: parts in memory order, with scales of every format.
// CHECK-LABEL: mla.kernel @records
// CHECK-SAME: !mla.buffer<paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>>
// CHECK-SAME: !mla.buffer<ragged, 64x!mla.record<<"a" : i8[64] scaled pow2 per 64>>, align = 4>
// CHECK-SAME: !mla.buffer<paged, 528x!mla.record<<"a" : bf16[16]>, <"b" : f8E5M2[512] scaled ue8m0 per 32, apart>>>
mla.kernel @records(
    %a: !mla.buffer<paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>>,
    %b: !mla.buffer<ragged, 64x!mla.record<<"a" : i8[64] scaled pow2 per 64>>, align = 4>,
    %c: !mla.buffer<paged, 528x!mla.record<<"a" : bf16[16]>, <"b" : f8E5M2[512] scaled ue8m0 per 32, apart>>>) attributes {compute = f16} {
  // CHECK: mla.dequant %{{.+}} : <paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>> -> <576xf16>
  %k = mla.dequant %a : <paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>> -> <576xf16>
  mla.return
}

// Scales of cached rows become factors of the scores and of the result: no element is multiplied by its scale.
// RUN: mla-opt %s --mla-infer-scales | FileCheck %s

// One scale on the latent row that key and value share.
// CHECK-LABEL: mla.kernel @latent
// CHECK-SAME: %[[Q:[a-z0-9]+]]: !mla.buffer<ragged, 8x576xf16>, %[[KV:[a-z0-9]+]]: !mla.buffer<paged, 576xf8E4M3FN>, %[[S:[a-z0-9]+]]: f32, %[[SM:[a-z0-9]+]]: f32
// CHECK-NOT: mla.scale {{.*}}!mla.rows<576
// CHECK-NOT: mla.scale {{.*}}!mla.rows<512
// CHECK: %[[K:.+]] = mla.dequant %[[KV]]
// CHECK: %[[DOT:.+]] = mla.dot %[[Q]], %[[K]]
// CHECK: %[[KS:.+]] = mla.scale %[[DOT]], %[[S]] : !mla.scores<8>
// CHECK: %[[SCORES:.+]] = mla.scale %[[KS]], %[[SM]] : !mla.scores<8>
// CHECK: %[[P:.+]] = mla.softmax %[[SCORES]]
// CHECK: %[[V:.+]] = mla.slice %[[K]][0 : 512]
// CHECK: %[[O:.+]] = mla.attend %[[P]], %[[V]]
// CHECK: %[[OS:.+]] = mla.scale %[[O]], %[[S]] : !mla.rows<8x512xf32>
// CHECK: mla.return %[[OS]]
// CHECK-NOT: mla.scale
mla.kernel @latent(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>, %s: f32, %sm: f32)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %raw = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %k = mla.scale %raw, %s : !mla.rows<576xf16>
  %dot = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<576xf16> -> <8>
  %scores = mla.scale %dot, %sm : !mla.scores<8>
  %p = mla.softmax %scores : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// A scale of the value alone stays out of the scores; two scales on one row both move.
// CHECK-LABEL: mla.kernel @value_only
// CHECK-SAME: %{{.+}}: f32, %[[A:[a-z0-9]+]]: f32, %[[B:[a-z0-9]+]]: f32)
// CHECK-NOT: mla.scale {{.*}}!mla.scores
// CHECK: %[[O:.+]] = mla.attend
// CHECK-DAG: mla.scale %{{.+}}, %[[A]] : !mla.rows<8x512xf32>
// CHECK-DAG: mla.scale %{{.+}}, %[[B]] : !mla.rows<8x512xf32>
// CHECK: mla.return
mla.kernel @value_only(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %unused: f32, %a: f32, %b: f32)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %dot : <8> -> <8>
  %raw = mla.slice %kv[0 : 512] : !mla.buffer<paged, 512xf16> -> <512xf16>
  %va = mla.scale %raw, %a : !mla.rows<512xf16>
  %vb = mla.scale %va, %b : !mla.rows<512xf16>
  %o = mla.attend %p, %vb : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// The mask comes last: hidden scores stay -inf whatever the factor.
// CHECK-LABEL: mla.kernel @masked
// CHECK: %[[DOT:.+]] = mla.dot
// CHECK-NEXT: %[[SCALED:.+]] = mla.scale %[[DOT]]
// CHECK-NEXT: %[[MASKED:.+]] = mla.causal %[[SCALED]]
// CHECK-NEXT: mla.logsumexp %[[MASKED]]
mla.kernel @masked(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %s: f32)
    -> !mla.lse<8, ln> attributes {compute = f16} {
  %dot = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %masked = mla.causal %dot : <8>
  %scaled = mla.scale %masked, %s : !mla.scores<8>
  %lse = mla.logsumexp %scaled : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

// A scale on the query's rows moves as the key's does.
// CHECK-LABEL: mla.kernel @query
// CHECK: %[[DOT:.+]] = mla.dot %{{.+}}, %{{.+}} : !mla.rows<8x512xf16>
// CHECK-NEXT: mla.scale %[[DOT]], %{{.+}} : !mla.scores<8>
mla.kernel @query(%q: !mla.rows<8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %s: f32)
    -> !mla.lse<8, ln> attributes {compute = f16} {
  %qs = mla.scale %q, %s : !mla.rows<8x512xf16>
  %dot = mla.dot %qs, %kv : !mla.rows<8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %lse = mla.logsumexp %dot : <8> -> <8, ln>
  mla.return %lse : !mla.lse<8, ln>
}

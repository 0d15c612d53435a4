// Kernels that are no attention, and widths that no tile covers, are errors that say what is allowed.
// RUN: mla-opt %s --mla-tile -split-input-file -verify-diagnostics

// expected-error@+1 {{a kernel has one output and at most one log-sum-exp; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> !mla.lse<8, ln> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %l = mla.logsumexp %s : <8> -> <8, ln>
  mla.return %l : !mla.lse<8, ln>
}

// -----

// expected-error@+1 {{a kernel has one output and at most one log-sum-exp; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> (!mla.buffer<ragged, 8x512xf16>, !mla.buffer<ragged, 8x512xf16>) attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o, %o : !mla.rows<8x512xf32>, !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%o: !mla.rows<8x512xf32>) -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  // expected-error@+1 {{a result is not softmax(scores) @ value; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%kv: !mla.buffer<paged, 512xf16>, %p: !mla.probs<8>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  // expected-error@+1 {{the probabilities are not a softmax; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%kv: !mla.buffer<paged, 512xf16>, %s: !mla.scores<8>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  // expected-error@+1 {{the scores are not a dot product, scaled, edited and masked once; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// Masked twice.
mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %m = mla.causal %s : <8>
  %mm = mla.causal %m : <8>
  // expected-error@+1 {{the scores are not a dot product, scaled, edited and masked once; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %p = mla.softmax %mm : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %part = mla.slice %q[0 : 512] : !mla.buffer<ragged, 8x512xf16> -> <8x512xf16>
  // expected-error@+1 {{the query is not a whole buffer; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %s = mla.dot %part, %kv : !mla.rows<8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %k = mla.slice %kv[64 : 576] : !mla.buffer<paged, 576xf16> -> <512xf16>
  // expected-error@+1 {{the key is not the whole cached row; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x512xf16>, !mla.rows<512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %k : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %k: !mla.rows<512xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  // expected-error@+1 {{the cached rows are not a slice of a cache; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x512xf16>, !mla.rows<512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %k : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// A scale that mla-infer-scales has not moved yet.
mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %x: f32)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 512xf16> -> <512xf16>
  %vs = mla.scale %v, %x : !mla.rows<512xf16>
  // expected-error@+1 {{the cached rows are not a slice of a cache; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %o = mla.attend %p, %vs : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{key and value of two buffers have as many heads, which divide the query's 8 [kv-heads]}}
mla.kernel @"kv-heads"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %other: !mla.buffer<paged, 512xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %other : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %l: !mla.lse<8, ln>)
    -> (!mla.buffer<ragged, 8x512xf16>, !mla.lse<8, ln>) attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  // expected-error@+1 {{a log-sum-exp result is not logsumexp(scores); a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  mla.return %o, %l : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>)
    -> (!mla.buffer<ragged, 8x512xf16>, !mla.lse<8, ln>) attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  %m = mla.causal %s : <8>
  %p = mla.softmax %m : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  // expected-error@+1 {{softmax and logsumexp read different scores; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %l = mla.logsumexp %s : <8> -> <8, ln>
  mla.return %o, %l : !mla.rows<8x512xf32>, !mla.lse<8, ln>
}

// -----

// expected-error@+1 {{no tile covers a value 500 wide; a multiple of 64 from 64 to 512 [latent-width]}}
mla.kernel @"latent-width"(%q: !mla.buffer<ragged, 8x500xf16>, %kv: !mla.buffer<paged, 500xf16>)
    -> !mla.buffer<ragged, 8x500xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x500xf16>, !mla.buffer<paged, 500xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 500] : !mla.buffer<paged, 500xf16> -> <500xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<500xf16> -> <8x500xf32>
  mla.return %o : !mla.rows<8x500xf32>
}

// -----

// expected-error@+1 {{no tile covers a value 32 wide; a multiple of 64 from 64 to 512 [latent-width]}}
mla.kernel @"latent-width"(%q: !mla.buffer<ragged, 8x32xf16>, %kv: !mla.buffer<paged, 32xf16>)
    -> !mla.buffer<ragged, 8x32xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x32xf16>, !mla.buffer<paged, 32xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 32] : !mla.buffer<paged, 32xf16> -> <32xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<32xf16> -> <8x32xf32>
  mla.return %o : !mla.rows<8x32xf32>
}

// -----

// expected-error@+1 {{no tile covers a value 576 wide; a multiple of 64 from 64 to 512 [latent-width]}}
mla.kernel @"latent-width"(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x576xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x576xf16>, !mla.buffer<paged, 576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 576] : !mla.buffer<paged, 576xf16> -> <576xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<576xf16> -> <8x576xf32>
  mla.return %o : !mla.rows<8x576xf32>
}

// -----

// expected-error@+1 {{the key is 8 wider than the value; 0, 16, 32 or 64 [rope-width]}}
mla.kernel @"rope-width"(%q: !mla.buffer<ragged, 8x520xf16>, %kv: !mla.buffer<paged, 520xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x520xf16>, !mla.buffer<paged, 520xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 520xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{the key is 48 wider than the value; 0, 16, 32 or 64 [rope-width]}}
mla.kernel @"rope-width"(%q: !mla.buffer<ragged, 8x560xf16>, %kv: !mla.buffer<paged, 560xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x560xf16>, !mla.buffer<paged, 560xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 560xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{the key is 128 wider than the value; 0, 16, 32 or 64 [rope-width]}}
mla.kernel @"rope-width"(%q: !mla.buffer<ragged, 8x640xf16>, %kv: !mla.buffer<paged, 640xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x640xf16>, !mla.buffer<paged, 640xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 640xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{the value starts at column 8; a multiple of 16 [value-offset]}}
mla.kernel @"value-offset"(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x576xf16>, !mla.buffer<paged, 576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[8 : 520] : !mla.buffer<paged, 576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{129 heads; 1 to 128 [heads-range]}}
mla.kernel @"heads-range"(%q: !mla.buffer<ragged, 129x576xf16>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 129x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 129x576xf16>, !mla.buffer<paged, 576xf16> -> <129>
  %p = mla.softmax %s : <129> -> <129>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <129>, !mla.rows<512xf16> -> <129x512xf32>
  mla.return %o : !mla.rows<129x512xf32>
}

// -----

// expected-error@+1 {{the query is stored as 'f8E4M3FN'; f16 or bf16 [query-storage]}}
mla.kernel @"query-storage"(%q: !mla.buffer<ragged, 8x576xf8E4M3FN>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x576xf8E4M3FN>, !mla.buffer<paged, 576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{the query is stored as 'f32'; f16 or bf16 [query-storage]}}
mla.kernel @"query-storage"(%q: !mla.buffer<ragged, 8x576xf32>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x576xf32>, !mla.buffer<paged, 576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

// expected-error@+1 {{the output is stored as 'f8E4M3FN'; f16, bf16 or f32 [output-storage]}}
mla.kernel @"output-storage"(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf16>)
    -> !mla.buffer<ragged, 8x512xf8E4M3FN> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x576xf16>, !mla.buffer<paged, 576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"scale-form"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %x: f32)
    -> !mla.buffer<ragged, 8x512xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x512xf16>, !mla.buffer<paged, 512xf16> -> <8>
  // expected-error@+1 {{a scale is a product of scalars and numbers [scale-form]}}
  %xx = arith.addf %x, %x : f32
  %scaled = mla.scale %s, %xx : !mla.scores<8>
  %p = mla.softmax %scaled : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return %o : !mla.rows<8x512xf32>
}

//===-- Prefill: key and value of two buffers ---===//

// -----

// expected-error@+1 {{key and value of two buffers have as many heads, which divide the query's 8 [kv-heads]}}
mla.kernel @"kv-heads"(%q: !mla.buffer<ragged, 8x64xf16>, %k: !mla.buffer<ragged, 4x64xf16>, %v: !mla.buffer<ragged, 2x64xf16>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x64xf16>, !mla.buffer<ragged, 4x64xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %v : <8>, !mla.buffer<ragged, 2x64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

// expected-error@+1 {{key and value of two buffers are ragged [kv-layout]}}
mla.kernel @"kv-layout"(%q: !mla.buffer<ragged, 8x64xf16>, %k: !mla.buffer<ragged, 4x64xf16>, %v: !mla.buffer<paged, 4x64xf16>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x64xf16>, !mla.buffer<ragged, 4x64xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %v : <8>, !mla.buffer<paged, 4x64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

// expected-error@+1 {{no tile covers a key 72 wide; a multiple of 16 from 16 to 256 [prefill-width]}}
mla.kernel @"prefill-width"(%q: !mla.buffer<ragged, 8x72xf16>, %k: !mla.buffer<ragged, 4x72xf16>, %v: !mla.buffer<ragged, 4x64xf16>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x72xf16>, !mla.buffer<ragged, 4x72xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %v : <8>, !mla.buffer<ragged, 4x64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

// expected-error@+1 {{no tile covers a value 272 wide; a multiple of 16 from 16 to 256 [prefill-width]}}
mla.kernel @"prefill-width"(%q: !mla.buffer<ragged, 8x64xf16>, %k: !mla.buffer<ragged, 4x64xf16>, %v: !mla.buffer<ragged, 4x272xf16>)
    -> !mla.buffer<ragged, 8x272xf16> attributes {compute = f16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x64xf16>, !mla.buffer<ragged, 4x64xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %v : <8>, !mla.buffer<ragged, 4x272xf16> -> <8x272xf32>
  mla.return %o : !mla.rows<8x272xf32>
}

// -----

// expected-error@+1 {{the row that is key and value has heads; a latent row is shared by all heads [latent-heads]}}
mla.kernel @"latent-heads"(%q: !mla.buffer<ragged, 8x64xf16>, %kv: !mla.buffer<ragged, 8x64xf16>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %s = mla.dot %q, %kv : !mla.buffer<ragged, 8x64xf16>, !mla.buffer<ragged, 8x64xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %kv : <8>, !mla.buffer<ragged, 8x64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

mla.kernel @"attention-form"(%q: !mla.buffer<ragged, 8x64xf16>, %k: !mla.buffer<ragged, 8x64xf16>, %v: !mla.buffer<ragged, 8x128xf16>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x64xf16>, !mla.buffer<ragged, 8x64xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %c = mla.slice %v[0 : 64] : !mla.buffer<ragged, 8x128xf16> -> <8x64xf16>
  // expected-error@+1 {{the value is not the whole row of its buffer; a kernel computes softmax(scores) @ value and logsumexp(scores) of one query, one key and one value [attention-form]}}
  %o = mla.attend %p, %c : <8>, !mla.rows<8x64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

// A value whose columns are not stored alike, and one that begins within a group of a scale.
// expected-error@+1 {{the value's columns 0 to 63 lie in several parts of the record; in one [record-value]}}
mla.kernel @"record-value"(%q: !mla.buffer<ragged, 8x128xf16>, %kv: !mla.buffer<paged, 128x!mla.record<<"a" : bf16[48]>, <"b" : bf16[80]>>>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 128x!mla.record<<"a" : bf16[48]>, <"b" : bf16[80]>>> -> <128xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x128xf16>, !mla.rows<128xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 64] : !mla.rows<128xf16> -> <64xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

// -----

// expected-error@+1 {{the value starts at column 32, within a group of 64 columns that share a scale; where one starts [record-value]}}
mla.kernel @"record-value"(%q: !mla.buffer<ragged, 8x128xf16>, %kv: !mla.buffer<paged, 128x!mla.record<<"a" : i8[128] scaled f32 per 64>>, align = 8>)
    -> !mla.buffer<ragged, 8x64xf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 128x!mla.record<<"a" : i8[128] scaled f32 per 64>>, align = 8> -> <128xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x128xf16>, !mla.rows<128xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[32 : 96] : !mla.rows<128xf16> -> <64xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<64xf16> -> <8x64xf32>
  mla.return %o : !mla.rows<8x64xf32>
}

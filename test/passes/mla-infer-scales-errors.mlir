// A scale that would have to be multiplied into stored elements is an error.
// RUN: mla-opt %s --mla-infer-scales -split-input-file -verify-diagnostics

mla.kernel @"scale-stuck"(%kv: !mla.buffer<paged, 512xf8E4M3FN>, %s: f32)
    -> !mla.buffer<ragged, 512xbf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 512xf8E4M3FN> -> <512xf16>
  // expected-error@+1 {{the scale of these rows cannot be moved out of the tile loads [scale-stuck]}}
  %ks = mla.scale %k, %s : !mla.rows<512xf16>
  mla.return %ks : !mla.rows<512xf16>
}

// -----

// One use of a scaled row moves, the other does not.
mla.kernel @"scale-stuck"(%q: !mla.buffer<ragged, 8x512xf16>, %kv: !mla.buffer<paged, 512xf16>, %s: f32)
    -> (!mla.lse<8, ln>, !mla.buffer<ragged, 512xbf16>) attributes {compute = f16} {
  %k = mla.slice %kv[0 : 512] : !mla.buffer<paged, 512xf16> -> <512xf16>
  // expected-error@+1 {{the scale of these rows cannot be moved out of the tile loads [scale-stuck]}}
  %ks = mla.scale %k, %s : !mla.rows<512xf16>
  %dot = mla.dot %q, %ks : !mla.buffer<ragged, 8x512xf16>, !mla.rows<512xf16> -> <8>
  %lse = mla.logsumexp %dot : <8> -> <8, ln>
  %copy = mla.cast %ks : !mla.rows<512xf16> -> <512xbf16>
  mla.return %lse, %copy : !mla.lse<8, ln>, !mla.rows<512xbf16>
}

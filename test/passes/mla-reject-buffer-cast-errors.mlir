// A converted copy of a whole buffer is refused however the cast reaches it; the error says what it would move.
// RUN: mla-opt %s --mla-reject-buffer-cast -split-input-file -verify-diagnostics
// RUN: not mla-opt %s --mla-reject-buffer-cast="layers=78 pool-tokens=495000" -split-input-file 2>&1 | FileCheck %s --check-prefix=POOL
// RUN: not mla-opt %s --mla-reject-buffer-cast="pool-tokens=495000" -split-input-file 2>&1 | FileCheck %s --check-prefix=CALL
// RUN: not mla-opt %s --mla-reject-buffer-cast="layers=78" -split-input-file 2>&1 | FileCheck %s --check-prefix=TOKEN

// 495,000 tokens x 576 elements: 1 byte read and 2 written each.
// POOL: error: casts a whole 'f8E4M3FN' buffer to 'bf16': 495,000 tokens x 576: 855 MB per call, 66.7 GB over 78 layers [buffer-cast]
// CALL: error: casts a whole 'f8E4M3FN' buffer to 'bf16': 495,000 tokens x 576: 855 MB per call [buffer-cast]
// TOKEN: error: casts a whole 'f8E4M3FN' buffer to 'bf16': reads 576 and writes 1,152 bytes for every token of the pool in every call [buffer-cast]
mla.kernel @plain(
    // expected-note@+1 {{the buffer is declared here}}
    %kv: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = bf16} {
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16': reads 576 and writes 1,152 bytes for every token of the pool in every call [buffer-cast]}}
  // expected-note@+1 {{declare `compute bf16` and read it through dequant(...): each element is then converted once, in the tile that needs it, and nothing is stored}}
  %0 = mla.cast %kv : !mla.buffer<paged, 576xf8E4M3FN> -> <576xbf16>
  mla.return
}

// -----

// The sliced columns are what moves.
mla.kernel @slice(
    // expected-note@+1 {{the buffer is declared here}}
    %kv: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = f16} {
  // expected-note@+1 {{through `slice` here}}
  %0 = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf8E4M3FN> -> <512xf8E4M3FN>
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16': reads 512 and writes 1,024 bytes for every token}}
  // expected-note@+1 {{declare `compute f16` and read it through dequant(...)}}
  %1 = mla.cast %0 : !mla.rows<512xf8E4M3FN> -> <512xf16>
  mla.return
}

// -----

mla.kernel @scale(
    // expected-note@+1 {{the buffer is declared here}}
    %kv: !mla.buffer<paged, 576xf8E4M3FN>, %s: f32) attributes {compute = f16} {
  // expected-note@+1 {{through `slice` here}}
  %0 = mla.slice %kv[0 : 512] : !mla.buffer<paged, 576xf8E4M3FN> -> <512xf8E4M3FN>
  // expected-note@+1 {{through `scale` here}}
  %1 = mla.scale %0, %s : !mla.rows<512xf8E4M3FN>
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16'}}
  // expected-note@+1 {{read it through dequant}}
  %2 = mla.cast %1 : !mla.rows<512xf8E4M3FN> -> <512xf16>
  mla.return
}

// -----

// Reading it through dequant first does not help when the result is stored after all.
mla.kernel @dequant_then_cast(
    // expected-note@+1 {{the buffer is declared here}}
    %kv: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = f16} {
  // expected-note@+1 {{through `dequant` here}}
  %0 = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16'}}
  // expected-note@+1 {{read it through dequant}}
  %1 = mla.cast %0 : !mla.rows<576xf16> -> <576xbf16>
  mla.return
}

// -----

// The detour by f16 is two copies.
mla.kernel @detour(
    // expected-note@+1 {{the buffer is declared here}}
    %kv: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = bf16} {
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16': reads 1,728 and writes 2,304 bytes for every token}}
  // expected-note@+1 {{read it through dequant}}
  %0 = mla.cast %kv : !mla.buffer<paged, 576xf8E4M3FN> -> <576xf16>
  // expected-note@+1 {{converted again, to 'bf16', here}}
  %1 = mla.cast %0 : !mla.rows<576xf16> -> <576xbf16>
  mla.return
}

// -----

// A buffer of any layout, with heads, of any storage type; narrowing too.
mla.kernel @query(
    // expected-note@+1 {{the buffer is declared here}}
    %q: !mla.buffer<ragged, 8x576xf32>) attributes {compute = f16} {
  // expected-error@+2 {{casts a whole 'f32' buffer to 'f16': reads 18,432 and writes 9,216 bytes for every token}}
  // expected-note@+1 {{read it through dequant}}
  %0 = mla.cast %q : !mla.buffer<ragged, 8x576xf32> -> <8x576xf16>
  mla.return
}

// -----

// A record is as wide as its bytes, and converted as a whole like any buffer; columns of it, too.
mla.kernel @record(%q: !mla.buffer<ragged, 8x576xbf16>,
    // expected-note@+1 {{the buffer is declared here}}
                   %kv: !mla.buffer<paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>>)
    -> !mla.buffer<ragged, 8x576xbf16> attributes {compute = bf16} {
  // expected-error@+2 {{casts a whole 'record' buffer to 'bf16': reads 656 and writes 1,152 bytes for every token of the pool in every call [buffer-cast]}}
  // expected-note@+1 {{declare `compute bf16` and read it through dequant(...)}}
  %k = mla.cast %kv : !mla.buffer<paged, 576x!mla.record<<"latent" : f8E4M3FN[512] scaled f32 per 128>, <"rope" : bf16[64]>>> -> <576xbf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xbf16>, !mla.rows<576xbf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %o = mla.attend %p, %k : <8>, !mla.rows<576xbf16> -> <8x576xf32>
  mla.return %o : !mla.rows<8x576xf32>
}

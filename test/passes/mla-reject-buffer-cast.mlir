// Conversions inside tile loads, and casts of values that no buffer stores, pass unchanged.
// RUN: mla-opt %s --mla-reject-buffer-cast="layers=78 pool-tokens=495000" | FileCheck %s

// CHECK-LABEL: mla.kernel @per_tile
// CHECK: mla.dequant %{{.+}} : <paged, 576xf8E4M3FN> -> <576xf16>
// CHECK: mla.cast %{{.+}} : !mla.rows<8x512xf32> -> <8x512xbf16>
mla.kernel @per_tile(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %cast = mla.cast %o : !mla.rows<8x512xf32> -> <8x512xbf16>
  mla.return %cast : !mla.rows<8x512xbf16>
}

// Ops of dialects that the pass does not know are named.
// RUN: mla-opt %s --mla-reject-buffer-cast 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: remark: ops of the dialect 'nvvm' are not known: buffers are not followed through them [buffer-cast-unknown]
llvm.func @foreign() {
  nvvm.barrier0
  llvm.return
}

// In the dialect: attended rows are computed; storing them as bf16 is the kernel's output.
// EXPECT-NONE
mla.kernel @decode(%q: !mla.buffer<ragged, 8x576xf16>, %kv: !mla.buffer<paged, 576xf8E4M3FN>)
    -> !mla.buffer<ragged, 8x512xbf16> attributes {compute = f16} {
  %k = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  %s = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<576xf16> -> <8>
  %p = mla.softmax %s : <8> -> <8>
  %v = mla.slice %k[0 : 512] : !mla.rows<576xf16> -> <512xf16>
  %o = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf32>
  %cast = mla.cast %o : !mla.rows<8x512xf32> -> <8x512xbf16>
  mla.return %cast : !mla.rows<8x512xbf16>
}

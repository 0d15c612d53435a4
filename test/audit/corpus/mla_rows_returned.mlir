// In the dialect: a kernel that returns what it dequantised stores a converted copy of the cache.
// EXPECT: line 5
mla.kernel @copy(%kv: !mla.buffer<paged, 576xf8E4M3FN>) -> !mla.buffer<ragged, 576xbf16> attributes {compute = f16} {
  %rows = mla.dequant %kv : <paged, 576xf8E4M3FN> -> <576xf16>
  mla.return %rows : !mla.rows<576xf16>
}

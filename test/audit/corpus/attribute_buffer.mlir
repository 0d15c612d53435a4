// Declared a buffer by its author.
// EXPECT: line 4
func.func @layer(%kv: tensor<64x576xf8E4M3FN> {mlac.buffer}) -> tensor<64x576xbf16> {
  %wide = arith.extf %kv : tensor<64x576xf8E4M3FN> to tensor<64x576xbf16>
  return %wide : tensor<64x576xbf16>
}

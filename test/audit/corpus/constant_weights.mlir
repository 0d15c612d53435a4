// Quantised weights in the module, widened as a whole.
// EXPECT: line 5
func.func @layer() -> tensor<1024x2048xbf16> {
  %w = arith.constant dense<1.0> : tensor<1024x2048xf8E4M3FN>
  %wide = arith.extf %w : tensor<1024x2048xf8E4M3FN> to tensor<1024x2048xbf16>
  return %wide : tensor<1024x2048xbf16>
}

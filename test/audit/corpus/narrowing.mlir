// Quantising a whole bf16 pool is a whole-buffer cast too.
// EXPECT: line 4
func.func @layer(%kv: tensor<495000x576xbf16>) -> tensor<495000x576xf8E4M3FN> {
  %narrow = arith.truncf %kv : tensor<495000x576xbf16> to tensor<495000x576xf8E4M3FN>
  return %narrow : tensor<495000x576xf8E4M3FN>
}

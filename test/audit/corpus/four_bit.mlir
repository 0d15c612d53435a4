// FP4 weights of a record cache, two to a byte.
// EXPECT: line 4
func.func @layer(%kv: tensor<495000x512xf4E2M1FN>) -> tensor<495000x512xbf16> {
  %wide = arith.extf %kv : tensor<495000x512xf4E2M1FN> to tensor<495000x512xbf16>
  return %wide : tensor<495000x512xbf16>
}

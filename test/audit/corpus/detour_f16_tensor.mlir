// By way of f16, because there is no direct conversion: one defect, at the first.
// EXPECT: line 4
func.func @layer(%kv: tensor<?x576xf8E4M3FN>) -> tensor<?x576xbf16> {
  %half = arith.extf %kv : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  %single = arith.extf %half : tensor<?x576xf16> to tensor<?x576xf32>
  %wide = arith.truncf %single : tensor<?x576xf32> to tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

// The cast is in a helper of another function's; its name says nothing.
// EXPECT: line 4
func.func private @prepare(%x: tensor<?x576xf8E4M3FN>) -> tensor<?x576xbf16> {
  %wide = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<?x576xbf16> {
  %any = tensor.cast %kv : tensor<495000x576xf8E4M3FN> to tensor<?x576xf8E4M3FN>
  %wide = func.call @prepare(%any) : (tensor<?x576xf8E4M3FN>) -> tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

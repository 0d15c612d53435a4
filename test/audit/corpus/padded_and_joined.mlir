// Padding and joining move the rows, and then they are cast.
// EXPECT: line 11
func.func @layer(%a: tensor<4000x576xf8E4M3FN>, %b: tensor<4096x576xf8E4M3FN>) -> tensor<8192x576xbf16> {
  %zero = arith.constant 0.0 : f8E4M3FN
  %padded = tensor.pad %a low[0, 0] high[96, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f8E4M3FN
  } : tensor<4000x576xf8E4M3FN> to tensor<4096x576xf8E4M3FN>
  %both = tensor.concat dim(0) %padded, %b
      : (tensor<4096x576xf8E4M3FN>, tensor<4096x576xf8E4M3FN>) -> tensor<8192x576xf8E4M3FN>
  %wide = arith.extf %both : tensor<8192x576xf8E4M3FN> to tensor<8192x576xbf16>
  return %wide : tensor<8192x576xbf16>
}

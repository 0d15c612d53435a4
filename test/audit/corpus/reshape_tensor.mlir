// Expanded into pages and collapsed again.
// EXPECT: line 9
func.func @layer(%kv: tensor<495040x576xf8E4M3FN>) -> tensor<495040x576xf16> {
  %pages = tensor.expand_shape %kv [[0, 1], [2]] output_shape [7735, 64, 576]
      : tensor<495040x576xf8E4M3FN> into tensor<7735x64x576xf8E4M3FN>
  %flat = tensor.collapse_shape %pages [[0, 1, 2]] : tensor<7735x64x576xf8E4M3FN> into tensor<285143040xf8E4M3FN>
  %shape = arith.constant dense<[495040, 576]> : tensor<2xi64>
  %again = tensor.reshape %flat(%shape) : (tensor<285143040xf8E4M3FN>, tensor<2xi64>) -> tensor<495040x576xf8E4M3FN>
  %wide = arith.extf %again : tensor<495040x576xf8E4M3FN> to tensor<495040x576xf16>
  return %wide : tensor<495040x576xf16>
}

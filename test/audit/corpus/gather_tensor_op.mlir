// tensor.gather picks the rows, an elementwise op converts them all.
// EXPECT: line 6
func.func @gather(%kv: tensor<495000x576xf8E4M3FN>, %rows: tensor<400000x1xi32>) -> tensor<400000x576xbf16> {
  %picked = tensor.gather %kv[%rows] gather_dims([0])
      : (tensor<495000x576xf8E4M3FN>, tensor<400000x1xi32>) -> tensor<400000x576xf8E4M3FN>
  %wide = arith.extf %picked : tensor<400000x576xf8E4M3FN> to tensor<400000x576xbf16>
  return %wide : tensor<400000x576xbf16>
}

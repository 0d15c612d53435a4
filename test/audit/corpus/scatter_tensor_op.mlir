// tensor.scatter of converted rows into a bf16 pool.
// EXPECT: line 5
func.func @scatter(%kv: tensor<4096x576xf8E4M3FN>, %pool: tensor<495000x576xbf16>, %rows: tensor<4096x1xi32>)
    -> tensor<495000x576xbf16> {
  %wide = arith.extf %kv : tensor<4096x576xf8E4M3FN> to tensor<4096x576xbf16>
  %rows3 = tensor.expand_shape %wide [[0, 1], [2]] output_shape [4096, 1, 576] : tensor<4096x576xbf16> into tensor<4096x1x576xbf16>
  %new = tensor.scatter %rows3 into %pool[%rows] scatter_dims([0]) unique
      : (tensor<4096x1x576xbf16>, tensor<495000x576xbf16>, tensor<4096x1xi32>) -> tensor<495000x576xbf16>
  return %new : tensor<495000x576xbf16>
}

// Page tables become 64-bit and lengths become floats: no stored number of a cache is among them.
// EXPECT-NONE
func.func @prepare(%table: tensor<4096x1024xi32>, %mask: tensor<4096x4096xi1>, %lengths: tensor<?xi32>)
    -> (tensor<4096x1024xi64>, tensor<4096x4096xf32>, tensor<?xf32>) {
  %wide = arith.extsi %table : tensor<4096x1024xi32> to tensor<4096x1024xi64>
  %float = arith.uitofp %mask : tensor<4096x4096xi1> to tensor<4096x4096xf32>
  %length = arith.sitofp %lengths : tensor<?xi32> to tensor<?xf32>
  return %wide, %float, %length : tensor<4096x1024xi64>, tensor<4096x4096xf32>, tensor<?xf32>
}

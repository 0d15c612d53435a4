// The result of a matrix product is a new value: narrowing it is the product's epilogue.
// EXPECT-NONE
func.func @project(%x: tensor<4096x576xbf16>, %w: tensor<576x4096xbf16>, %init: tensor<4096x4096xf32>) -> tensor<4096x4096xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<4096x576xbf16>, tensor<576x4096xbf16>) outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %z = arith.truncf %y : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  return %z : tensor<4096x4096xbf16>
}

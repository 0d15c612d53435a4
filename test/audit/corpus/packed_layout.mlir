// Packed into blocks for a matrix unit, then cast.
// EXPECT: line 6
func.func @layer(%kv: tensor<4096x576xf8E4M3FN>, %to: tensor<64x36x64x16xf8E4M3FN>) -> tensor<64x36x64x16xbf16> {
  %packed = linalg.pack %kv inner_dims_pos = [0, 1] inner_tiles = [64, 16] into %to
      : tensor<4096x576xf8E4M3FN> -> tensor<64x36x64x16xf8E4M3FN>
  %wide = arith.extf %packed : tensor<64x36x64x16xf8E4M3FN> to tensor<64x36x64x16xbf16>
  return %wide : tensor<64x36x64x16xbf16>
}

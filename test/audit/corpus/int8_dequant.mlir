// int8 with a scale a token, over the whole pool.
// EXPECT: line 10
func.func @layer(%kv: tensor<495000x576xi8>, %scale: tensor<495000xf32>) -> tensor<495000x576xbf16> {
  %empty = tensor.empty() : tensor<495000x576xbf16>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%kv, %scale : tensor<495000x576xi8>, tensor<495000xf32>) outs(%empty : tensor<495000x576xbf16>) {
  ^bb0(%x: i8, %s: f32, %out: bf16):
    %f = arith.sitofp %x : i8 to f32
    %y = arith.mulf %f, %s : f32
    %z = arith.truncf %y : f32 to bf16
    linalg.yield %z : bf16
  } -> tensor<495000x576xbf16>
  return %wide : tensor<495000x576xbf16>
}

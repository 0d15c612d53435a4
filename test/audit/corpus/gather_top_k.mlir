// Sparse attention gathers 512 chosen rows a query token: 590 kB of bf16, a tile.
// EXPECT-NONE
func.func @gather(%kv: tensor<495000x576xf8E4M3FN>, %rows: tensor<512xindex>) -> tensor<512x576xbf16> {
  %empty = tensor.empty() : tensor<512x576xbf16>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<512xindex>) outs(%empty : tensor<512x576xbf16>) {
  ^bb0(%row: index, %out: bf16):
    %d = linalg.index 1 : index
    %x = tensor.extract %kv[%row, %d] : tensor<495000x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to bf16
    linalg.yield %y : bf16
  } -> tensor<512x576xbf16>
  return %wide : tensor<512x576xbf16>
}

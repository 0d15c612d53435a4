// A structured op that gathers in its body, with tensor.extract.
// EXPECT: line 12
func.func @gather(%kv: tensor<495000x576xf8E4M3FN>, %rows: tensor<?xindex>, %tokens: index) -> tensor<?x576xf16> {
  %empty = tensor.empty(%tokens) : tensor<?x576xf16>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%rows : tensor<?xindex>) outs(%empty : tensor<?x576xf16>) {
  ^bb0(%row: index, %out: f16):
    %d = linalg.index 1 : index
    %x = tensor.extract %kv[%row, %d] : tensor<495000x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to f16
    linalg.yield %y : f16
  } -> tensor<?x576xf16>
  return %wide : tensor<?x576xf16>
}

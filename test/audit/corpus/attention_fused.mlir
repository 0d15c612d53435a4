// The conversion is in the body of the contraction: each element is converted where it is used.
// EXPECT-NONE
func.func @scores(%q: tensor<8x576xbf16>, %kv: tensor<495000x576xf8E4M3FN>, %init: tensor<8x495000xf32>) -> tensor<8x495000xf32> {
  %scores = linalg.generic {
      indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %kv : tensor<8x576xbf16>, tensor<495000x576xf8E4M3FN>) outs(%init : tensor<8x495000xf32>) {
  ^bb0(%a: bf16, %b: f8E4M3FN, %sum: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : f8E4M3FN to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x495000xf32>
  return %scores : tensor<8x495000xf32>
}

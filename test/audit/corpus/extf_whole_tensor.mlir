// The plain case, as a framework writes it: the pool is cast before the kernel is called.
// EXPECT: line 5
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>, %q: tensor<8x576xbf16>) -> tensor<8x495000xf32> {
  %zero = arith.constant 0.0 : f32
  %wide = arith.extf %kv : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  %empty = tensor.empty() : tensor<8x495000xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x495000xf32>) -> tensor<8x495000xf32>
  %scores = linalg.generic {
      indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %wide : tensor<8x576xbf16>, tensor<495000x576xbf16>) outs(%init : tensor<8x495000xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %x = arith.extf %a : bf16 to f32
    %y = arith.extf %b : bf16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x495000xf32>
  return %scores : tensor<8x495000xf32>
}

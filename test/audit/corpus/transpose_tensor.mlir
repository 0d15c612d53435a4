// Transposed for the score product, then cast.
// EXPECT: line 6
func.func @layer(%kv: tensor<495000x576xf8E5M2>) -> tensor<576x495000xf16> {
  %empty = tensor.empty() : tensor<576x495000xf8E5M2>
  %t = linalg.transpose ins(%kv : tensor<495000x576xf8E5M2>) outs(%empty : tensor<576x495000xf8E5M2>) permutation = [1, 0]
  %wide = arith.extf %t : tensor<576x495000xf8E5M2> to tensor<576x495000xf16>
  return %wide : tensor<576x495000xf16>
}

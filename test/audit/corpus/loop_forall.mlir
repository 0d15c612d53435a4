// Parallel tiles, inserted in parallel.
// EXPECT: line 7
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x576xbf16> {
  %empty = tensor.empty() : tensor<495000x576xbf16>
  %wide = scf.forall (%t) = (0) to (495000) step (600) shared_outs(%acc = %empty) -> (tensor<495000x576xbf16>) {
    %x = tensor.extract_slice %kv[%t, 0] [600, 576] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<600x576xf8E4M3FN>
    %y = arith.extf %x : tensor<600x576xf8E4M3FN> to tensor<600x576xbf16>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %acc[%t, 0] [600, 576] [1, 1]
          : tensor<600x576xbf16> into tensor<495000x576xbf16>
    }
  }
  return %wide : tensor<495000x576xbf16>
}

// Converted tiles are inserted into a tensor that the loop carries.
// EXPECT: line 10
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x576xbf16> {
  %c0 = arith.constant 0 : index
  %c600 = arith.constant 600 : index
  %tokens = arith.constant 495000 : index
  %empty = tensor.empty() : tensor<495000x576xbf16>
  %wide = scf.for %t = %c0 to %tokens step %c600 iter_args(%acc = %empty) -> tensor<495000x576xbf16> {
    %x = tensor.extract_slice %kv[%t, 0] [600, 576] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<600x576xf8E4M3FN>
    %y = arith.extf %x : tensor<600x576xf8E4M3FN> to tensor<600x576xbf16>
    %next = tensor.insert_slice %y into %acc[%t, 0] [600, 576] [1, 1] : tensor<600x576xbf16> into tensor<495000x576xbf16>
    scf.yield %next : tensor<495000x576xbf16>
  }
  return %wide : tensor<495000x576xbf16>
}

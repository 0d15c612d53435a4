// A helper with dynamic types that is only ever given tiles.
// EXPECT-NONE
func.func private @widen(%x: tensor<?x576xf8E4M3FN>) -> tensor<?x576xf16> {
  %wide = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  return %wide : tensor<?x576xf16>
}
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %t = %c0 to %tokens step %c64 {
    %tile = tensor.extract_slice %kv[%t, 0] [64, 576] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<64x576xf8E4M3FN>
    %any = tensor.cast %tile : tensor<64x576xf8E4M3FN> to tensor<?x576xf8E4M3FN>
    %wide = func.call @widen(%any) : (tensor<?x576xf8E4M3FN>) -> tensor<?x576xf16>
  }
  return
}

// A memref read as a tensor, cast, and given back as a memref.
// EXPECT: line 5
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %t = bufferization.to_tensor %kv restrict : memref<495000x576xf8E4M3FN> to tensor<495000x576xf8E4M3FN>
  %y = arith.extf %t : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  bufferization.materialize_in_destination %y in restrict writable %wide : (tensor<495000x576xbf16>, memref<495000x576xbf16>) -> ()
  return
}

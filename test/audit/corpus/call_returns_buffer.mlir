// The callee only chooses columns; the caller casts what comes back. Two callers, two casts.
// EXPECT: line 10
// EXPECT: line 15
func.func private @latent(%x: tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xf8E4M3FN> {
  %v = tensor.extract_slice %x[0, 0] [495000, 512] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<495000x512xf8E4M3FN>
  return %v : tensor<495000x512xf8E4M3FN>
}
func.func @key(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xbf16> {
  %v = func.call @latent(%kv) : (tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xf8E4M3FN>
  %wide = arith.extf %v : tensor<495000x512xf8E4M3FN> to tensor<495000x512xbf16>
  return %wide : tensor<495000x512xbf16>
}
func.func @value(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xf16> {
  %v = func.call @latent(%kv) : (tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xf8E4M3FN>
  %wide = arith.extf %v : tensor<495000x512xf8E4M3FN> to tensor<495000x512xf16>
  return %wide : tensor<495000x512xf16>
}

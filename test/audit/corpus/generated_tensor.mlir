// tensor.generate makes each element of a converted pool.
// EXPECT: line 7
func.func @layer(%kv: tensor<?x576xf8E4M3FN>, %tokens: index) -> tensor<?x576xbf16> {
  %wide = tensor.generate %tokens {
  ^bb0(%t: index, %d: index):
    %x = tensor.extract %kv[%t, %d] : tensor<?x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to bf16
    tensor.yield %y : bf16
  } : tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

// What an external function returns is a buffer; what it does with its arguments is its own affair.
// EXPECT: line 7
func.func private @load_pool(i64) -> tensor<495000x576xf8E4M3FN>
func.func private @consume(tensor<495000x576xbf16>)
func.func @layer(%id: i64) {
  %kv = func.call @load_pool(%id) : (i64) -> tensor<495000x576xf8E4M3FN>
  %wide = arith.extf %kv : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  func.call @consume(%wide) : (tensor<495000x576xbf16>) -> ()
  return
}

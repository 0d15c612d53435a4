// Other people's ops: what they do is not known, and what comes out of them is a buffer like any other.
// EXPECT: line 5
func.func @layer(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x576xbf16> {
  %moved = "vendor.shuffle"(%kv) {mode = 3 : i64} : (tensor<495000x576xf8E4M3FN>) -> tensor<495000x576xf8E4M3FN>
  %wide = arith.extf %moved : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  %out = "vendor.use"(%wide) ({
    "vendor.end"() : () -> ()
  }) : (tensor<495000x576xbf16>) -> tensor<495000x576xbf16>
  return %out : tensor<495000x576xbf16>
}

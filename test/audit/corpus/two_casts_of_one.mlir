// One cache cast for keys and once more for values.
// EXPECT: line 5
// EXPECT: line 6
func.func @layer(%kv: tensor<?x576xf8E4M3FN>) -> (tensor<?x576xbf16>, tensor<?x576xf16>) {
  %k = arith.extf %kv : tensor<?x576xf8E4M3FN> to tensor<?x576xbf16>
  %v = arith.extf %kv : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  return %k, %v : tensor<?x576xbf16>, tensor<?x576xf16>
}

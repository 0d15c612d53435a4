// The pool is the second choice.
// EXPECT: line 6
func.func @layer(%kv: tensor<?x576xf8E4M3FN>, %n: index, %which: i1) -> tensor<?x576xbf16> {
  %nothing = tensor.empty(%n) : tensor<?x576xf8E4M3FN>
  %x = arith.select %which, %nothing, %kv : tensor<?x576xf8E4M3FN>
  %wide = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

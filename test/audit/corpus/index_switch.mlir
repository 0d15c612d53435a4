// A switch over layouts: all lead to the same cast.
// EXPECT: line 12
func.func @layer(%kv: tensor<?x576xf8E4M3FN>, %layout: index) -> tensor<?x576xbf16> {
  %rows = scf.index_switch %layout -> tensor<?x576xf8E4M3FN>
  case 0 {
    scf.yield %kv : tensor<?x576xf8E4M3FN>
  }
  default {
    %empty = tensor.empty(%layout) : tensor<?x576xf8E4M3FN>
    scf.yield %empty : tensor<?x576xf8E4M3FN>
  }
  %wide = arith.extf %rows : tensor<?x576xf8E4M3FN> to tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

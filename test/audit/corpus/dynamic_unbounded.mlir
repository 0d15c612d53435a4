// The slice is as long as the caller says.
// EXPECT: line 5
func.func @layer(%kv: tensor<?x576xf8E4M3FN>, %first: index, %size: index) -> tensor<?x576xf16> {
  %x = tensor.extract_slice %kv[%first, 0] [%size, 576] [1, 1] : tensor<?x576xf8E4M3FN> to tensor<?x576xf8E4M3FN>
  %y = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  return %y : tensor<?x576xf16>
}

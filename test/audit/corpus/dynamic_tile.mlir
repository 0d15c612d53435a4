// The last tile is shorter: min(64, rest) tokens are at most 64.
// EXPECT-NONE
func.func @layer(%kv: tensor<?x576xf8E4M3FN>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %t = %c0 to %tokens step %c64 {
    %size = affine.min affine_map<(d0)[s0] -> (64, s0 - d0)>(%t)[%tokens]
    %x = tensor.extract_slice %kv[%t, 0] [%size, 576] [1, 1] : tensor<?x576xf8E4M3FN> to tensor<?x576xf8E4M3FN>
    %y = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  }
  return
}

// Which of two pools is cast is chosen at run time.
// EXPECT: line 9
func.func @layer(%a: tensor<495000x576xf8E4M3FN>, %b: tensor<495000x576xf8E4M3FN>, %which: i1) -> tensor<495000x576xbf16> {
  %kv = scf.if %which -> tensor<495000x576xf8E4M3FN> {
    scf.yield %a : tensor<495000x576xf8E4M3FN>
  } else {
    scf.yield %b : tensor<495000x576xf8E4M3FN>
  }
  %wide = arith.extf %kv : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  return %wide : tensor<495000x576xbf16>
}

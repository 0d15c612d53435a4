// Hoisted out of the loop over layers: once a step instead of 78 times, and still the whole pool.
// EXPECT: line 8
func.func private @attend(tensor<495000x576xbf16>, index)
func.func @step(%kv: tensor<495000x576xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %layers = arith.constant 78 : index
  %wide = arith.extf %kv : tensor<495000x576xf8E4M3FN> to tensor<495000x576xbf16>
  scf.for %l = %c0 to %layers step %c1 {
    func.call @attend(%wide, %l) : (tensor<495000x576xbf16>, index) -> ()
  }
  return
}

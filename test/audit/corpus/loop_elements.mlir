// A loop over every element, as a lowered cast looks.
// EXPECT: line 11
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = arith.constant 495000 : index
  %width = arith.constant 576 : index
  scf.for %t = %c0 to %tokens step %c1 {
    scf.for %d = %c0 to %width step %c1 {
      %x = memref.load %kv[%t, %d] : memref<495000x576xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to bf16
      memref.store %y, %wide[%t, %d] : memref<495000x576xbf16>
    }
  }
  return
}

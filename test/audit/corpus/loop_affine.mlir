// Affine loops with constant bounds.
// EXPECT: line 7
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  affine.for %t = 0 to 495000 {
    affine.for %d = 0 to 576 {
      %x = affine.load %kv[%t, %d] : memref<495000x576xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to bf16
      affine.store %y, %wide[%t, %d] : memref<495000x576xbf16>
    }
  }
  return
}

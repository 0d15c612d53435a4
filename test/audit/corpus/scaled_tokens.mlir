// A scale a token, loaded from a vector of all tokens and written first.
// EXPECT: line 11
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %scale: memref<?xf32>, %wide: memref<?x576xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant 576 : index
  scf.for %t = %c0 to %n step %c1 {
    %s = memref.load %scale[%t] : memref<?xf32>
    scf.for %d = %c0 to %width step %c1 {
      %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
      %f = arith.extf %x : f8E4M3FN to f32
      %y = arith.mulf %s, %f : f32
      %z = arith.truncf %y : f32 to bf16
      memref.store %z, %wide[%t, %d] : memref<?x576xbf16>
    }
  }
  return
}

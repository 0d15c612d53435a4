// A scale for 128 elements, loaded in the loop; per-token work, for all tokens.
// EXPECT: line 14
func.func @layer(%kv: memref<?x512xf8E4M3FN>, %scale: memref<?x4xf32>, %wide: memref<?x512xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  scf.for %t = %c0 to %tokens step %c1 {
    scf.for %g = %c0 to %c4 step %c1 {
      %d = arith.muli %g, %c128 : index
      %s = memref.load %scale[%t, %g] : memref<?x4xf32>
      %v = vector.broadcast %s : f32 to vector<128xf32>
      %x = vector.load %kv[%t, %d] : memref<?x512xf8E4M3FN>, vector<128xf8E4M3FN>
      %f = arith.extf %x : vector<128xf8E4M3FN> to vector<128xf32>
      %y = arith.mulf %v, %f : vector<128xf32>
      %z = arith.truncf %y : vector<128xf32> to vector<128xbf16>
      vector.store %z, %wide[%t, %d] : memref<?x512xbf16>, vector<128xbf16>
    }
  }
  return
}

// The same of a flat pool, with a scale for every 128 elements.
// EXPECT: line 11
func.func @layer(%kv: memref<?xf8E4M3FN>, %scale: memref<?xf32>, %wide: memref<?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %n step %c1 {
    %g = arith.divui %i, %c128 : index
    %s = memref.load %scale[%g] : memref<?xf32>
    %x = memref.load %kv[%i] : memref<?xf8E4M3FN>
    %f = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %s, %f : f32
    %z = arith.truncf %y : f32 to bf16
    memref.store %z, %wide[%i] : memref<?xbf16>
  }
  return
}

// e4m3 is read, rescaled and written back as e4m3: the storage type stays.
// EXPECT-NONE
func.func @rescale(%kv: memref<?x576xf8E4M3FN>, %factor: f32, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant 576 : index
  scf.for %t = %c0 to %tokens step %c1 {
    scf.for %d = %c0 to %width step %c1 {
      %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
      %f = arith.extf %x : f8E4M3FN to f32
      %y = arith.mulf %f, %factor : f32
      %z = arith.truncf %y : f32 to f8E4M3FN
      memref.store %z, %kv[%t, %d] : memref<?x576xf8E4M3FN>
    }
  }
  return
}

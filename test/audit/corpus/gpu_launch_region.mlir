// The same inline.
// EXPECT: line 9
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %tokens: index) {
  %c1 = arith.constant 1 : index
  %width = arith.constant 576 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %tokens, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %width, %sy = %c1, %sz = %c1) {
    %x = memref.load %kv[%bx, %tx] : memref<?x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to bf16
    memref.store %y, %wide[%bx, %tx] : memref<?x576xbf16>
    gpu.terminator
  }
  return
}

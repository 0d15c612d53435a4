// An scf.parallel over a pool of unknown length.
// EXPECT: line 9
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant 576 : index
  scf.parallel (%t, %d) = (%c0, %c0) to (%tokens, %width) step (%c1, %c1) {
    %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to f16
    memref.store %y, %wide[%t, %d] : memref<?x576xf16>
    scf.reduce
  }
  return
}

// Bits read as another type of the same width, and copied: nothing is converted.
// EXPECT-NONE
func.func @layer(%kv: memref<?x576xi8>, %other: memref<?x576xf8E4M3FN>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %tokens step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xi8>, vector<576xi8>
    %y = arith.bitcast %x : vector<576xi8> to vector<576xf8E4M3FN>
    vector.store %y, %other[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
  }
  return
}

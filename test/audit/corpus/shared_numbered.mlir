// The same with the memory space as NVVM numbers it, and private memory.
// EXPECT-NONE
func.func @stage(%kv: memref<?x576xf8E4M3FN>, %tile: memref<?x576xbf16, 3>, %own: memref<?x576xbf16, 5>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.store %y, %tile[%t, %c0] : memref<?x576xbf16, 3>, vector<576xbf16>
    vector.store %y, %own[%t, %c0] : memref<?x576xbf16, 5>, vector<576xbf16>
  }
  return
}

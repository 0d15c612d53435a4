// The loop carries where it writes to.
// EXPECT: line 8
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = scf.for %t = %c0 to %n step %c1 iter_args(%to = %wide) -> memref<?x576xbf16> {
    %x = vector.load %kv[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.store %y, %to[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
    scf.yield %to : memref<?x576xbf16>
  }
  return
}

// Converted once and stored twice: one finding.
// EXPECT: line 8
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %a: memref<?x576xbf16>, %b: memref<?x576xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.store %y, %a[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
    vector.store %y, %b[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
  }
  return
}

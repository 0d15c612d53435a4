// Recent tokens are cached as bf16, others as e4m3; rows of either are gathered into one bf16 scratch.
// EXPECT: line 9
func.func @gather(%hot: memref<?x576xbf16>, %cold: memref<?x576xf8E4M3FN>, %isHot: memref<?xi1>, %wide: memref<?x576xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %t = %c0 to %n step %c1 {
    %a = vector.load %hot[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
    %b = vector.load %cold[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %b : vector<576xf8E4M3FN> to vector<576xbf16>
    %which = memref.load %isHot[%t] : memref<?xi1>
    %x = arith.select %which, %a, %y : vector<576xbf16>
    vector.store %x, %wide[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
  }
  return
}

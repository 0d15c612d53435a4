// Masked and compressing stores.
// EXPECT: line 10
// EXPECT: line 12
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %a: memref<?x576xbf16>, %b: memref<?x576xf16>, %n: index, %m: vector<576xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant dense<0.0> : vector<576xf8E4M3FN>
  scf.for %t = %c0 to %n step %c1 {
    %x = vector.maskedload %kv[%t, %c0], %m, %none : memref<?x576xf8E4M3FN>, vector<576xi1>, vector<576xf8E4M3FN> into vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.maskedstore %a[%t, %c0], %m, %y : memref<?x576xbf16>, vector<576xi1>, vector<576xbf16>
    %z = arith.extf %x : vector<576xf8E4M3FN> to vector<576xf16>
    vector.compressstore %b[%t, %c0], %m, %z : memref<?x576xf16>, vector<576xi1>, vector<576xf16>
  }
  return
}

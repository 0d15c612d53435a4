// Converted rows are scattered over a second pool.
// EXPECT: line 9
func.func @scatter(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?xbf16>, %offsets: vector<576xindex>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %mask = arith.constant dense<true> : vector<576xi1>
  scf.for %t = %c0 to %tokens step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.scatter %wide[%t] [%offsets], %mask, %y : memref<?xbf16>, vector<576xindex>, vector<576xi1>, vector<576xbf16>
  }
  return
}

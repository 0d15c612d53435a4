// Comparing every element makes a mask, and no copy of the elements.
// EXPECT-NONE
func.func @mask(%kv: memref<?x576xbf16>, %out: memref<?x576xi8>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant dense<448.0> : vector<576xbf16>
  scf.for %t = %c0 to %tokens step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
    %m = arith.cmpf ogt, %x, %limit : vector<576xbf16>
    %b = arith.extui %m : vector<576xi1> to vector<576xi8>
    vector.store %b, %out[%t, %c0] : memref<?x576xi8>, vector<576xi8>
  }
  return
}

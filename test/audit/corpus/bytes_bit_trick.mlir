// e5m2 is the upper half of f16: a shift and a bitcast convert without a conversion op.
// EXPECT: line 9
func.func @layer(%kv: memref<?x576xi8>, %wide: memref<?x576xf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %eight = arith.constant dense<8> : vector<576xi16>
  scf.for %t = %c0 to %tokens step %c1 {
    %x = vector.load %kv[%t, %c0] : memref<?x576xi8>, vector<576xi8>
    %w = arith.extui %x : vector<576xi8> to vector<576xi16>
    %s = arith.shli %w, %eight : vector<576xi16>
    %y = arith.bitcast %s : vector<576xi16> to vector<576xf16>
    vector.store %y, %wide[%t, %c0] : memref<?x576xf16>, vector<576xf16>
  }
  return
}

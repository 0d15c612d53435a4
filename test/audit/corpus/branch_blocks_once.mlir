// Basic blocks without a way back: one row is converted.
// EXPECT-NONE
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %t: index, %valid: i1) {
  %c0 = arith.constant 0 : index
  cf.cond_br %valid, ^body(%kv : memref<?x576xf8E4M3FN>), ^end
^body(%pool: memref<?x576xf8E4M3FN>):
  %x = vector.load %pool[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
  %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
  vector.store %y, %wide[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
  cf.br ^end
^end:
  return
}

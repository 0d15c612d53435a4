// A while loop carries the pool from round to round and converts a row in each.
// EXPECT: line 12
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end:2 = scf.while (%t = %c0, %pool = %kv) : (index, memref<?x576xf8E4M3FN>) -> (index, memref<?x576xf8E4M3FN>) {
    %more = arith.cmpi slt, %t, %tokens : index
    scf.condition(%more) %t, %pool : index, memref<?x576xf8E4M3FN>
  } do {
  ^bb0(%t: index, %pool: memref<?x576xf8E4M3FN>):
    %x = vector.load %pool[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    vector.store %y, %wide[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
    %next = arith.addi %t, %c1 : index
    scf.yield %next, %pool : index, memref<?x576xf8E4M3FN>
  }
  return
}

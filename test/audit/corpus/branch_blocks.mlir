// A loop of basic blocks: the pool is a block argument.
// EXPECT: line 12
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %kv : index, memref<?x576xf8E4M3FN>)
^head(%t: index, %pool: memref<?x576xf8E4M3FN>):
  %more = arith.cmpi slt, %t, %tokens : index
  cf.cond_br %more, ^body, ^end
^body:
  %x = vector.load %pool[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
  %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
  vector.store %y, %wide[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
  %next = arith.addi %t, %c1 : index
  cf.br ^head(%next, %pool : index, memref<?x576xf8E4M3FN>)
^end:
  return
}

// The new tokens of a step are few, and their author says so; the quantised copy goes into the cache.
// EXPECT-NONE
func.func @append(%new: memref<?x576xbf16> {mlac.tile}, %kv: memref<495000x576xf8E4M3FN>, %at: index, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %width = arith.constant 576 : index
  scf.for %t = %c0 to %count step %c1 {
    %slot = arith.addi %at, %t : index
    scf.for %d = %c0 to %width step %c1 {
      %x = memref.load %new[%t, %d] : memref<?x576xbf16>
      %y = arith.truncf %x : bf16 to f8E4M3FN
      memref.store %y, %kv[%slot, %d] : memref<495000x576xf8E4M3FN>
    }
  }
  return
}

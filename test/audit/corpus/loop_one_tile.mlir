// 64 tokens into a workspace that could hold all: what is written is a tile.
// EXPECT-NONE
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %first: index, %space: memref<495000x576xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = arith.constant 64 : index
  %width = arith.constant 576 : index
  scf.for %t = %c0 to %tokens step %c1 {
    %at = arith.addi %first, %t : index
    scf.for %d = %c0 to %width step %c1 {
      %x = memref.load %kv[%at, %d] : memref<495000x576xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to bf16
      memref.store %y, %space[%t, %d] : memref<495000x576xbf16>
    }
  }
  return
}

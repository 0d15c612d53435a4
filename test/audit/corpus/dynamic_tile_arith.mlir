// The same bound by arith.minsi, into a scratch tile.
// EXPECT-NONE
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %t = %c0 to %tokens step %c64 {
    %rest = arith.subi %tokens, %t : index
    %size = arith.minsi %rest, %c64 : index
    %x = memref.subview %kv[%t, 0] [%size, 576] [1, 1]
        : memref<?x576xf8E4M3FN> to memref<?x576xf8E4M3FN, strided<[576, 1], offset: ?>>
    %tile = memref.alloca(%size) : memref<?x576xf16>
    linalg.copy ins(%x : memref<?x576xf8E4M3FN, strided<[576, 1], offset: ?>>) outs(%tile : memref<?x576xf16>)
  }
  return
}

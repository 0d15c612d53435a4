// Every tile is short, and all tiles together are the pool.
// EXPECT: line 13
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  scf.for %t = %c0 to %tokens step %c64 {
    %rest = arith.subi %tokens, %t : index
    %size = arith.minsi %rest, %c64 : index
    %x = memref.subview %kv[%t, 0] [%size, 576] [1, 1]
        : memref<?x576xf8E4M3FN> to memref<?x576xf8E4M3FN, strided<[576, 1], offset: ?>>
    %y = memref.subview %wide[%t, 0] [%size, 576] [1, 1]
        : memref<?x576xf16> to memref<?x576xf16, strided<[576, 1], offset: ?>>
    linalg.copy ins(%x : memref<?x576xf8E4M3FN, strided<[576, 1], offset: ?>>) outs(%y : memref<?x576xf16, strided<[576, 1], offset: ?>>)
  }
  return
}

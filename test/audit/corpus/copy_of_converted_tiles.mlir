// Tiles are converted into a scratch tile, and memref.copy gathers all of them in a bf16 pool.
// EXPECT: line 13
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %c0 = arith.constant 0 : index
  %c600 = arith.constant 600 : index
  %tokens = arith.constant 495000 : index
  %tile = memref.alloca() : memref<600x576xbf16>
  scf.for %t = %c0 to %tokens step %c600 {
    %from = memref.subview %kv[%t, 0] [600, 576] [1, 1]
        : memref<495000x576xf8E4M3FN> to memref<600x576xf8E4M3FN, strided<[576, 1], offset: ?>>
    %to = memref.subview %wide[%t, 0] [600, 576] [1, 1]
        : memref<495000x576xbf16> to memref<600x576xbf16, strided<[576, 1], offset: ?>>
    linalg.copy ins(%from : memref<600x576xf8E4M3FN, strided<[576, 1], offset: ?>>) outs(%tile : memref<600x576xbf16>)
    memref.copy %tile, %to : memref<600x576xbf16> to memref<600x576xbf16, strided<[576, 1], offset: ?>>
  }
  return
}

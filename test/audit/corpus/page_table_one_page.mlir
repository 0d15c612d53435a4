// One page of the same pool is a tile.
// EXPECT-NONE
func.func @layer(%kv: memref<4x16x576xf8E4M3FN>, %table: memref<2x2xi32> {mlac.page_table}, %page: index) {
  %tile = memref.alloc() : memref<1x16x576xbf16>
  %view = memref.subview %kv[%page, 0, 0] [1, 16, 576] [1, 1, 1]
      : memref<4x16x576xf8E4M3FN> to memref<1x16x576xf8E4M3FN, strided<[9216, 576, 1], offset: ?>>
  linalg.copy ins(%view : memref<1x16x576xf8E4M3FN, strided<[9216, 576, 1], offset: ?>>) outs(%tile : memref<1x16x576xbf16>)
  return
}

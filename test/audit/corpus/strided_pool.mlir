// A pool with a page stride of its own, as engines allocate it for all layers at once.
// EXPECT: line 4
func.func @layer(%kv: memref<?x64x576xf8E4M3FN, strided<[2875392, 576, 1], offset: ?>>, %wide: memref<?x64x576xbf16>) {
  linalg.copy ins(%kv : memref<?x64x576xf8E4M3FN, strided<[2875392, 576, 1], offset: ?>>) outs(%wide : memref<?x64x576xbf16>)
  return
}

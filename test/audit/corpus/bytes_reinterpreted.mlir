// An unranked pointer, as from a C interface, given a shape.
// EXPECT: line 6
func.func @layer(%pointer: memref<*xf8E4M3FN>, %tokens: index, %wide: memref<?x576xf16>) {
  %kv = memref.reinterpret_cast %pointer to offset: [0], sizes: [%tokens, 576], strides: [576, 1]
      : memref<*xf8E4M3FN> to memref<?x576xf8E4M3FN, strided<[576, 1]>>
  linalg.copy ins(%kv : memref<?x576xf8E4M3FN, strided<[576, 1]>>) outs(%wide : memref<?x576xf16>)
  return
}

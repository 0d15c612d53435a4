// A transposing view of a memref of unknown length, converted by a structured copy.
// EXPECT: line 5
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<576x?xbf16>) {
  %t = memref.transpose %kv (t, d) -> (d, t) : memref<?x576xf8E4M3FN> to memref<576x?xf8E4M3FN, strided<[1, 576]>>
  linalg.copy ins(%t : memref<576x?xf8E4M3FN, strided<[1, 576]>>) outs(%wide : memref<576x?xbf16>)
  return
}

// The pool is copied as it is, and the copy is cast: the pool is what is cast.
// EXPECT: line 6
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %tokens: index, %wide: memref<?x576xbf16>) {
  %same = memref.alloc(%tokens) : memref<?x576xf8E4M3FN>
  memref.copy %kv, %same : memref<?x576xf8E4M3FN> to memref<?x576xf8E4M3FN>
  linalg.copy ins(%same : memref<?x576xf8E4M3FN>) outs(%wide : memref<?x576xbf16>)
  return
}

// Two caches, two casts.
// EXPECT: line 5
// EXPECT: line 6
func.func @layer(%k: memref<?x8x192xf8E4M3FN>, %v: memref<?x8x128xf8E4M3FN>, %wk: memref<?x8x192xbf16>, %wv: memref<?x8x128xbf16>) {
  linalg.copy ins(%k : memref<?x8x192xf8E4M3FN>) outs(%wk : memref<?x8x192xbf16>)
  linalg.copy ins(%v : memref<?x8x128xf8E4M3FN>) outs(%wv : memref<?x8x128xbf16>)
  return
}

// Transposed and repacked, and stored as it was.
// EXPECT-NONE
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %to: memref<576x?xf8E4M3FN>) {
  linalg.transpose ins(%kv : memref<?x576xf8E4M3FN>) outs(%to : memref<576x?xf8E4M3FN>) permutation = [1, 0]
  return
}

// The detour goes through a scratch of the pool's size.
// EXPECT: line 4
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %half: memref<?x576xf16>, %wide: memref<?x576xbf16>) {
  linalg.copy ins(%kv : memref<?x576xf8E4M3FN>) outs(%half : memref<?x576xf16>)
  linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%half : memref<?x576xf16>) outs(%wide : memref<?x576xbf16>) {
  ^bb0(%x: f16, %out: bf16):
    %s = arith.extf %x : f16 to f32
    %y = arith.truncf %s : f32 to bf16
    linalg.yield %y : bf16
  }
  return
}

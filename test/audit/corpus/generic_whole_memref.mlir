// An elementwise structured op from one memref into another.
// EXPECT: line 9
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t, d)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%kv : memref<495000x576xf8E4M3FN>) outs(%wide : memref<495000x576xbf16>) {
  ^bb0(%x: f8E4M3FN, %out: bf16):
    %y = arith.extf %x : f8E4M3FN to bf16
    linalg.yield %y : bf16
  }
  return
}

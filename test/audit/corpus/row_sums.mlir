// A reduction to one f32 a token: smaller than what it is made of, but no copy of it.
// EXPECT-NONE
func.func @norms(%kv: memref<?x576xf8E4M3FN>, %out: memref<?xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(t, d) -> (t, d)>, affine_map<(t, d) -> (t)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%kv : memref<?x576xf8E4M3FN>) outs(%out : memref<?xf32>) {
  ^bb0(%x: f8E4M3FN, %sum: f32):
    %y = arith.extf %x : f8E4M3FN to f32
    %s = arith.addf %y, %sum : f32
    linalg.yield %s : f32
  }
  return
}

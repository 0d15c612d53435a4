// The product of two activations, quantised on the way out: a computed value, not a copy of a cache.
// EXPECT-NONE
#map = affine_map<(t, d) -> (t, d)>
func.func @layer(%gate: memref<?x2048xbf16>, %up: memref<?x2048xbf16>, %out: memref<?x2048xf8E4M3FN>) {
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%gate, %up : memref<?x2048xbf16>, memref<?x2048xbf16>) outs(%out : memref<?x2048xf8E4M3FN>) {
  ^bb0(%g: bf16, %u: bf16, %o: f8E4M3FN):
    %x = arith.extf %g : bf16 to f32
    %y = arith.extf %u : bf16 to f32
    %e = math.exp %x : f32
    %p = arith.mulf %e, %y : f32
    %z = arith.truncf %p : f32 to f8E4M3FN
    linalg.yield %z : f8E4M3FN
  }
  return
}

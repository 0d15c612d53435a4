// A scale for every element, already broadcast: still a dequantisation of the whole pool.
// EXPECT: line 8
#map = affine_map<(t, d) -> (t, d)>
func.func @layer(%kv: memref<?x576xf8E4M3FN>, %scale: memref<?x576xf32>, %wide: memref<?x576xbf16>) {
  linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%kv, %scale : memref<?x576xf8E4M3FN>, memref<?x576xf32>) outs(%wide : memref<?x576xbf16>) {
  ^bb0(%x: f8E4M3FN, %s: f32, %out: bf16):
    %f = arith.extf %x : f8E4M3FN to f32
    %y = arith.mulf %s, %f : f32
    %z = arith.truncf %y : f32 to bf16
    linalg.yield %z : bf16
  }
  return
}

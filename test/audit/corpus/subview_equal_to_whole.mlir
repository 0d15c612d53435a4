// A subview of everything is everything.
// EXPECT: line 10
#map = affine_map<(t, d) -> (t, d)>
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %view = memref.subview %kv[0, 0] [495000, 576] [1, 1]
      : memref<495000x576xf8E4M3FN> to memref<495000x576xf8E4M3FN, strided<[576, 1]>>
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%view : memref<495000x576xf8E4M3FN, strided<[576, 1]>>) outs(%wide : memref<495000x576xbf16>) {
  ^bb0(%x: f8E4M3FN, %out: bf16):
    %y = arith.extf %x : f8E4M3FN to bf16
    linalg.yield %y : bf16
  }
  return
}

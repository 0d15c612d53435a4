// Each tile of the pool is converted into shared memory and used there.
// EXPECT-NONE
#map = affine_map<(t, d) -> (t, d)>
#shared = #gpu.address_space<workgroup>
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %tile = memref.alloc() : memref<64x576xbf16, #shared>
  scf.for %t = %c0 to %tokens step %c64 {
    %view = memref.subview %kv[%t, 0] [64, 576] [1, 1]
        : memref<495000x576xf8E4M3FN> to memref<64x576xf8E4M3FN, strided<[576, 1], offset: ?>>
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
        ins(%view : memref<64x576xf8E4M3FN, strided<[576, 1], offset: ?>>) outs(%tile : memref<64x576xbf16, #shared>) {
    ^bb0(%x: f8E4M3FN, %out: bf16):
      %y = arith.extf %x : f8E4M3FN to bf16
      linalg.yield %y : bf16
    }
  }
  return
}

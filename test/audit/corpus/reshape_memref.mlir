// The same through memrefs, whose reshapes are views; the copy is a loop over pages.
// EXPECT: line 14
func.func @layer(%kv: memref<7735x64x576xf8E4M3FN>, %wide: memref<7735x64x576xbf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pages = arith.constant 7735 : index
  %zero = arith.constant 0.0 : f8E4M3FN
  %flat = memref.collapse_shape %kv [[0, 1], [2]] : memref<7735x64x576xf8E4M3FN> into memref<495040x576xf8E4M3FN>
  %again = memref.expand_shape %flat [[0, 1], [2]] output_shape [7735, 64, 576]
      : memref<495040x576xf8E4M3FN> into memref<7735x64x576xf8E4M3FN>
  scf.for %p = %c0 to %pages step %c1 {
    %x = vector.transfer_read %again[%p, %c0, %c0], %zero {in_bounds = [true, true]}
        : memref<7735x64x576xf8E4M3FN>, vector<64x576xf8E4M3FN>
    %y = arith.extf %x : vector<64x576xf8E4M3FN> to vector<64x576xbf16>
    vector.transfer_write %y, %wide[%p, %c0, %c0] {in_bounds = [true, true]}
        : vector<64x576xbf16>, memref<7735x64x576xbf16>
  }
  return
}

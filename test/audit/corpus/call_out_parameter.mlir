// A row helper converts one row into what it is given; the loop over all rows is in the caller.
// EXPECT: line 6
func.func private @row(%from: memref<495000x576xf8E4M3FN>, %to: memref<495000x576xbf16>, %t: index) {
  %c0 = arith.constant 0 : index
  %x = vector.load %from[%t, %c0] : memref<495000x576xf8E4M3FN>, vector<576xf8E4M3FN>
  %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
  vector.store %y, %to[%t, %c0] : memref<495000x576xbf16>, vector<576xbf16>
  return
}
func.func @layer(%kv: memref<495000x576xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %tokens = arith.constant 495000 : index
  %wide = memref.alloc() : memref<495000x576xbf16>
  scf.for %t = %c0 to %tokens step %c1 {
    func.call @row(%kv, %wide, %t) : (memref<495000x576xf8E4M3FN>, memref<495000x576xbf16>, index) -> ()
  }
  memref.dealloc %wide : memref<495000x576xbf16>
  return
}

// The same helper, called for one row of the batch: nothing of the pool's size is written.
// EXPECT-NONE
func.func private @row(%from: memref<495000x576xf8E4M3FN>, %to: memref<495000x576xbf16>, %t: index) {
  %c0 = arith.constant 0 : index
  %x = vector.load %from[%t, %c0] : memref<495000x576xf8E4M3FN>, vector<576xf8E4M3FN>
  %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
  vector.store %y, %to[%t, %c0] : memref<495000x576xbf16>, vector<576xbf16>
  return
}
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>, %t: index) {
  func.call @row(%kv, %wide, %t) : (memref<495000x576xf8E4M3FN>, memref<495000x576xbf16>, index) -> ()
  return
}

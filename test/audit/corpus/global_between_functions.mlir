// One function fills a global with converted rows, another reads it: the cast is in the first.
// EXPECT: line 6
memref.global "private" @wide : memref<495000x576xbf16> = uninitialized
func.func @prepare(%kv: memref<495000x576xf8E4M3FN>) {
  %wide = memref.get_global @wide : memref<495000x576xbf16>
  linalg.copy ins(%kv : memref<495000x576xf8E4M3FN>) outs(%wide : memref<495000x576xbf16>)
  return
}
func.func @use(%t: index) -> bf16 {
  %c0 = arith.constant 0 : index
  %wide = memref.get_global @wide : memref<495000x576xbf16>
  %x = memref.load %wide[%t, %c0] : memref<495000x576xbf16>
  return %x : bf16
}

// The pool is bytes; a view says that they are e4m3.
// EXPECT: line 6
func.func @layer(%bytes: memref<285120000xi8>, %wide: memref<495000x576xbf16>) {
  %c0 = arith.constant 0 : index
  %kv = memref.view %bytes[%c0][] : memref<285120000xi8> to memref<495000x576xf8E4M3FN>
  linalg.copy ins(%kv : memref<495000x576xf8E4M3FN>) outs(%wide : memref<495000x576xbf16>)
  return
}

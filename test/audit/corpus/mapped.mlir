// linalg.map, with the conversion in its mapper.
// EXPECT: line 6
func.func @layer(%kv: memref<?x576xf8E5M2>, %wide: memref<?x576xf16>) {
  linalg.map ins(%kv : memref<?x576xf8E5M2>) outs(%wide : memref<?x576xf16>)
    (%x: f8E5M2, %out: f16) {
      %y = arith.extf %x : f8E5M2 to f16
      linalg.yield %y : f16
    }
  return
}

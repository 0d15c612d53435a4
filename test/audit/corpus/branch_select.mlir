// The same with a select of memrefs.
// EXPECT: line 5
func.func @layer(%a: memref<?x576xf8E4M3FN>, %b: memref<?x576xf8E4M3FN>, %which: i1, %wide: memref<?x576xbf16>) {
  %kv = arith.select %which, %a, %b : memref<?x576xf8E4M3FN>
  linalg.copy ins(%kv : memref<?x576xf8E4M3FN>) outs(%wide : memref<?x576xbf16>)
  return
}

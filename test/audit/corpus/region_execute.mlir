// Through the results of region ops.
// EXPECT: line 8
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %pool = scf.execute_region -> memref<495000x576xf8E4M3FN> {
    scf.yield %kv : memref<495000x576xf8E4M3FN>
  }
  memref.alloca_scope {
    linalg.copy ins(%pool : memref<495000x576xf8E4M3FN>) outs(%wide : memref<495000x576xbf16>)
  }
  return
}

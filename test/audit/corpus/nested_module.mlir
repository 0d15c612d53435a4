// Functions of an inner module call one another.
// EXPECT: line 6
module {
  module @engine {
    func.func private @prepare(%x: memref<?x576xf8E4M3FN>, %y: memref<?x576xbf16>) {
      linalg.copy ins(%x : memref<?x576xf8E4M3FN>) outs(%y : memref<?x576xbf16>)
      return
    }
    func.func @layer(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>) {
      func.call @prepare(%kv, %wide) : (memref<?x576xf8E4M3FN>, memref<?x576xbf16>) -> ()
      return
    }
  }
}

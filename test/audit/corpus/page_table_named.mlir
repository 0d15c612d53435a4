// The table is known by its name alone.
// EXPECT: line 5
func.func @layer(%q: memref<8x576xbf16>, %kv: memref<4x16x576xf8E4M3FN>, %t: memref<2x2xi32> loc("block_table")) {
  %wide = memref.alloc() : memref<4x16x576xbf16>
  linalg.copy ins(%kv : memref<4x16x576xf8E4M3FN>) outs(%wide : memref<4x16x576xbf16>)
  return
}

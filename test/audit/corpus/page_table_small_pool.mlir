// A pool of a few pages is a buffer all the same: it stands beside a page table.
// EXPECT: line 5
func.func @layer(%kv: memref<4x16x576xf8E4M3FN>, %table: memref<2x2xi32> {mlac.page_table}) {
  %wide = memref.alloc() : memref<4x16x576xbf16>
  linalg.copy ins(%kv : memref<4x16x576xf8E4M3FN>) outs(%wide : memref<4x16x576xbf16>)
  return
}

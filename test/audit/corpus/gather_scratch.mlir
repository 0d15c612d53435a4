// The tokens of all requests are gathered through the page table into a scratch of the pool's size, and converted.
// EXPECT: line 19
func.func @gather(%kv: memref<?x64x576xf8E4M3FN>, %table: memref<?x?xi32> {mlac.page_table}, %scratch: memref<?x576xbf16>,
                  %requests: index, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %width = arith.constant 576 : index
  scf.for %r = %c0 to %requests step %c1 {
    scf.for %t = %c0 to %tokens step %c1 {
      %column = arith.divui %t, %c64 : index
      %slot = arith.remui %t, %c64 : index
      %entry = memref.load %table[%r, %column] : memref<?x?xi32>
      %page = arith.index_cast %entry : i32 to index
      %base = arith.muli %r, %tokens : index
      %row = arith.addi %base, %t : index
      scf.for %d = %c0 to %width step %c1 {
        %x = memref.load %kv[%page, %slot, %d] : memref<?x64x576xf8E4M3FN>
        %y = arith.extf %x : f8E4M3FN to bf16
        memref.store %y, %scratch[%row, %d] : memref<?x576xbf16>
      }
    }
  }
  return
}

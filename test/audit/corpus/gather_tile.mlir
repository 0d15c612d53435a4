// The same walk through the page table, into shared memory: what a kernel does.
// EXPECT-NONE
func.func @gather(%kv: memref<?x64x576xf8E4M3FN>, %table: memref<?x?xi32> {mlac.page_table}, %r: index, %pages: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f8E4M3FN
  %tile = memref.alloc() : memref<64x576xbf16, #gpu.address_space<workgroup>>
  scf.for %p = %c0 to %pages step %c1 {
    %entry = memref.load %table[%r, %p] : memref<?x?xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = vector.transfer_read %kv[%page, %c0, %c0], %zero : memref<?x64x576xf8E4M3FN>, vector<64x576xf8E4M3FN>
    %y = arith.extf %x : vector<64x576xf8E4M3FN> to vector<64x576xbf16>
    vector.transfer_write %y, %tile[%c0, %c0] : vector<64x576xbf16>, memref<64x576xbf16, #gpu.address_space<workgroup>>
  }
  return
}

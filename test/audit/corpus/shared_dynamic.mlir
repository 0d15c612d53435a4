// Dynamic shared memory has a size that nobody sees here; it is a tile all the same.
// EXPECT-NONE
#shared = #gpu.address_space<workgroup>
gpu.module @kernels {
  gpu.func @stage(%kv: memref<?x576xf8E4M3FN>, %rows: index, %first: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %d = gpu.thread_id x
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    %tile = memref.view %bytes[%c0][%rows] : memref<?xi8, #shared> to memref<?x576xbf16, #shared>
    scf.for %r = %c0 to %rows step %c1 {
      %t = arith.addi %first, %r : index
      %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to bf16
      memref.store %y, %tile[%r, %d] : memref<?x576xbf16, #shared>
    }
    gpu.return
  }
}

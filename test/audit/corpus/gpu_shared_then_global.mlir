// Converted into shared memory and written back to global memory from there.
// EXPECT: line 9
gpu.module @kernels {
  gpu.func @stage(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>)
      workgroup(%row: memref<576xbf16, 3>) kernel {
    %t = gpu.block_id x
    %d = gpu.thread_id x
    %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to bf16
    memref.store %y, %row[%d] : memref<576xbf16, 3>
    gpu.barrier
    %z = memref.load %row[%d] : memref<576xbf16, 3>
    memref.store %z, %wide[%t, %d] : memref<?x576xbf16>
    gpu.return
  }
}

// A kernel that converts into shared memory and writes f32 sums of products.
// EXPECT-NONE
gpu.module @kernels {
  gpu.func @scores(%kv: memref<?x576xf8E4M3FN>, %q: memref<8x576xf32>, %out: memref<?x8xf32>)
      workgroup(%tile: memref<64x576xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %width = arith.constant 576 : index
    %zero = arith.constant 0.0 : f32
    %b = gpu.block_id x
    %d = gpu.thread_id x
    %h = gpu.thread_id y
    %first = arith.muli %b, %c64 : index
    scf.for %r = %c0 to %c64 step %c1 {
      %t = arith.addi %first, %r : index
      %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to f32
      memref.store %y, %tile[%r, %d] : memref<64x576xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %sum = scf.for %i = %c0 to %width step %c1 iter_args(%acc = %zero) -> f32 {
      %k = memref.load %tile[%d, %i] : memref<64x576xf32, #gpu.address_space<workgroup>>
      %v = memref.load %q[%h, %i] : memref<8x576xf32>
      %p = arith.mulf %k, %v : f32
      %s = arith.addf %acc, %p : f32
      scf.yield %s : f32
    }
    memref.store %sum, %out[%first, %h] : memref<?x8xf32>
    gpu.return
  }
}

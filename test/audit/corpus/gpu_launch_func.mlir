// The host hands the pool to a kernel of dynamic shape.
// EXPECT: line 9
module attributes {gpu.container_module} {
  gpu.module @casts {
    gpu.func @cast(%from: memref<?x?xf8E4M3FN>, %to: memref<?x?xbf16>) kernel {
      %t = gpu.block_id x
      %d = gpu.thread_id x
      %x = memref.load %from[%t, %d] : memref<?x?xf8E4M3FN>
      %y = arith.extf %x : f8E4M3FN to bf16
      memref.store %y, %to[%t, %d] : memref<?x?xbf16>
      gpu.return
    }
  }
  func.func @layer(%kv: memref<495000x576xf8E4M3FN>) {
    %c1 = arith.constant 1 : index
    %tokens = arith.constant 495000 : index
    %width = arith.constant 576 : index
    %wide = gpu.alloc () : memref<495000x576xbf16>
    %from = memref.cast %kv : memref<495000x576xf8E4M3FN> to memref<?x?xf8E4M3FN>
    %to = memref.cast %wide : memref<495000x576xbf16> to memref<?x?xbf16>
    gpu.launch_func @casts::@cast blocks in (%tokens, %c1, %c1) threads in (%width, %c1, %c1)
        args(%from : memref<?x?xf8E4M3FN>, %to : memref<?x?xbf16>)
    return
  }
}

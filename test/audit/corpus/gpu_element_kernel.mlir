// A cast kernel: one thread an element, as engines launch it.
// EXPECT: line 8
gpu.module @casts {
  gpu.func @cast(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>) kernel {
    %t = gpu.block_id x
    %d = gpu.thread_id x
    %x = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
    %y = arith.extf %x : f8E4M3FN to bf16
    memref.store %y, %wide[%t, %d] : memref<?x576xbf16>
    gpu.return
  }
}

// Plain loops: products of query and cache are summed, and sums are stored as f32 for every token.
// EXPECT-NONE
func.func @scores(%q: memref<?x8x576xbf16>, %kv: memref<?x576xf8E4M3FN>, %out: memref<?x8x?xf32>, %tokens: index, %r: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %width = arith.constant 576 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %tokens step %c1 {
    scf.for %h = %c0 to %c8 step %c1 {
      %sum = scf.for %d = %c0 to %width step %c1 iter_args(%acc = %zero) -> f32 {
        %a = memref.load %q[%r, %h, %d] : memref<?x8x576xbf16>
        %b = memref.load %kv[%t, %d] : memref<?x576xf8E4M3FN>
        %x = arith.extf %a : bf16 to f32
        %y = arith.extf %b : f8E4M3FN to f32
        %next = math.fma %x, %y, %acc : f32
        scf.yield %next : f32
      }
      memref.store %sum, %out[%r, %h, %t] : memref<?x8x?xf32>
    }
  }
  return
}

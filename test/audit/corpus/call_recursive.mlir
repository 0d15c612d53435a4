// A function that calls itself on what is left; nobody knows how often.
// EXPECT: line 9
func.func @halve(%from: memref<?x576xf8E4M3FN>, %to: memref<?x576xbf16>, %t: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %next = arith.subi %t, %c1 : index
  %more = arith.cmpi sgt, %t, %c0 : index
  %x = memref.load %from[%t, %c0] : memref<?x576xf8E4M3FN>
  %y = arith.extf %x : f8E4M3FN to bf16
  memref.store %y, %to[%t, %c0] : memref<?x576xbf16>
  scf.if %more {
    func.call @halve(%from, %to, %next) : (memref<?x576xf8E4M3FN>, memref<?x576xbf16>, index) -> ()
  }
  return
}

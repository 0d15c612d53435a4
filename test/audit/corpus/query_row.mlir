// One request's query, converted in registers and kept there.
// EXPECT-NONE
func.func @layer(%q: memref<?x8x576xbf16>, %row: index, %f: f32) -> vector<8x576xf16> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0.0 : bf16
  %x = vector.transfer_read %q[%row, %c0, %c0], %none : memref<?x8x576xbf16>, vector<8x576xbf16>
  %s = arith.extf %x : vector<8x576xbf16> to vector<8x576xf32>
  %v = vector.broadcast %f : f32 to vector<8x576xf32>
  %p = arith.mulf %s, %v : vector<8x576xf32>
  %y = arith.truncf %p : vector<8x576xf32> to vector<8x576xf16>
  return %y : vector<8x576xf16>
}

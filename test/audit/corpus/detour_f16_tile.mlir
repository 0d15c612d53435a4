// The detour of a tile that stays in registers until it is contracted.
// EXPECT-NONE
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#acc = affine_map<(m, n, k) -> (m, n)>
func.func @scores(%kv: memref<?x576xf8E4M3FN>, %q: vector<8x576xbf16>, %t: index, %out: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f8E4M3FN
  %none = arith.constant dense<0.0> : vector<8x16xf32>
  %x = vector.transfer_read %kv[%t, %c0], %zero : memref<?x576xf8E4M3FN>, vector<16x576xf8E4M3FN>
  %h = arith.extf %x : vector<16x576xf8E4M3FN> to vector<16x576xf16>
  %s = arith.extf %h : vector<16x576xf16> to vector<16x576xf32>
  %y = arith.truncf %s : vector<16x576xf32> to vector<16x576xbf16>
  %p = vector.contract {indexing_maps = [#lhs, #rhs, #acc], iterator_types = ["parallel", "parallel", "reduction"]}
      %q, %y, %none : vector<8x576xbf16>, vector<16x576xbf16> into vector<8x16xf32>
  vector.transfer_write %p, %out[%c0, %c0] : vector<8x16xf32>, memref<8x16xf32>
  return
}

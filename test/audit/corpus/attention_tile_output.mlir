// A tile is contracted, and the f32 result is stored as bf16 for every query row.
// EXPECT-NONE
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#acc = affine_map<(m, n, k) -> (m, n)>
func.func @values(%kv: memref<?x576xf8E4M3FN>, %probs: memref<?x8x64xbf16>, %out: memref<?x8x512xbf16>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f8E4M3FN
  %none = arith.constant 0.0 : bf16
  %start = arith.constant dense<0.0> : vector<8x512xf32>
  scf.for %r = %c0 to %rows step %c1 {
    %x = vector.transfer_read %kv[%c0, %c0], %zero : memref<?x576xf8E4M3FN>, vector<64x512xf8E4M3FN>
    %v = arith.extf %x : vector<64x512xf8E4M3FN> to vector<64x512xbf16>
    %p = vector.transfer_read %probs[%r, %c0, %c0], %none : memref<?x8x64xbf16>, vector<8x64xbf16>
    %o = vector.contract {indexing_maps = [#lhs, #rhs, #acc], iterator_types = ["parallel", "parallel", "reduction"]}
        %p, %v, %start : vector<8x64xbf16>, vector<64x512xbf16> into vector<8x512xf32>
    %y = arith.truncf %o : vector<8x512xf32> to vector<8x512xbf16>
    vector.transfer_write %y, %out[%r, %c0, %c0] : vector<8x512xbf16>, memref<?x8x512xbf16>
  }
  return
}

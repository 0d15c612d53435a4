// A sum over all tokens, in f32: a reduction, however large its input.
// EXPECT-NONE
func.func @sums(%kv: memref<?x576xf8E4M3FN>, %out: memref<?x576xf32>, %tokens: index, %r: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<576xf32>
  %sum = scf.for %t = %c0 to %tokens step %c1 iter_args(%acc = %zero) -> vector<576xf32> {
    %x = vector.load %kv[%t, %c0] : memref<?x576xf8E4M3FN>, vector<576xf8E4M3FN>
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xf32>
    %next = arith.addf %acc, %y : vector<576xf32>
    scf.yield %next : vector<576xf32>
  }
  scf.for %i = %c0 to %r step %c1 {
    vector.store %sum, %out[%i, %c0] : memref<?x576xf32>, vector<576xf32>
  }
  return
}

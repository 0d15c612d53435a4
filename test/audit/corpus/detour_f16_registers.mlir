// The detour is in registers, and the result is stored for every token.
// EXPECT: line 10
func.func @layer(%kv: memref<495000x576xf8E4M3FN>, %wide: memref<495000x576xbf16>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %tokens = arith.constant 495000 : index
  %zero = arith.constant 0.0 : f8E4M3FN
  scf.for %t = %c0 to %tokens step %c16 {
    %x = vector.transfer_read %kv[%t, %c0], %zero : memref<495000x576xf8E4M3FN>, vector<16x576xf8E4M3FN>
    %h = arith.extf %x : vector<16x576xf8E4M3FN> to vector<16x576xf16>
    %s = arith.extf %h : vector<16x576xf16> to vector<16x576xf32>
    %y = arith.truncf %s : vector<16x576xf32> to vector<16x576xbf16>
    vector.transfer_write %y, %wide[%t, %c0] : vector<16x576xbf16>, memref<495000x576xbf16>
  }
  return
}

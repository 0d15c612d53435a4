// Accepted foreign modules pass unchanged, and what they convert is a tile: nowhere is there a wide pool.
// RUN: mla-opt %s --mla-reject-buffer-cast | FileCheck %s --implicit-check-not="495000x576xbf16" --implicit-check-not="495000x576xf16" --implicit-check-not="?x576xbf16"
// RUN: mlac audit %s | FileCheck %s --check-prefix=AUDIT

// AUDIT: kernel operand role storage compute dequantised at B/token a layer a step
// AUDIT: structured arg0 buffer e4m3 f32 accepted.mlir:[[#@LINE+16]] 576 285 MB -
// AUDIT: vectors arg0 buffer e4m3 f16 accepted.mlir:[[#@LINE+39]] 576 - -
// AUDIT: 0 whole-buffer casts

// CHECK-LABEL: func.func @structured
// CHECK: scf.for
// CHECK: tensor.extract_slice
// CHECK-NEXT: arith.extf %{{.+}} : tensor<64x576xf8E4M3FN> to tensor<64x576xbf16>
// CHECK: linalg.generic
// CHECK: return
func.func @structured(%kv: tensor<495000x576xf8E4M3FN>, %q: tensor<8x576xbf16>, %tokens: index) -> tensor<8x64xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %empty = tensor.empty() : tensor<8x64xf32>
  %scores = scf.for %t = %c0 to %tokens step %c64 iter_args(%acc = %empty) -> tensor<8x64xf32> {
    %tile = tensor.extract_slice %kv[%t, 0] [64, 576] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<64x576xf8E4M3FN>
    %k = arith.extf %tile : tensor<64x576xf8E4M3FN> to tensor<64x576xbf16>
    %next = linalg.generic {
        indexing_maps = [affine_map<(h, t, d) -> (h, d)>, affine_map<(h, t, d) -> (t, d)>, affine_map<(h, t, d) -> (h, t)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<8x576xbf16>, tensor<64x576xbf16>) outs(%acc : tensor<8x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %x = arith.extf %a : bf16 to f32
      %y = arith.extf %b : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %sum, %p : f32
      linalg.yield %s : f32
    } -> tensor<8x64xf32>
    scf.yield %next : tensor<8x64xf32>
  }
  return %scores : tensor<8x64xf32>
}

// CHECK-LABEL: func.func @vectors
// CHECK: vector.load
// CHECK-NEXT: arith.extf %{{.+}} : vector<16xf8E4M3FN> to vector<16xf16>
// CHECK-NEXT: vector.store %{{.+}}, %{{.+}} : memref<64x576xf16, #gpu.address_space<workgroup>>
// CHECK: return
func.func @vectors(%kv: memref<?x576xf8E4M3FN>, %tile: memref<64x576xf16, #gpu.address_space<workgroup>>, %t: index, %d: index) {
  %x = vector.load %kv[%t, %d] : memref<?x576xf8E4M3FN>, vector<16xf8E4M3FN>
  %y = arith.extf %x : vector<16xf8E4M3FN> to vector<16xf16>
  vector.store %y, %tile[%t, %d] : memref<64x576xf16, #gpu.address_space<workgroup>>, vector<16xf16>
  return
}

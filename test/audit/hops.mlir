// Each kind of step from a buffer to its cast has a note of its own; the error is at the cast, with what it moves,
// and the last note is the way out.
// RUN: mla-opt %s --mla-reject-buffer-cast -split-input-file -verify-diagnostics

// A view. 495,000 x 512 elements: 1 byte read and 2 written each.
// expected-note@+1 {{the buffer is declared here}}
func.func @slice(%kv: tensor<495000x576xf8E4M3FN>) -> tensor<495000x512xbf16> {
  // expected-note@+1 {{through `tensor.extract_slice` here}}
  %v = tensor.extract_slice %kv[0, 0] [495000, 512] [1, 1] : tensor<495000x576xf8E4M3FN> to tensor<495000x512xf8E4M3FN>
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16': 253,440,000 elements: 760 MB per call [buffer-cast]}}
  // expected-note@+1 {{keep the buffer as 'f8E4M3FN' and convert each tile after it is loaded, in registers or shared memory: load, then convert, then compute, and store nothing converted}}
  %wide = arith.extf %v : tensor<495000x512xf8E4M3FN> to tensor<495000x512xbf16>
  return %wide : tensor<495000x512xbf16>
}

// -----

// Several views, of memrefs, and the store.
// expected-note@+1 {{the buffer is declared here}}
func.func @views(%kv: memref<?x64x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{through `memref.collapse_shape` here}}
  %flat = memref.collapse_shape %kv [[0, 1], [2]] : memref<?x64x576xf8E4M3FN> into memref<?x576xf8E4M3FN>
  // expected-note@+1 {{through `memref.subview` here}}
  %half = memref.subview %flat[0, 0] [%tokens, 576] [1, 1]
      : memref<?x576xf8E4M3FN> to memref<?x576xf8E4M3FN, strided<[576, 1]>>
  scf.for %t = %c0 to %tokens step %c1 {
    %x = vector.load %half[%t, %c0] : memref<?x576xf8E4M3FN, strided<[576, 1]>>, vector<576xf8E4M3FN>
    // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16': reads 576 and writes 1,152 bytes for every token of the pool in every call [buffer-cast]}}
    // expected-note@+1 {{keep the buffer}}
    %y = arith.extf %x : vector<576xf8E4M3FN> to vector<576xbf16>
    // expected-note@+1 {{stored as 'bf16' by `vector.store` here}}
    vector.store %y, %wide[%t, %c0] : memref<?x576xbf16>, vector<576xbf16>
  }
  return
}

// -----

// Transposes are copies of what they transpose.
// expected-note@+1 {{the buffer is declared here}}
func.func @transpose(%kv: tensor<?x576xf8E4M3FN>, %empty: tensor<576x?xf8E4M3FN>) -> tensor<576x?xf16> {
  // expected-note@+1 {{copied by `linalg.transpose` here}}
  %t = linalg.transpose ins(%kv : tensor<?x576xf8E4M3FN>) outs(%empty : tensor<576x?xf8E4M3FN>) permutation = [1, 0]
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16'}}
  // expected-note@+1 {{keep the buffer}}
  %wide = arith.extf %t : tensor<576x?xf8E4M3FN> to tensor<576x?xf16>
  return %wide : tensor<576x?xf16>
}

// -----

// Into a function and out of it.
func.func private @widen(%x: tensor<?x576xf8E4M3FN>) -> tensor<?x576xf16> {
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16'}}
  // expected-note@+1 {{keep the buffer}}
  %wide = arith.extf %x : tensor<?x576xf8E4M3FN> to tensor<?x576xf16>
  return %wide : tensor<?x576xf16>
}
// expected-note@+1 {{the buffer is declared here}}
func.func @call(%kv: tensor<?x576xf8E4M3FN>) -> tensor<?x576xbf16> {
  // expected-note@+2 {{passed to a function here}}
  // expected-note@+1 {{returned from a function here}}
  %half = func.call @widen(%kv) : (tensor<?x576xf8E4M3FN>) -> tensor<?x576xf16>
  // expected-note@+1 {{converted again, to 'f32', here}}
  %single = arith.extf %half : tensor<?x576xf16> to tensor<?x576xf32>
  // expected-note@+1 {{converted again, to 'bf16', here}}
  %wide = arith.truncf %single : tensor<?x576xf32> to tensor<?x576xbf16>
  return %wide : tensor<?x576xbf16>
}

// -----

// Loops and conditions.
// expected-note@+1 {{the buffer is declared here}}
func.func @regions(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %n: index, %which: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note@+1 {{carried by `scf.for` here}}
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%pool = %kv) -> memref<?x576xf8E4M3FN> {
    scf.yield %pool : memref<?x576xf8E4M3FN>
  }
  // expected-note@+1 {{carried by `scf.if` here}}
  %one = scf.if %which -> memref<?x576xf8E4M3FN> {
    scf.yield %last : memref<?x576xf8E4M3FN>
  } else {
    scf.yield %kv : memref<?x576xf8E4M3FN>
  }
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16'}}
  // expected-note@+1 {{keep the buffer}}
  linalg.copy ins(%one : memref<?x576xf8E4M3FN>) outs(%wide : memref<?x576xbf16>)
  return
}

// -----

// Basic blocks, and a select.
// expected-note@+1 {{the buffer is declared here}}
func.func @blocks(%kv: memref<?x576xf8E4M3FN>, %other: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %c: i1) {
  // expected-note@+1 {{through `arith.select` here}}
  %one = arith.select %c, %kv, %other : memref<?x576xf8E4M3FN>
  // expected-note@+1 {{carried by `cf.br` here}}
  cf.br ^next(%one : memref<?x576xf8E4M3FN>)
^next(%pool: memref<?x576xf8E4M3FN>):
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16'}}
  // expected-note@+1 {{keep the buffer}}
  linalg.copy ins(%pool : memref<?x576xf8E4M3FN>) outs(%wide : memref<?x576xbf16>)
  return
}

// -----

// Copies before the cast, and what is stored after it.
// expected-note@+1 {{the buffer is declared here}}
func.func @copies(%kv: memref<?x576xf8E4M3FN>, %wide: memref<?x576xbf16>, %more: memref<?x576xbf16>, %n: index) {
  %same = memref.alloc(%n) : memref<?x576xf8E4M3FN>
  // expected-note@+1 {{copied by `memref.copy` here}}
  memref.copy %kv, %same : memref<?x576xf8E4M3FN> to memref<?x576xf8E4M3FN>
  // 576 x (1 + 2) bytes, and 576 x (2 + 2) of the copy.
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16': reads 1,728 and writes 2,304 bytes for every token}}
  // expected-note@+1 {{keep the buffer}}
  linalg.copy ins(%same : memref<?x576xf8E4M3FN>) outs(%wide : memref<?x576xbf16>)
  // expected-note@+1 {{stored as 'bf16' by `memref.copy` here}}
  memref.copy %wide, %more : memref<?x576xbf16> to memref<?x576xbf16>
  return
}

// -----

// An allocation that its author calls a buffer, and a gather and a scatter.
func.func @gather(%rows: tensor<64x1xi32>, %wide: tensor<64x576xbf16>) -> tensor<64x576xbf16> {
  // expected-note@+1 {{the buffer is declared here}}
  %kv = "vendor.pool"() {mlac.buffer} : () -> tensor<64x576xf8E4M3FN> // expected-remark {{ops of the dialect 'vendor' are not known: buffers are not followed through them [buffer-cast-unknown]}}
  // The copy of 36,864 x (1 + 2) bytes, and the scatter of 36,864 x (2 + 2).
  // expected-note@+1 {{copied by `tensor.gather` here}}
  %some = tensor.gather %kv[%rows] gather_dims([0]) : (tensor<64x576xf8E4M3FN>, tensor<64x1xi32>) -> tensor<64x576xf8E4M3FN>
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'bf16': 36,864 elements: 258 kB per call}}
  // expected-note@+1 {{keep the buffer}}
  %some16 = arith.extf %some : tensor<64x576xf8E4M3FN> to tensor<64x576xbf16>
  // expected-note@+1 {{through `tensor.expand_shape` here}}
  %update = tensor.expand_shape %some16 [[0, 1], [2]] output_shape [64, 1, 576] : tensor<64x576xbf16> into tensor<64x1x576xbf16>
  // expected-note@+1 {{stored as 'bf16' by `tensor.scatter` here}}
  %new = tensor.scatter %update into %wide[%rows] scatter_dims([0]) unique
      : (tensor<64x1x576xbf16>, tensor<64x576xbf16>, tensor<64x1xi32>) -> tensor<64x576xbf16>
  return %new : tensor<64x576xbf16>
}

// -----

// A remark a dialect, not one an op; and no error.
func.func @unknown(%kv: tensor<?x576xf8E4M3FN>) {
  // expected-remark@+1 {{ops of the dialect 'vendor' are not known}}
  %0 = "vendor.cast"(%kv) : (tensor<?x576xf8E4M3FN>) -> tensor<?x576xbf16>
  %1 = "vendor.cast"(%0) : (tensor<?x576xbf16>) -> tensor<?x576xf32>
  // expected-remark@+1 {{ops of the dialect 'other' are not known}}
  "other.use"(%1) : (tensor<?x576xf32>) -> ()
  return
}

// -----

// The threshold is an option; see threshold.test. 1 MiB of e4m3 is a buffer, one row less is a tile.
// expected-note@+1 {{the buffer is declared here}}
func.func @threshold(%large: tensor<2048x512xf8E4M3FN>, %small: tensor<2047x512xf8E4M3FN>) {
  // expected-error@+2 {{casts a whole 'f8E4M3FN' buffer to 'f16': 1,048,576 elements: 3.1 MB per call}}
  // expected-note@+1 {{keep the buffer}}
  %0 = arith.extf %large : tensor<2048x512xf8E4M3FN> to tensor<2048x512xf16>
  %1 = arith.extf %small : tensor<2047x512xf8E4M3FN> to tensor<2047x512xf16>
  return
}

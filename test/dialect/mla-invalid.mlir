// Every verifier rule of the mla dialect: one kernel a message, named after its rule.
// RUN: mla-opt %s -split-input-file -verify-diagnostics

//===-- Types ---===//

// expected-error@+1 {{a token's row has one or two positive dimensions [row-shape]}}
mla.kernel @"row-shape"(%a: !mla.buffer<paged, 0xf16>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{a token's row has one or two positive dimensions [row-shape]}}
mla.kernel @"row-shape"(%a: !mla.buffer<ragged, 2x8x64xf16>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{a token's row has one or two positive dimensions [row-shape]}}
mla.kernel @"row-shape"(%a: !mla.rows<f16>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{storage type 'i16' is not supported; e4m3, e5m2, int8, f16, bf16 or f32 [buffer-storage]}}
mla.kernel @"buffer-storage"(%a: !mla.buffer<paged, 576xi16>) attributes {compute = f16} {}

// -----

// The look-alike with infinities is another type.
// expected-error@+1 {{storage type 'f8E4M3' is not supported; e4m3, e5m2, int8, f16, bf16 or f32 [buffer-storage]}}
mla.kernel @"buffer-storage"(%a: !mla.buffer<paged, 576xf8E4M3>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{alignment of 2 bytes is not supported; 4, 8 or 16 [buffer-align]}}
mla.kernel @"buffer-align"(%a: !mla.buffer<paged, 576xf16, align = 2>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{alignment of 32 bytes is not supported; 4, 8 or 16 [buffer-align]}}
mla.kernel @"buffer-align"(%a: !mla.buffer<paged, 576xf16, align = 32>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{rows hold floating-point values or int8, not 'i32' [rows-element]}}
mla.kernel @"rows-element"(%a: !mla.rows<576xi32>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{a record has 9 parts; 1 to 8 [record-parts]}}
mla.kernel @"record-parts"(%a: !mla.buffer<paged, 144x!mla.record<<"p0" : i8[16]>, <"p1" : i8[16]>, <"p2" : i8[16]>, <"p3" : i8[16]>, <"p4" : i8[16]>, <"p5" : i8[16]>, <"p6" : i8[16]>, <"p7" : i8[16]>, <"p8" : i8[16]>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part x is 24 wide; a multiple of 16 [record-width]}}
mla.kernel @"record-width"(%a: !mla.buffer<paged, 24x!mla.record<<"x" : bf16[24]>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part x stores 'f32'; e4m3, e5m2, int8, f16 or bf16 [record-storage]}}
mla.kernel @"record-storage"(%a: !mla.buffer<paged, 16x!mla.record<<"x" : f32[16]>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part x stores 'bf16', and only 8-bit values have scales [record-scale]}}
mla.kernel @"record-scale"(%a: !mla.buffer<paged, 64x!mla.record<<"x" : bf16[64] scaled f32 per 32>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part x has no scales that could lie apart [record-scale]}}
mla.kernel @"record-scale"(%a: !mla.buffer<paged, 64x!mla.record<<"x" : i8[64], apart>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part x has groups of 48; a multiple of 32 that divides its width of 96 [record-group]}}
mla.kernel @"record-group"(%a: !mla.buffer<paged, 96x!mla.record<<"x" : i8[96] scaled ue8m0 per 48>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{part y begins at byte 516; a multiple of 16 [record-offset]}}
mla.kernel @"record-offset"(%a: !mla.buffer<paged, 576x!mla.record<<"x" : f8E4M3FN[512] scaled ue8m0 per 128>, <"y" : bf16[64]>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{a record of 80 columns is a whole row, without heads [record-row]}}
mla.kernel @"record-row"(%a: !mla.buffer<paged, 64x!mla.record<<"x" : bf16[64]>, <"y" : f16[16]>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{a record of 72 bytes does not keep an alignment of 16 [record-align]}}
mla.kernel @"record-align"(%a: !mla.buffer<paged, 64x!mla.record<<"x" : f8E4M3FN[64] scaled f32 per 32>>>) attributes {compute = f16} {}

// -----

// expected-error@+1 {{unknown layout 'blocked'; ragged or paged}}
mla.kernel @layout(%a: !mla.buffer<blocked, 576xf16>) attributes {compute = f16} {}

// -----

//===-- Structure ---===//

// expected-error@+1 {{'mla.kernel' op cannot compute in 'f32'; f16 or bf16, and f32 in a writer [kernel-compute]}}
mla.kernel @"kernel-compute"() attributes {compute = f32} {
  mla.return
}

// -----

// expected-error@+1 {{'mla.kernel' op cannot return '!mla.rows<8x512xf32>'; buffers and log-sum-exps [kernel-results]}}
mla.kernel @"kernel-results"(%a: !mla.rows<8x512xf32>) -> !mla.rows<8x512xf32> attributes {compute = f16} {
  mla.return %a : !mla.rows<8x512xf32>
}

// -----

mla.kernel @"return-count"(%a: !mla.lse<8, ln>) -> !mla.lse<8, ln> attributes {compute = f16} {
  // expected-error@+1 {{'mla.return' op returns 2 values, the kernel declares 1 [return-count]}}
  mla.return %a, %a : !mla.lse<8, ln>, !mla.lse<8, ln>
}

// -----

mla.kernel @"return-type"(%a: !mla.rows<8x512xf32>) -> !mla.buffer<ragged, 16x512xbf16> attributes {compute = f16} {
  // expected-error@+1 {{'mla.return' op returns '!mla.rows<8x512xf32>' where '!mla.buffer<ragged, 16x512xbf16>' is declared [return-type]}}
  mla.return %a : !mla.rows<8x512xf32>
}

// -----

// The base of a log-sum-exp is part of what is declared.
mla.kernel @"return-type"(%a: !mla.lse<8, ln>) -> !mla.lse<8, log2> attributes {compute = f16} {
  // expected-error@+1 {{'mla.return' op returns '!mla.lse<8, ln>' where '!mla.lse<8, log2>' is declared [return-type]}}
  mla.return %a : !mla.lse<8, ln>
}

// -----

//===-- Stored values become numbers ---===//

mla.kernel @"dequant-shape"(%a: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dequant' op changes the row's shape [dequant-shape]}}
  %0 = mla.dequant %a : <paged, 576xf8E4M3FN> -> <512xf16>
  mla.return
}

// -----

mla.kernel @"dequant-compute"(%a: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = bf16} {
  // expected-error@+1 {{'mla.dequant' op makes 'f16' where the kernel computes in 'bf16' [dequant-compute]}}
  %0 = mla.dequant %a : <paged, 576xf8E4M3FN> -> <576xf16>
  mla.return
}

// -----

mla.kernel @"cast-shape"(%a: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = bf16} {
  // expected-error@+1 {{'mla.cast' op changes the row's shape [cast-shape]}}
  %0 = mla.cast %a : !mla.buffer<paged, 576xf8E4M3FN> -> <1x576xbf16>
  mla.return
}

// -----

mla.kernel @"slice-bounds"(%a: !mla.rows<576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.slice' op [512:577] is not within a row of 576 [slice-bounds]}}
  %0 = mla.slice %a[512 : 577] : !mla.rows<576xf16> -> <65xf16>
  mla.return
}

// -----

mla.kernel @"slice-bounds"(%a: !mla.rows<576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.slice' op [64:64] is not within a row of 576 [slice-bounds]}}
  %0 = mla.slice %a[64 : 64] : !mla.rows<576xf16> -> <64xf16>
  mla.return
}

// -----

mla.kernel @"slice-bounds"(%a: !mla.rows<576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.slice' op [-1:63] is not within a row of 576 [slice-bounds]}}
  %0 = mla.slice %a[-1 : 63] : !mla.rows<576xf16> -> <64xf16>
  mla.return
}

// -----

mla.kernel @"slice-bounds"(%a: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.slice' op has a result type that is not its slice [slice-bounds]}}
  %0 = mla.slice %a[0 : 512] : !mla.buffer<paged, 576xf8E4M3FN> -> <512xf16>
  mla.return
}

// -----

//===-- Attention ---===//

mla.kernel @"dot-query"(%q: !mla.buffer<ragged, 576xf16>, %k: !mla.rows<576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dot' op has a query without heads [dot-query]}}
  %0 = mla.dot %q, %k : !mla.buffer<ragged, 576xf16>, !mla.rows<576xf16> -> <1>
  mla.return
}

// -----

mla.kernel @"dot-query"(%q: !mla.buffer<ragged, 8x576xf16>, %k: !mla.rows<576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dot' op has scores of 16 heads for a query of 8 [dot-query]}}
  %0 = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<576xf16> -> <16>
  mla.return
}

// -----

mla.kernel @"dot-key"(%q: !mla.buffer<ragged, 8x576xf16>, %k: !mla.rows<3x576xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dot' op has a key of 3 heads, which do not divide the query's 8 [dot-key]}}
  %0 = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<3x576xf16> -> <8>
  mla.return
}

// -----

mla.kernel @"dot-width"(%q: !mla.buffer<ragged, 8x576xf16>, %k: !mla.rows<512xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dot' op contracts a query row of 576 with a key row of 512 [dot-width]}}
  %0 = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.rows<512xf16> -> <8>
  mla.return
}

// -----

mla.kernel @"dot-storage"(%q: !mla.buffer<ragged, 8x576xf16>, %k: !mla.buffer<paged, 576xf8E4M3FN>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.dot' op uses a key stored as 'f8E4M3FN' where the kernel computes in 'f16'; read it through mla.dequant [dot-storage]}}
  %0 = mla.dot %q, %k : !mla.buffer<ragged, 8x576xf16>, !mla.buffer<paged, 576xf8E4M3FN> -> <8>
  mla.return
}

// -----

mla.kernel @"softmax-heads"(%s: !mla.scores<8>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.softmax' op changes the number of heads [softmax-heads]}}
  %0 = mla.softmax %s : <8> -> <16>
  mla.return
}

// -----

mla.kernel @"attend-value"(%p: !mla.probs<8>, %v: !mla.rows<16x512xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.attend' op has a value of 16 heads, which do not divide the query's 8 [attend-value]}}
  %0 = mla.attend %p, %v : <8>, !mla.rows<16x512xf16> -> <8x512xf32>
  mla.return
}

// -----

mla.kernel @"attend-result"(%p: !mla.probs<8>, %v: !mla.rows<512xf16>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.attend' op must give f32 rows of 8x512 [attend-result]}}
  %0 = mla.attend %p, %v : <8>, !mla.rows<512xf16> -> <8x512xf16>
  mla.return
}

// -----

mla.kernel @"attend-storage"(%p: !mla.probs<8>, %v: !mla.buffer<paged, 512xf16>) attributes {compute = bf16} {
  // expected-error@+1 {{'mla.attend' op uses a value stored as 'f16' where the kernel computes in 'bf16'; read it through mla.dequant [attend-storage]}}
  %0 = mla.attend %p, %v : <8>, !mla.buffer<paged, 512xf16> -> <8x512xf32>
  mla.return
}

// -----

mla.kernel @"lse-heads"(%s: !mla.scores<8>) attributes {compute = f16} {
  // expected-error@+1 {{'mla.logsumexp' op changes the number of heads [lse-heads]}}
  %0 = mla.logsumexp %s : <8> -> <4, ln>
  mla.return
}

// -----

mla.kernel @"window-left"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // expected-error@+1 {{'mla.window' op reaches -1 tokens to the left; 0 or more [window-left]}}
  %w = mla.window %s left -1 : <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-scores"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // expected-error@+1 {{'mla.edit' op makes '!mla.scores<4>' from '!mla.scores<8>' [edit-scores]}}
  %e = mla.edit(%t) {
  ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    mla.yield %x
  } : !mla.scores<8> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-arguments"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // expected-error@+1 {{'mla.edit' op has a region with 1 f32 and 3 i32 arguments [edit-arguments]}}
  %e = mla.edit(%s) {
  ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32):
    mla.yield %x
  } : !mla.scores<4> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-arguments"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // Positions are integers.
  // expected-error@+1 {{'mla.edit' op has a region with 1 f32 and 3 i32 arguments [edit-arguments]}}
  %e = mla.edit(%s) {
  ^bb0(%x: f32, %q_pos: f32, %kv_pos: i32, %head: i32):
    mla.yield %x
  } : !mla.scores<4> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-op"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // expected-error@+1 {{'mla.edit' op holds 'math.sqrt', which is no arithmetic on f32, i32 and i1 [edit-op]}}
  %e = mla.edit(%s) {
  ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    // expected-note@+1 {{the op is here}}
    %root = math.sqrt %x : f32
    mla.yield %root
  } : !mla.scores<4> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-op"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // Arithmetic, but not of scores.
  // expected-error@+1 {{'mla.edit' op holds 'arith.sitofp', which is no arithmetic on f32, i32 and i1 [edit-op]}}
  %e = mla.edit(%s) {
  ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    // expected-note@+1 {{the op is here}}
    %wide = arith.sitofp %head : i32 to f64
    mla.yield %x
  } : !mla.scores<4> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"edit-heads"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  %e = mla.edit(%s) {
  ^bb0(%x: f32, %q_pos: i32, %kv_pos: i32, %head: i32):
    // expected-error@+1 {{'mla.head_value' op reads values of 8 heads for scores of 4 [edit-heads]}}
    %value = mla.head_value %values : <8>
    mla.yield %value
  } : !mla.scores<4> -> <4>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

mla.kernel @"sink-heads"(%s: !mla.scores<4>, %t: !mla.scores<8>, %values: !mla.head_values<8>) -> !mla.lse<4, ln>
    attributes {compute = f16} {
  // expected-error@+1 {{'mla.sink' op has logits of 8 heads for scores of 4 [sink-heads]}}
  %k = mla.sink %s, %values : <4>, <8>
  %lse = mla.logsumexp %s : <4> -> <4, ln>
  mla.return %lse : !mla.lse<4, ln>
}

// -----

//===-- Writers ---===//

// expected-error@+1 {{'mla.kernel' op cannot compute in 'f16'; f16 or bf16, and f32 in a writer [kernel-compute]}}
mla.kernel @"kernel-compute"(%a: !mla.rows<64xf16>) -> !mla.buffer<paged, 64xf16> attributes {compute = f16} {
  mla.return %a : !mla.rows<64xf16>
}

// -----

mla.kernel @"return-type"(%a: !mla.rows<64xf32>) -> !mla.buffer<paged, 64xi8> attributes {compute = f32} {
  // expected-error@+1 {{'mla.return' op returns '!mla.rows<64xf32>' where '!mla.buffer<paged, 64xi8>' is declared [return-type]}}
  mla.return %a : !mla.rows<64xf32>
}

// -----

mla.kernel @"return-type"(%a: !mla.lse<8, ln>) -> !mla.buffer<paged, 64xi8> attributes {compute = f32} {
  // expected-error@+1 {{'mla.return' op returns '!mla.lse<8, ln>' where '!mla.buffer<paged, 64xi8>' is declared [return-type]}}
  mla.return %a : !mla.lse<8, ln>
}

// -----

mla.kernel @"concat-rows"(%a: !mla.buffer<ragged, 64xf16>, %b: !mla.buffer<ragged, 32xbf16>) -> !mla.buffer<paged, 96xf16>
    attributes {compute = f32} {
  // expected-error@+1 {{'mla.concat' op must give 'f32' rows of 96 [concat-rows]}}
  %r = mla.concat %a, %b : !mla.buffer<ragged, 64xf16>, !mla.buffer<ragged, 32xbf16> -> <96xf16>
  mla.return %r : !mla.rows<96xf16>
}

// -----

mla.kernel @"concat-rows"(%a: !mla.buffer<ragged, 2x64xf16>) -> !mla.buffer<paged, 128xf16> attributes {compute = f32} {
  // expected-error@+1 {{'mla.concat' op joins rows with heads [concat-rows]}}
  %r = mla.concat %a, %a : !mla.buffer<ragged, 2x64xf16>, !mla.buffer<ragged, 2x64xf16> -> <128xf16>
  mla.return %r : !mla.rows<128xf16>
}

// -----

mla.kernel @"divide-rows"(%a: !mla.buffer<ragged, 64xf16>, %s: f32) -> !mla.buffer<paged, 64xf16> attributes {compute = f32} {
  // expected-error@+1 {{'mla.divide' op must give f32 rows of its source's shape [divide-rows]}}
  %r = mla.divide %a, %s : !mla.buffer<ragged, 64xf16> -> <64xf16>
  mla.return %r : !mla.rows<64xf16>
}

// -----

mla.kernel @"quant-shape"(%a: !mla.rows<64xf32>) -> !mla.buffer<paged, 32xi8> attributes {compute = f32} {
  // expected-error@+1 {{'mla.quant' op changes the row's shape [quant-shape]}}
  %r = mla.quant %a : !mla.rows<64xf32> -> <32xi8>
  mla.return %r : !mla.rows<32xi8>
}

// What a writer cannot store, and rows that no access covers.
// RUN: mla-opt %s --mla-tile-writer -split-input-file -verify-diagnostics

mla.kernel @"writer-form"(%a: !mla.rows<64xf16>) -> !mla.buffer<paged, 64xf16> attributes {compute = f32} {
  // expected-error@+1 {{the rows are not whole buffers side by side; a writer stores quant(concat(buffers...) / scale) in one cache [writer-form]}}
  mla.return %a : !mla.rows<64xf16>
}

// -----

mla.kernel @"writer-form"(%a: !mla.buffer<ragged, 64xf16>) -> !mla.buffer<paged, 32xf16> attributes {compute = f32} {
  %half = mla.slice %a[32 : 64] : !mla.buffer<ragged, 64xf16> -> <32xf16>
  // expected-error@+1 {{the rows are not whole buffers side by side; a writer stores quant(concat(buffers...) / scale) in one cache [writer-form]}}
  mla.return %half : !mla.rows<32xf16>
}

// -----

// expected-error@+1 {{there is more than one result; a writer stores quant(concat(buffers...) / scale) in one cache [writer-form]}}
mla.kernel @"writer-form"(%a: !mla.rows<64xf16>) -> (!mla.buffer<paged, 64xf16>, !mla.buffer<paged, 64xf16>) attributes {compute = f32} {
  mla.return %a, %a : !mla.rows<64xf16>, !mla.rows<64xf16>
}

// -----

// expected-error@+1 {{new rows are read from '!mla.buffer<ragged, 64xf8E4M3FN>'; ragged f16 or bf16 without heads [writer-source]}}
mla.kernel @"writer-source"(%a: !mla.buffer<ragged, 64xf8E4M3FN>) -> !mla.buffer<paged, 64xf16> attributes {compute = f32} {
  %stored = mla.quant %a : !mla.buffer<ragged, 64xf8E4M3FN> -> <64xf16>
  mla.return %stored : !mla.rows<64xf16>
}

// -----

// expected-error@+1 {{new rows are read from '!mla.buffer<paged, 64xf16>'; ragged f16 or bf16 without heads [writer-source]}}
mla.kernel @"writer-source"(%a: !mla.buffer<paged, 64xf16>) -> !mla.buffer<paged, 64xf16> attributes {compute = f32} {
  %stored = mla.quant %a : !mla.buffer<paged, 64xf16> -> <64xf16>
  mla.return %stored : !mla.rows<64xf16>
}

// -----

// expected-error@+1 {{a part of the row is 18 wide; a multiple of 4 [writer-width]}}
mla.kernel @"writer-width"(%a: !mla.buffer<ragged, 18xf16>) -> !mla.buffer<paged, 18xf16> attributes {compute = f32} {
  %stored = mla.quant %a : !mla.buffer<ragged, 18xf16> -> <18xf16>
  mla.return %stored : !mla.rows<18xf16>
}

// -----

// expected-error@+1 {{rows are written to '!mla.buffer<paged, 64xf32>'; a cache without heads, of e4m3, e5m2, int8, f16 or bf16 [writer-cache]}}
mla.kernel @"writer-cache"(%a: !mla.buffer<ragged, 64xf16>) -> !mla.buffer<paged, 64xf32> attributes {compute = f32} {
  %stored = mla.quant %a : !mla.buffer<ragged, 64xf16> -> <64xf32>
  mla.return %stored : !mla.rows<64xf32>
}

// -----

mla.kernel @"scale-form"(%a: !mla.buffer<ragged, 64xf16>, %s: f32, %t: f32) -> !mla.buffer<paged, 64xf16> attributes {compute = f32} {
  // expected-error@+1 {{a scale is a product of scalars and numbers [scale-form]}}
  %sum = arith.addf %s, %t : f32
  %numbers = mla.divide %a, %sum : !mla.buffer<ragged, 64xf16> -> <64xf32>
  %stored = mla.quant %numbers : !mla.rows<64xf32> -> <64xf16>
  mla.return %stored : !mla.rows<64xf16>
}

// -----

// expected-warning@+1 {{hints say nothing to a kernel that writes into a cache [hint-family]}}
mla.kernel @"hint-family"(%a: !mla.buffer<ragged, 64xf16>) -> !mla.buffer<paged, 64xf16> attributes {compute = f32, mla.hints = {rows = 8 : i64}} {
  %stored = mla.quant %a : !mla.buffer<ragged, 64xf16> -> <64xf16>
  mla.return %stored : !mla.rows<64xf16>
}

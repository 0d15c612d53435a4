// A dequant that reads no load would need a converted tile in memory.
// RUN: mla-opt %s --tile-fuse-dequant -split-input-file -verify-diagnostics

tile.kernel @"dequant-unfused"(%acc8: !tile.tile<?x512xf8E4M3FN>, %stat: !tile.tile<?x1xf32>, %f: f32, %item: !tile.item,
                               %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xbf16>)
    attributes {compute = f16, heads = 8 : i64} {
  // expected-error@+1 {{this dequant does not read a tile load, so a converted tile would have to be stored [dequant-unfused]}}
  %acc = tile.dequant %acc8 : <?x512xf8E4M3FN> -> <?x512xf32>
  tile.finish %item, %plan, %acc, %stat, %stat, %f to %o : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
  tile.return
}

// -----

// A tile that was converted in its load is not converted again.
tile.kernel @"dequant-unfused"(%kv: !mla.buffer<ragged, 512xf8E4M3FN>, %i: i32, %stat: !tile.tile<?x1xf32>, %f: f32, %item: !tile.item,
                               %plan: !tile.plan, %o: !mla.buffer<ragged, 8x512xbf16>)
    attributes {compute = f16, heads = 8 : i64} {
  %half = tile.load %kv[%item, %i] : <ragged, 512xf8E4M3FN> -> <?x512xf16 from f8E4M3FN>
  // expected-error@+1 {{this dequant does not read a tile load, so a converted tile would have to be stored [dequant-unfused]}}
  %acc = tile.dequant %half : <?x512xf16 from f8E4M3FN> -> <?x512xf32>
  tile.finish %item, %plan, %acc, %stat, %stat, %f to %o : <?x512xf32>, <?x1xf32>, <?x1xf32> to <ragged, 8x512xbf16>
  tile.return
}

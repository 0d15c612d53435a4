// The scheduled form of writers: what mla-tile-writer makes and tile-to-nvvm lowers.
#ifndef DIALECT_TILE_WRITEROPS_TD
#define DIALECT_TILE_WRITEROPS_TD

include "dialect/tile/TileOps.td"

def Tile_AppendOp : Tile_Op<"append", [AttrSizedOperandSegments]> {
  let summary = "new rows, side by side, divided, rounded and written to a cache";
  let description = [{
    A thread takes `elements` neighbouring elements of one row; threads walk along rows, so that a row's bytes are read and written
    by neighbours. Where a row goes is looked up in `places`; one that goes nowhere is not written, and no address outside of the
    pool is formed. Where they are not `rounded`, the sources'
    bits are copied.
    Rules: [append-storage] what is copied has the cache's storage, and nothing is divided; [append-width] the sources are together as wide as the cache, and each is a multiple of `elements`;
    [append-elements] `elements` is 4, 8 or 16.
  }];
  let arguments = (ins Variadic<MLA_BufferType>:$sources, Optional<F32>:$divisor, Tile_PlacesType:$places,
                       MLA_BufferType:$cache, UnitAttr:$rounded, I64Attr:$elements, I64Attr:$threads);
  let assemblyFormat = [{ $sources (`over` $divisor^)? (`rounded` $rounded^)? `to` $cache `at` $places attr-dict
                          `:` type($sources) `to` type($cache) }];
  let hasVerifier = 1;
}

#endif

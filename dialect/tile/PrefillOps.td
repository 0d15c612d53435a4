// The scheduled form of prefill: what tile-pipeline-prefill makes and tile-to-nvvm lowers, one pattern an op.
//
// A warp owns query rows, on the matrix instruction's m side, and their scores, probabilities and sums never leave its registers:
// the scores' accumulators are, converted, the first operand of the product with the values. Warps share the tiles of keys and
// values, each in a ring of its own (#tile.prefill_schedule). Allocations, commits, waits and barriers are those of
// ScheduledOps.td.
#ifndef DIALECT_TILE_PREFILLOPS_TD
#define DIALECT_TILE_PREFILLOPS_TD

include "dialect/tile/TileOps.td"

def Tile_LoadQueryRowsOp : Tile_Op<"load_query_rows", []> {
  let summary = "the item's query rows to shared memory, in the compute type";
  let description = [{
    The order of the columns follows the keys' storage, as in tile.load_query. Rows past the request's end are 0.
  }];
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item, Tile_SharedType:$query, TypeAttr:$storage);
  let assemblyFormat = "$source `[` $item `]` `for` $storage `to` $query attr-dict `:` type($source) `to` type($query)";
}

def Tile_CopyRowsOp : Tile_Op<"copy_rows", []> {
  let summary = "start the asynchronous copy of a KV tile of the item's request and KV head into one stage";
  let description = [{
    Rows past the request's end become 0. Nothing is copied when `enabled` is false. Rule: [copy-width] row and stage have
    the same width.
  }];
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item, I32:$tile, Tile_SharedType:$ring, I32:$stage,
                       I1:$enabled);
  let assemblyFormat = [{ $source `[` $item `,` $tile `]` `to` $ring `[` $stage `]` `if` $enabled attr-dict
                          `:` type($source) `to` type($ring) }];
  let hasVerifier = 1;
}

def Tile_ScoreRowsOp : Tile_Op<"score_rows", []> {
  let summary = "a warp's scores: its rows of the query times all tokens of one stage";
  let description = "Stored elements are converted here. Rule: [score-rows-shape].";
  let arguments = (ins Tile_SharedType:$query, Tile_SharedType:$ring, I32:$stage);
  let results = (outs Tile_FragmentType:$scores);
  let assemblyFormat = "$query `,` $ring `[` $stage `]` attr-dict `:` type($query) `,` type($ring) `->` type($scores)";
  let hasVerifier = 1;
}

def Tile_MaskRowsOp : Tile_Op<"mask_rows", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores edited, and -inf where a row may not see a token";
  let description = [{
    Causal, window and edit are as in `tile.mask`. Bounds are looked for only in a tile that not all of a warp's rows see
    whole. With `scale` scores are multiplied by it before the edit, and are in base-2 units afterwards; without it they stay
    products, which the softmax scales. Rule: [mask-rows-scale] an edit is of scaled scores.
  }];
  let arguments = (ins Tile_FragmentType:$scores, Tile_ItemType:$item, I32:$tile, Optional<F32>:$scale, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Tile_FragmentType:$result);
  let regions = (region MaxSizedRegion<1>:$edit);
  let assemblyFormat = [{ (`causal` $causal^)? (`window` $window^)? $scores `[` $item `,` $tile `]` (`scale` $scale^)?
                          (`edit` $edit^)? attr-dict `:` type($scores) }];
  let hasVerifier = 1;
}

def Tile_SoftmaxRowsOp : Tile_Op<"softmax_rows", [AllTypesMatch<["maximum", "sum", "newMaximum", "newSum", "shrink"]>]> {
  let summary = "one step of the online softmax of a warp's rows; the probabilities are the next product's operand";
  let description = [{
    Scores times `scale`, above 0, are in base-2 units. `maximum` is a reference that follows the running maximum when that has
    grown by more than 8: probabilities are then at most 2^8, and accumulators shrink only when they must. `sum` holds each
    lane's own part. Rule: [softmax-rows-shape].
  }];
  let arguments = (ins Tile_FragmentType:$scores, Tile_FragmentType:$maximum, Tile_FragmentType:$sum, F32:$scale);
  let results = (outs Tile_FragmentType:$probs, Tile_FragmentType:$newMaximum, Tile_FragmentType:$newSum,
                      Tile_FragmentType:$shrink);
  let assemblyFormat = [{ $scores `stats` $maximum `,` $sum `scale` $scale attr-dict
                          `:` type($scores) `stats` type($maximum) `->` type($probs) }];
  let hasVerifier = 1;
}

def Tile_RescaleRowsOp : Tile_Op<"rescale_rows", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator times each row's shrink factor; skipped by warps none of whose rows shrink";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_FragmentType:$shrink);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$accumulator `by` $shrink attr-dict `:` type($accumulator) `by` type($shrink)";
}

def Tile_WeighRowsOp : Tile_Op<"weigh_rows", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + a warp's probabilities times the values of one stage";
  let description = "Stored elements are converted here. Rule: [weigh-rows-shape].";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_FragmentType:$probs, Tile_SharedType:$ring, I32:$stage);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = [{ $accumulator `,` $probs `,` $ring `[` $stage `]` attr-dict
                          `:` type($accumulator) `,` type($probs) `,` type($ring) }];
  let hasVerifier = 1;
}

def Tile_StoreRowsOp : Tile_Op<"store_rows", [AllTypesMatch<["maximum", "sum"]>, AttrSizedOperandSegments]> {
  let summary = "accumulator / sum times a factor to the output, and the log-sum-exps";
  let description = [{
    A row that saw no token gets 0 and -inf. `storage` is the values' stored type: it decides which dimensions a lane holds.
    The sink is as in `tile.finish`.
  }];
  let arguments = (ins Tile_ItemType:$item, Tile_FragmentType:$accumulator, Tile_FragmentType:$maximum,
                       Tile_FragmentType:$sum, F32:$factor, TypeAttr:$storage, MLA_BufferType:$out,
                       Optional<MLA_BufferType>:$lse, Optional<MLA_HeadValuesType>:$sink, EnumProp<MLA_LseBase>:$base,
                       UnitAttr:$sink_in_lse);
  let assemblyFormat = [{ $item `,` $accumulator `,` $maximum `,` $sum `times` $factor `from` $storage `to` $out
                          (`,` `lse` $base $lse^)? (`sink` $sink^)? attr-dict `:` type($accumulator) `,` type($maximum)
                          `to` type($out) (`,` type($lse)^)? (`sink` type($sink)^)? }];
}

#endif

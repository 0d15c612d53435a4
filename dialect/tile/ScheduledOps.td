// The scheduled form: what tile-pipeline makes and tile-to-nvvm lowers, one pattern an op.
//
// A block's warps form groups (#tile.schedule). Each group walks its own share of the item's tokens through its own
// ring, with its own probabilities and statistics; groups meet only at the item's start and end.
#ifndef DIALECT_TILE_SCHEDULEDOPS_TD
#define DIALECT_TILE_SCHEDULEDOPS_TD

include "dialect/tile/TileOps.td"

def Tile_AllocOp : Tile_Op<"alloc", []> {
  let summary = "a shared-memory allocation at a fixed byte offset of the block's dynamic shared memory";
  let description = "Rule: [alloc-align] the offset is a multiple of 16.";
  let arguments = (ins StrAttr:$name, I64Attr:$offset);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$name `at` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===-- Copies and barriers ----------------------------------------------------------------------------===//

def Tile_FirstItemOp : Tile_Op<"first_item", []> {
  let summary = "the block's first work item; one without rows if it has none";
  let arguments = (ins Tile_PlanType:$plan);
  let results = (outs Tile_ItemType:$result);
  let assemblyFormat = "$plan attr-dict";
}

def Tile_NextItemOp : Tile_Op<"next_item", []> {
  let summary = "the block's work item after this one; one without rows if this is the last";
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan);
  let results = (outs Tile_ItemType:$result);
  let assemblyFormat = "$item `of` $plan attr-dict";
}

def Tile_FetchQueryOp : Tile_Op<"fetch_query", []> {
  let summary = "load the item's query rows into the block's registers";
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item);
  let results = (outs Tile_PiecesType:$result);
  let assemblyFormat = "$source `[` $item `]` attr-dict `:` type($source) `->` type($result)";
}

def Tile_StoreQueryOp : Tile_Op<"store_query", []> {
  let summary = "fetched query rows to shared memory, in the compute type";
  let description = [{
    The order of the columns follows the cached row's storage: the pairs that one register of the key holds after
    its conversion (see FragmentLayout). Rows past the request's end are 0.
  }];
  let arguments = (ins Tile_PiecesType:$pieces, Tile_ItemType:$item, Tile_SharedType:$query, TypeAttr:$element,
                       TypeAttr:$storage);
  let assemblyFormat = [{ $pieces `of` $item `:` $element `for` $storage `to` $query attr-dict
                          `:` type($pieces) `to` type($query) }];
}

def Tile_StreamOp : Tile_Op<"stream", []> {
  let summary = "the first of the KV tiles that this block reads";
  let arguments = (ins Tile_PlanType:$plan);
  let results = (outs Tile_CursorType:$result);
  let assemblyFormat = "$plan attr-dict";
}

def Tile_AdvanceOp : Tile_Op<"advance", []> {
  let summary = "the next of the KV tiles that this block reads, of this item or a later one";
  let description = "Past the last tile the cursor names no row: what is copied from there is 0.";
  let arguments = (ins Tile_CursorType:$cursor, Tile_PlanType:$plan);
  let results = (outs Tile_CursorType:$result);
  let assemblyFormat = "$cursor `of` $plan attr-dict";
}

def Tile_LocateOp : Tile_Op<"locate", []> {
  let summary = "page and place of this thread's rows of its group's KV tile; reads the page table, only within the request";
  let arguments = (ins MLA_BufferType:$source, Tile_CursorType:$cursor);
  let results = (outs Tile_AddressType:$result);
  let assemblyFormat = "$source `[` $cursor `]` attr-dict `:` type($source) `->` type($result)";
}

def Tile_CopyOp : Tile_Op<"copy", []> {
  let summary = "start the asynchronous copy of a group's KV tile into one stage; rows past the request's end become 0";
  let description = "Rule: [copy-width] row and stage have the same width.";
  let arguments = (ins MLA_BufferType:$source, Tile_AddressType:$from, Tile_SharedType:$ring, I32:$stage);
  let assemblyFormat = [{ $source `at` $from `to` $ring `[` $stage `]` attr-dict
                          `:` type($source) `,` type($from) `to` type($ring) }];
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_Op<"commit", []> {
  let summary = "close this thread's batch of asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Tile_WaitOp : Tile_Op<"wait", []> {
  let summary = "wait until at most `pending` of this thread's batches are still under way";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", []> {
  let summary = "all threads of the block meet; earlier shared-memory accesses are visible to all";
  let assemblyFormat = "attr-dict";
}

def Tile_SyncOp : Tile_Op<"sync", []> {
  let summary = "the threads of a group meet; earlier shared-memory accesses are visible to the group";
  let assemblyFormat = "attr-dict";
}

//===-- One tile ---------------------------------------------------------------------------------------===//

def Tile_ScoreOp : Tile_Op<"score", []> {
  let summary = "a warp's scores: its tokens of one stage times its rows of the query";
  let description = "Tokens on the instruction's m side, rows on its n side; stored elements are converted here.";
  let arguments = (ins Tile_SharedType:$query, Tile_SharedType:$ring, I32:$stage);
  let results = (outs Tile_FragmentType:$scores);
  let assemblyFormat = "$query `,` $ring `[` $stage `]` attr-dict `:` type($query) `,` type($ring) `->` type($scores)";
}

def Tile_MaskScoresOp : Tile_Op<"mask_scores", [AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores times `scale`, edited, -inf where a row may not see a token";
  let description = "Causal, window and edit are as in `tile.mask`.";
  let arguments = (ins Tile_FragmentType:$scores, Tile_ItemType:$item, I32:$tile, F32:$scale, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Tile_FragmentType:$result);
  let regions = (region MaxSizedRegion<1>:$edit);
  let assemblyFormat = [{ (`causal` $causal^)? (`window` $window^)? $scores `[` $item `,` $tile `]` `scale` $scale
                          (`edit` $edit^)? attr-dict `:` type($scores) }];
  let hasVerifier = 1;
}

def Tile_StoreMaximaOp : Tile_Op<"store_maxima", []> {
  let summary = "each row's maximum over a warp's tokens, to shared memory";
  let arguments = (ins Tile_FragmentType:$scores, Tile_SharedType:$maxima);
  let assemblyFormat = "$scores `to` $maxima attr-dict `:` type($scores) `to` type($maxima)";
}

def Tile_SoftmaxOp : Tile_Op<"softmax", [AttrSizedOperandSegments,
                                         AllTypesMatch<["reference", "sum", "newReference", "newSum", "shrink"]>]> {
  let summary = "one step of the online softmax; the probabilities go to shared memory in the compute type";
  let description = [{
    A warp keeps, of its own rows, the reference that is subtracted from scores, and its own tokens' part of the sum. A
    reference starts as -inf. It moves to the row's maximum when that has grown to more than `headroom` above it, so that
    probabilities are at most 2^headroom, and sums are seldom rescaled. They are stored 2^lift too large. Without `maxima` one warp has
    all of the group's tokens and finds the maxima by itself. With `scales`, where the tile lies, the probabilities are kept once
    for each of the value's groups of columns, times the token's scale of that group and 2^kGroupShift.
    Rules: [softmax-scales] the value's columns have scales; [softmax-copies] there is a copy for each group and warp group.
  }];
  let hasVerifier = 1;
  let arguments = (ins Tile_FragmentType:$scores, Tile_SharedType:$probs, Tile_FragmentType:$reference,
                       Tile_FragmentType:$sum, Optional<Tile_SharedType>:$maxima, Optional<Tile_SharedType>:$scales,
                       Optional<I32>:$stage, OptionalAttr<I64Attr>:$column, OptionalAttr<I64Attr>:$width,
                       DefaultValuedAttr<I64Attr, "0">:$lift, DefaultValuedAttr<I64Attr, "0">:$headroom);
  let results = (outs Tile_FragmentType:$newReference, Tile_FragmentType:$newSum, Tile_FragmentType:$shrink);
  let assemblyFormat = [{ $scores `to` $probs `stats` $reference `,` $sum (`with` $maxima^)?
                          (`scales` $scales^ `[` $stage `]` `columns` $column `+` $width)? attr-dict
                          `:` type($scores) `to` type($probs) `stats` type($reference) (`with` type($maxima)^)?
                          (`scales` type($scales)^)? }];
}

def Tile_ShareRowsOp : Tile_Op<"share_rows", []> {
  let summary = "a value of each of a warp's own rows, to shared memory";
  let arguments = (ins Tile_FragmentType:$values, Tile_SharedType:$memory);
  let assemblyFormat = "$values `to` $memory attr-dict `:` type($values) `to` type($memory)";
}

def Tile_AllRowsOp : Tile_Op<"all_rows", []> {
  let summary = "the values that a group's warps shared, of all rows";
  let arguments = (ins Tile_SharedType:$memory);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$memory attr-dict `:` type($memory) `->` type($result)";
}

def Tile_RescaleOp : Tile_Op<"rescale", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator times each row's shrink factor";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_FragmentType:$shrink);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$accumulator `by` $shrink attr-dict `:` type($accumulator) `by` type($shrink)";
}

def Tile_WeighOp : Tile_Op<"weigh", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + values of one stage times probabilities; a warp owns a range of value dimensions";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_SharedType:$probs, Tile_SharedType:$ring, I32:$stage,
                       I64Attr:$column, I64Attr:$width);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = [{ $accumulator `,` $probs `,` $ring `[` $stage `]` `columns` $column `+` $width attr-dict
                          `:` type($accumulator) `,` type($probs) `,` type($ring) }];
}

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "a fragment of one value";
  let arguments = (ins F32Attr:$value);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

//===-- The end of an item -----------------------------------------------------------------------------===//

def Tile_StoreStatsOp : Tile_Op<"store_stats", [AllTypesMatch<["reference", "sum"]>]> {
  let summary = "the reference of each of a warp's rows, and its part of their sums, to shared memory";
  let arguments = (ins Tile_FragmentType:$reference, Tile_FragmentType:$sum, Tile_SharedType:$stats);
  let assemblyFormat = "$reference `,` $sum `to` $stats attr-dict `:` type($reference) `to` type($stats)";
}

def Tile_FinishRowsOp : Tile_Op<"finish_rows", [AttrSizedOperandSegments]> {
  let summary = "what a group's accumulators must be multiplied by to add up to the result, and the log-sum-exps";
  let description = [{
    The factor of a row is 2^(group's reference - largest of all) / sum of all * `factor`; 0 for a row that saw no token, whose
    log-sum-exp is -inf. The log-sum-exp goes to `lse` in `base`, or in base 2 to the item's partial slot. The sink is as in
    `tile.finish`.
  }];
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan, Tile_SharedType:$stats,
                       F32:$factor, Optional<MLA_BufferType>:$lse, Optional<MLA_HeadValuesType>:$sink,
                       EnumProp<MLA_LseBase>:$base, UnitAttr:$sink_in_lse);
  let results = (outs Tile_FragmentType:$rowFactor);
  let assemblyFormat = [{ $item `,` $plan `,` $stats `times` $factor (`,` `lse` $base $lse^)?
                          (`sink` $sink^)? attr-dict `:` type($stats) (`,` type($lse)^)?
                          (`sink` type($sink)^)? `->` type($rowFactor) }];
}

def Tile_MergeGroupsOp : Tile_Op<"merge_groups", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "the sum of all groups' accumulators, in the first group; through shared memory, halving the groups";
  let description = [{
    All threads of the block meet in it. The memory is the query's, which nobody uses any more; the accumulators go through it
    in as many rounds as it takes.
  }];
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_SharedType:$memory);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$accumulator `through` $memory attr-dict `:` type($accumulator) `through` type($memory)";
}

def Tile_StoreResultOp : Tile_Op<"store_result", []> {
  let summary = "the first group's accumulators to the output, or to the item's partial slot as f32";
  let description = "`storage` is the cached type: it decides which dimensions a lane holds (see FragmentLayout).";
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan, Tile_FragmentType:$accumulator, TypeAttr:$storage,
                       I64Attr:$width, MLA_BufferType:$out);
  let assemblyFormat = [{ $item `,` $plan `,` $accumulator `from` $storage `width` $width `to` $out attr-dict
                          `:` type($accumulator) `to` type($out) }];
}

#endif

// The scheduled form: what tile-pipeline makes and tile-to-nvvm lowers, one pattern an op.
#ifndef DIALECT_TILE_SCHEDULEDOPS_TD
#define DIALECT_TILE_SCHEDULEDOPS_TD

include "dialect/tile/TileOps.td"

def Tile_AllocOp : Tile_Op<"alloc", []> {
  let summary = "a shared-memory allocation at a fixed byte offset of the block's dynamic shared memory";
  let arguments = (ins StrAttr:$name, I64Attr:$offset);
  let results = (outs Tile_SharedType:$result);
  let assemblyFormat = "$name `at` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_QueryFragmentOp : Tile_Op<"query_fragment", []> {
  let summary = "a warp's columns of the item's query rows, as the operand of its score products";
  let description = [{
    The order of the columns follows the cached row's storage: the pairs that one register of the key holds after
    its conversion (see FragmentLayout). Rows past the request's end are 0.
  }];
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item, TypeAttr:$storage);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$source `[` $item `]` `for` $storage attr-dict `:` type($source) `->` type($result)";
}

def Tile_LocateOp : Tile_Op<"locate", []> {
  let summary = "where this thread's row of a KV tile lies; reads the page table, only within the request";
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item, I32:$tile);
  let results = (outs Tile_AddressType:$result);
  let assemblyFormat = "$source `[` $item `,` $tile `]` attr-dict `:` type($source)";
}

def Tile_CopyOp : Tile_Op<"copy", []> {
  let summary = "start the asynchronous copy of a KV tile into one stage; rows past the request's end become 0";
  let description = "Nothing is copied when `enabled` is false. Rule: [copy-width] row and stage have the same width.";
  let arguments = (ins MLA_BufferType:$source, Tile_AddressType:$from, Tile_SharedType:$ring, I32:$stage, I1:$enabled);
  let assemblyFormat = "$source `at` $from `to` $ring `[` $stage `]` `if` $enabled attr-dict `:` type($source) `to` type($ring)";
  let hasVerifier = 1;
}

def Tile_CommitOp : Tile_Op<"commit", []> {
  let summary = "close this thread's group of asynchronous copies";
  let assemblyFormat = "attr-dict";
}

def Tile_WaitOp : Tile_Op<"wait", []> {
  let summary = "wait until at most `pending` of this thread's groups are still under way";
  let arguments = (ins I32Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
}

def Tile_BarrierOp : Tile_Op<"barrier", []> {
  let summary = "all threads of the block meet; earlier shared-memory accesses are visible to all";
  let assemblyFormat = "attr-dict";
}

def Tile_ScoreOp : Tile_Op<"score", []> {
  let summary = "a warp's partial scores: its tokens of one stage times its columns of the query";
  let description = "tokens on the instruction's m side, rows on its n side; stored elements are converted here.";
  let arguments = (ins Tile_FragmentType:$query, Tile_SharedType:$ring, I32:$stage);
  let results = (outs Tile_FragmentType:$scores);
  let assemblyFormat = "$query `,` $ring `[` $stage `]` attr-dict `:` type($query) `,` type($ring) `->` type($scores)";
}

def Tile_StoreScoresOp : Tile_Op<"store_scores", []> {
  let summary = "write a warp's partial scores to shared memory, one plane a dim warp";
  let arguments = (ins Tile_FragmentType:$scores, Tile_SharedType:$planes);
  let assemblyFormat = "$scores `to` $planes attr-dict `:` type($scores) `to` type($planes)";
}

def Tile_SoftmaxOp : Tile_Op<"softmax", []> {
  let summary = "sum the planes, scale, mask, and take one step of the online softmax";
  let description = [{
    Each thread owns some tokens of one row and keeps that row's running maximum and its own part of the sum.
    Writes the probabilities in the compute type and the row's shrink factor to shared memory.
  }];
  let arguments = (ins Tile_SharedType:$planes, Tile_SharedType:$probs, Tile_SharedType:$shrink, Tile_ItemType:$item,
                       I32:$tile, F32:$scale, F32:$maximum, F32:$sum, UnitAttr:$causal);
  let results = (outs F32:$newMaximum, F32:$newSum);
  let assemblyFormat = [{ (`causal` $causal^)? $planes `to` $probs `,` $shrink `[` $item `,` $tile `]` `scale` $scale
                          `stats` $maximum `,` $sum attr-dict `:` type($planes) `to` type($probs) `,` type($shrink) }];
}

def Tile_RescaleOp : Tile_Op<"rescale", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator times each row's shrink factor";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_SharedType:$shrink);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$accumulator `by` $shrink attr-dict `:` type($accumulator) `by` type($shrink)";
}

def Tile_WeighOp : Tile_Op<"weigh", [AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator + values of one stage times probabilities; a warp owns a range of value dimensions";
  let description = "Rule: [weigh-dims] the warps' ranges cover the value exactly.";
  let arguments = (ins Tile_FragmentType:$accumulator, Tile_SharedType:$probs, Tile_SharedType:$ring, I32:$stage,
                       I64Attr:$column, I64Attr:$width);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = [{ $accumulator `,` $probs `,` $ring `[` $stage `]` `columns` $column `+` $width attr-dict
                          `:` type($accumulator) `,` type($probs) `,` type($ring) }];
  let hasVerifier = 1;
}

def Tile_ZeroOp : Tile_Op<"zero", [Pure]> {
  let summary = "an accumulator of zeros";
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Tile_FinishRowsOp : Tile_Op<"finish_rows", []> {
  let summary = "each row's final factor, factor / sum, to shared memory, and its log-sum-exp to global memory";
  let description = [{
    0 and -inf for a row that saw no token. The log-sum-exp goes to `lse` in `base`, or in base 2 to the item's
    partial slot.
  }];
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan, F32:$maximum, F32:$sum, F32:$factor,
                       Tile_SharedType:$rowFactor, Optional<MLA_BufferType>:$lse, EnumProp<MLA_LseBase>:$base);
  let assemblyFormat = [{ $item `,` $plan `stats` $maximum `,` $sum `,` $factor `to` $rowFactor (`,` `lse` $base $lse^)?
                          attr-dict `:` type($rowFactor) (`,` type($lse)^)? }];
}

def Tile_StoreResultOp : Tile_Op<"store_result", []> {
  let summary = "accumulator times each row's final factor: to the output, or to the item's partial slot as f32";
  let description = "`storage` is the cached type: it decides which dimensions a lane holds (see FragmentLayout).";
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan, Tile_FragmentType:$accumulator,
                       Tile_SharedType:$rowFactor, TypeAttr:$storage, I64Attr:$width, MLA_BufferType:$out);
  let assemblyFormat = [{ $item `,` $plan `,` $accumulator `by` $rowFactor `from` $storage `width` $width `to` $out attr-dict
                          `:` type($accumulator) `by` type($rowFactor) `to` type($out) }];
}

#endif

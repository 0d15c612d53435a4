// Tiles as values: what mla-tile makes and tile-fuse-dequant and tile-schedule refine.
#ifndef DIALECT_TILE_OPS_TD
#define DIALECT_TILE_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/mla/MLATypes.td"
include "dialect/tile/TileTypes.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "one launchable entry point";
  let description = [{
    Arguments are the program's buffers and scalars (attribute `mla.name` holds each one's name) and one
    `!tile.plan`. There are two families of schedules: a decode kernel reads keys and values from one latent row that all
    heads share, and gets a `schedule`; a prefill kernel has `kv_heads`, keys and values of their own, and gets a
    `prefill_schedule`. Rules: [tile-kernel-results] nothing is returned; [tile-kernel-heads] KV heads divide heads.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, TypeAttr:$compute,
                       I64Attr:$heads, OptionalAttr<I64Attr>:$kv_heads, OptionalAttr<Tile_ScheduleAttr>:$schedule,
                       OptionalAttr<Tile_PrefillScheduleAttr>:$prefill_schedule, OptionalAttr<DictionaryAttr>:$hints,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
    StringRef getArgName(unsigned index);
    bool isPrefill() { return getKvHeads().has_value(); }
    /// Query heads that share a key and value.
    int64_t getHeadsPerKv() { return getHeads() / int64_t(getKvHeads().value_or(1)); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Terminator, HasParent<"KernelOp">]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_ItemsOp : Tile_Op<"items", [SingleBlockImplicitTerminator<"YieldOp">, InferTypeOpAdaptor]> {
  let summary = "once for each work item that the plan gave this block, with values carried from item to item";
  let arguments = (ins Tile_PlanType:$plan, Variadic<AnyType>:$inits);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$plan (`carrying` $inits^ `:` type($inits))? $body attr-dict";
  let hasVerifier = 1;
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"ItemsOp">]> {
  let summary = "end of a work item; what the next one is handed";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins)>];
}

def Tile_RangeOp : Tile_Op<"range", [Pure]> {
  let summary = "the item's KV tiles: begin and end";
  let arguments = (ins Tile_ItemType:$item);
  let results = (outs I32:$begin, I32:$end);
  let assemblyFormat = "$item attr-dict";
}

def Tile_QueryOp : Tile_Op<"query", [Pure]> {
  let summary = "the item's packed (query token x head) rows, in the compute type; rows past the end are 0";
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$source `[` $item `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [Pure]> {
  let summary = "one KV tile of the item's request; tokens past its end are 0";
  let description = [{
    Rules: [load-width] the tile keeps the row's width; [load-storage] the tile's storage is the buffer's.
  }];
  let arguments = (ins MLA_BufferType:$source, Tile_ItemType:$item, I32:$tile);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$source `[` $item `,` $tile `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_DequantOp : Tile_Op<"dequant", [Pure]> {
  let summary = "stored values as compute values; tile-fuse-dequant moves it into the load";
  let description = "Rule: [tile-dequant-shape] the shape is kept.";
  let arguments = (ins Tile_TileType:$source);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "columns [begin, end) of a tile";
  let description = "Rule: [tile-slice-bounds] 0 <= begin < end <= columns.";
  let arguments = (ins Tile_TileType:$source, I64Attr:$begin, I64Attr:$end);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$source `[` $begin `:` $end `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "a tile of one value";
  let arguments = (ins F32Attr:$value);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Tile_DotOp : Tile_Op<"dot", [Pure]> {
  let summary = "scores of a query tile against a key tile, f32";
  let description = "Rules: [tile-dot-width] equal widths; [tile-dot-element] equal elements; [tile-dot-shape].";
  let arguments = (ins Tile_TileType:$query, Tile_TileType:$key);
  let results = (outs Tile_TileType:$scores);
  let assemblyFormat = "$query `,` $key attr-dict `:` type($query) `,` type($key) `->` type($scores)";
  let hasVerifier = 1;
}

def Tile_ScaleOp : Tile_Op<"scale", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "every element times one f32";
  let arguments = (ins Tile_TileType:$source, F32:$factor);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$source `,` $factor attr-dict `:` type($source)";
}

def Tile_MaskOp : Tile_Op<"mask", [Pure, AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores edited, and -inf where a row may not see a token";
  let description = [{
    Hidden are tokens past the request's end; with `causal` those later than the row's own; with `window` those more than
    that many tokens earlier; and those that the edit does not keep. The edit is a region as in `mla.edit`, over one
    score; hidden tokens' results are discarded.
    Rules: as of `mla.edit`; [tile-window] the window is not negative.
  }];
  let arguments = (ins Tile_TileType:$scores, Tile_ItemType:$item, I32:$tile, UnitAttr:$causal,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Tile_TileType:$result);
  let regions = (region MaxSizedRegion<1>:$edit);
  let assemblyFormat = [{ (`causal` $causal^)? (`window` $window^)? $scores `[` $item `,` $tile `]` (`edit` $edit^)? attr-dict
                          `:` type($scores) }];
  let hasVerifier = 1;
}

def Tile_OnlineSoftmaxOp : Tile_Op<"online_softmax", [Pure]> {
  let summary = "one step of the online softmax, base 2";
  let description = [{
    From scores in base-2 units, the running maximum and the running sum: probabilities of this tile, the new
    maximum and sum, and the factor by which earlier sums and accumulators shrink.
    Rule: [softmax-stats] maximum, sum and shrink are one f32 a row.
  }];
  let arguments = (ins Tile_TileType:$scores, Tile_TileType:$maximum, Tile_TileType:$sum);
  let results = (outs Tile_TileType:$probs, Tile_TileType:$newMaximum, Tile_TileType:$newSum, Tile_TileType:$shrink);
  let assemblyFormat = "$scores `,` $maximum `,` $sum attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Tile_AccumulateOp : Tile_Op<"accumulate", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "accumulator * shrink + probabilities * values";
  let description = "Rules: [accumulate-width] value and accumulator have the same width; [accumulate-element].";
  let arguments = (ins Tile_TileType:$accumulator, Tile_TileType:$shrink, Tile_TileType:$probs, Tile_TileType:$value);
  let results = (outs Tile_TileType:$result);
  let assemblyFormat = "$accumulator `,` $shrink `,` $probs `,` $value attr-dict `:` type(operands) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_FinishOp : Tile_Op<"finish", [AttrSizedOperandSegments]> {
  let summary = "accumulator / sum times a factor, and the log-sum-exp: to the outputs, or to the item's partial slot";
  let description = [{
    The log-sum-exp is stored in `base`; partial ones are always base 2. A sink, a logit a head in natural units, adds its
    exponential to the sum, and with `sink_in_lse` to the log-sum-exp; partial results leave it out.
  }];
  let arguments = (ins Tile_ItemType:$item, Tile_PlanType:$plan, Tile_TileType:$accumulator, Tile_TileType:$maximum,
                       Tile_TileType:$sum, F32:$factor, MLA_BufferType:$out, Optional<MLA_BufferType>:$lse,
                       Optional<MLA_HeadValuesType>:$sink, EnumProp<MLA_LseBase>:$base, UnitAttr:$sink_in_lse);
  let assemblyFormat = [{ $item `,` $plan `,` $accumulator `,` $maximum `,` $sum `,` $factor `to` $out
                          (`,` `lse` $base $lse^)? (`sink` $sink^)? attr-dict
                          `:` type($accumulator) `,` type($maximum) `,` type($sum) `to` type($out) (`,` type($lse)^)?
                          (`sink` type($sink)^)? }];
}

def Tile_CombineOp : Tile_Op<"combine", [AttrSizedOperandSegments]> {
  let summary = "merge the partial results of a row that several blocks worked on";
  let description = "The sink is as in `tile.finish`.";
  let arguments = (ins Tile_PlanType:$plan, MLA_BufferType:$out, Optional<MLA_BufferType>:$lse,
                       Optional<MLA_HeadValuesType>:$sink, EnumProp<MLA_LseBase>:$base, UnitAttr:$sink_in_lse,
                       I64Attr:$rows, I64Attr:$threads);
  let assemblyFormat = [{ $plan `to` $out (`,` `lse` $base $lse^)? (`sink` $sink^)? attr-dict
                          `:` type($out) (`,` type($lse)^)? (`sink` type($sink)^)? }];
}

def Tile_MergeOp : Tile_Op<"merge", [SameVariadicOperandSize]> {
  let summary = "merge the first `count` results of a row over disjoint sets of cached tokens";
  let description = [{
    Each result is an output and its log-sum-exp, in `base`; all have one type. A result whose log-sum-exp is -inf
    contributes nothing, whatever its output holds; the merge of one result has its bits.
  }];
  let arguments = (ins I32:$count, Variadic<MLA_BufferType>:$outs, Variadic<MLA_BufferType>:$lses,
                       MLA_BufferType:$out, MLA_BufferType:$lse, EnumProp<MLA_LseBase>:$base, I64Attr:$threads);
  let assemblyFormat = [{ $count `of` `(` $outs `)` `,` `lse` `(` $lses `)` `to` $out `,` `lse` $base $lse attr-dict
                          `:` type($outs) `lse` type($lses) `to` type($out) `,` type($lse) }];
}

#endif

#ifndef DIALECT_MLA_OPS_TD
#define DIALECT_MLA_OPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialect/mla/MLATypes.td"

class MLA_Op<string mnemonic, list<Trait> traits = []> : Op<MLA_Dialect, mnemonic, traits>;

def MLA_Rowish : AnyTypeOf<[MLA_BufferType, MLA_RowsType], "a buffer or rows">;

//===-- Structure ------------------------------------------------------------------------------------===//

def MLA_KernelOp : MLA_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove, OpAsmOpInterface]> {
  let summary = "one kernel: typed buffers and scalars in, typed buffers out";
  let description = [{
    Every argument and result carries its source name as the attribute `mla.name`. `compute` is the element type
    of the matrix products: what is declared here is what the PTX contains. A kernel whose result is a cache is a writer: it
    multiplies nothing, and computes in f32.
    Rules: [kernel-compute] compute is f16 or bf16, of a writer f32; [kernel-results] results are buffers and log-sum-exps.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, TypeAttr:$compute,
                       OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ArrayRef<Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ArrayRef<Type> getResultTypes() { return getFunctionType().getResults(); }
    Region *getCallableRegion() { return &getBody(); }
    StringRef getArgName(unsigned index);
    StringRef getResName(unsigned index);
    bool isWriter();
  }];
}

def MLA_ReturnOp : MLA_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "the kernel's results, in declared order";
  let description = [{
    Rules: [return-count] one value a declared result; [return-type] rows and probabilities match the declared
    shape, a cache's also its storage, a log-sum-exp its declared base.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

//===-- Stored values become numbers ------------------------------------------------------------------===//

def MLA_DequantOp : MLA_Op<"dequant", [Pure]> {
  let summary = "stored values as compute values, per tile, while the tile is loaded";
  let description = [{
    Nothing is stored: the conversion happens on the way from shared memory to the matrix unit, once for each
    cached element a tile. Rules: [dequant-shape] the row keeps its shape; [dequant-compute] the result has the
    kernel's compute type.
  }];
  let arguments = (ins MLA_BufferType:$source);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_CastOp : MLA_Op<"cast", [Pure]> {
  let summary = "a converted copy of a whole buffer; refused by mla-reject-buffer-cast";
  let description = "Rule: [cast-shape] the row keeps its shape.";
  let arguments = (ins MLA_Rowish:$source);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_SliceOp : MLA_Op<"slice", [Pure]> {
  let summary = "columns [begin, end) of every row";
  let description = "Rule: [slice-bounds] 0 <= begin < end <= width.";
  let arguments = (ins MLA_Rowish:$source, I64Attr:$begin, I64Attr:$end);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$source `[` $begin `:` $end `]` attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_ScaleOp : MLA_Op<"scale", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "every element times one f32";
  let arguments = (ins AnyTypeOf<[MLA_RowsType, MLA_ScoresType]>:$source, F32:$factor);
  let results = (outs AnyTypeOf<[MLA_RowsType, MLA_ScoresType]>:$result);
  let assemblyFormat = "$source `,` $factor attr-dict `:` type($source)";
}

//===-- Attention --------------------------------------------------------------------------------------===//

def MLA_DotOp : MLA_Op<"dot", [Pure]> {
  let summary = "scores: query rows times cached rows";
  let description = [{
    Rules: [dot-width] both rows have the same width; [dot-query] the query has heads; [dot-key] the key is shared
    by all heads, or its heads divide the query's: each is then shared by as many neighbours; [dot-storage] a key whose
    storage differs from the compute type goes through `dequant` first.
  }];
  let arguments = (ins MLA_Rowish:$query, MLA_Rowish:$key);
  let results = (outs MLA_ScoresType:$scores);
  let assemblyFormat = "$query `,` $key attr-dict `:` type($query) `,` type($key) `->` type($scores)";
  let hasVerifier = 1;
}

def MLA_CausalOp : MLA_Op<"causal", [Pure, SameOperandsAndResultType]> {
  let summary = "causal mask, aligned bottom-right: query i sees key j <= i + kv_len - q_len";
  let arguments = (ins MLA_ScoresType:$scores);
  let results = (outs MLA_ScoresType:$result);
  let assemblyFormat = "$scores attr-dict `:` type($scores)";
}

def MLA_WindowOp : MLA_Op<"window", [Pure, SameOperandsAndResultType]> {
  let summary = "sliding-window mask: query i sees key j >= i + kv_len - q_len - left";
  let description = "Rule: [window-left] left is not negative.";
  let arguments = (ins MLA_ScoresType:$scores, I64Attr:$left);
  let results = (outs MLA_ScoresType:$result);
  let assemblyFormat = "$scores `left` $left attr-dict `:` type($scores)";
  let hasVerifier = 1;
}

def MLA_EditOp : MLA_Op<"edit", [Pure]> {
  let summary = "scores computed element by element from scores";
  let description = [{
    The region takes the element of each of the scores, then the query token's position, the cached token's position
    and the head, as i32; positions count from the request's first cached token. It yields the new score and,
    optionally, a condition: where that is false, the query row does not see the token. A token that is hidden in any of
    the scores is hidden in the result; nothing is computed from it.
    Rules: [edit-scores] all scores have the result's heads; [edit-arguments] the region's arguments are an f32 for each of
    the scores and three i32; [edit-op] the region holds scalar arithmetic and `mla.head_value`, and ends in `mla.yield`;
    [edit-heads] values a head are of as many heads as the scores.
  }];
  let arguments = (ins Variadic<MLA_ScoresType>:$scores);
  let results = (outs MLA_ScoresType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $scores `)` $body attr-dict `:` type($scores) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_YieldOp : MLA_Op<"yield", [Pure, Terminator]> {
  let summary = "the score that a region computed, and where it counts at all";
  let arguments = (ins F32:$score, Optional<I1>:$keep);
  let assemblyFormat = "$score (`keep` $keep^)? attr-dict";
}

def MLA_HeadValueOp : MLA_Op<"head_value", [Pure]> {
  let summary = "in a region over scores: the value of the score's head";
  let arguments = (ins MLA_HeadValuesType:$values);
  let results = (outs F32:$result);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def MLA_SinkOp : MLA_Op<"sink", [Pure, AllTypesMatch<["scores", "result"]>]> {
  let summary = "scores with one more token a head that has no value: it takes part in the softmax's denominator";
  let description = "Rule: [sink-heads] there is a logit for every head of the scores.";
  let arguments = (ins MLA_ScoresType:$scores, MLA_HeadValuesType:$logits);
  let results = (outs MLA_ScoresType:$result);
  let assemblyFormat = "$scores `,` $logits attr-dict `:` type($scores) `,` type($logits)";
  let hasVerifier = 1;
}

def MLA_SoftmaxOp : MLA_Op<"softmax", [Pure]> {
  let summary = "softmax over the cached tokens; a row without visible tokens has no probabilities";
  let description = "Rule: [softmax-heads] heads are kept.";
  let arguments = (ins MLA_ScoresType:$scores);
  let results = (outs MLA_ProbsType:$probs);
  let assemblyFormat = "$scores attr-dict `:` type($scores) `->` type($probs)";
  let hasVerifier = 1;
}

def MLA_AttendOp : MLA_Op<"attend", [Pure]> {
  let summary = "probabilities times cached rows; 0 for a row without visible tokens";
  let description = [{
    Rules: [attend-value] as [dot-key]; [attend-result] the result is f32 rows of heads x width; [attend-storage] as
    [dot-storage].
  }];
  let arguments = (ins MLA_ProbsType:$probs, MLA_Rowish:$value);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$probs `,` $value attr-dict `:` type($probs) `,` type($value) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_LogSumExpOp : MLA_Op<"logsumexp", [Pure]> {
  let summary = "log-sum-exp of the scores; -inf for a row without visible tokens";
  let description = "Rule: [lse-heads] heads are kept.";
  let arguments = (ins MLA_ScoresType:$scores);
  let results = (outs MLA_LseType:$lse);
  let assemblyFormat = "$scores attr-dict `:` type($scores) `->` type($lse)";
  let hasVerifier = 1;
}

#endif

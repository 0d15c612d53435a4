// Writers: new rows into a cache.
#ifndef DIALECT_MLA_WRITEROPS_TD
#define DIALECT_MLA_WRITEROPS_TD

include "dialect/mla/MLAOps.td"

def MLA_ConcatOp : MLA_Op<"concat", [Pure]> {
  let summary = "columns of two rows side by side";
  let description = [{
    Rule: [concat-rows] rows without heads; the result is as wide as both together, and of their element type, or f32 where
    they differ.
  }];
  let arguments = (ins MLA_Rowish:$left, MLA_Rowish:$right);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$left `,` $right attr-dict `:` type($left) `,` type($right) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_DivideOp : MLA_Op<"divide", [Pure]> {
  let summary = "every element, as f32, divided by one f32: what is stored is x / scale";
  let description = "The quotient is rounded once, to f32. Rule: [divide-rows] the row keeps its shape and becomes f32.";
  let arguments = (ins MLA_Rowish:$source, F32:$divisor);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$source `,` $divisor attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

def MLA_QuantOp : MLA_Op<"quant", [Pure]> {
  let summary = "values rounded to the storage of a cache";
  let description = [{
    To the nearest value, ties to even. What is beyond the largest finite value, infinities too, becomes that value; NaN stays
    NaN, and becomes 0 in int8, which has none; -0 stays -0 where there is one. Rule: [quant-shape] the row keeps its shape.
  }];
  let arguments = (ins MLA_Rowish:$source);
  let results = (outs MLA_RowsType:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

#endif

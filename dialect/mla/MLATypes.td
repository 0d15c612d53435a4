#ifndef DIALECT_MLA_TYPES_TD
#define DIALECT_MLA_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "dialect/mla/MLAEnums.td"
include "dialect/mla/MLADialect.td"

class MLA_Type<string name, string keyword> : TypeDef<MLA_Dialect, name> {
  let mnemonic = keyword;
}

def MLA_ScaleFormatParameter : EnumParameter<MLA_ScaleFormat> {
  let defaultValue = "::mlir::mla::ScaleFormat::none";
}

def MLA_ScalePlaceParameter : EnumParameter<MLA_ScalePlace> {
  let defaultValue = "::mlir::mla::ScalePlace::beside";
}

def MLA_PartAttr : AttrDef<MLA_Dialect, "Part"> {
  let mnemonic = "part";
  let summary = "neighbouring columns of a record, stored alike; perhaps with a scale for each group of them";
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$elementType, "int64_t":$width,
                        MLA_ScaleFormatParameter:$format, DefaultValuedParameter<"int64_t", "0">:$group,
                        MLA_ScalePlaceParameter:$place);
  let assemblyFormat = "`<` $name `:` $elementType `[` $width `]` (`scaled` $format^ `per` $group)? (`,` $place^)? `>`";
  let extraClassDeclaration = [{
    bool isScaled() const { return getFormat() != ScaleFormat::none; }
    bool isApart() const { return isScaled() && getPlace() == ScalePlace::apart; }
    int64_t getValueBytes() const;
    int64_t getScaleBytes() const;
  }];
}

def MLA_RecordType : MLA_Type<"Record", "record"> {
  let summary = "what one token's row is stored as, where its columns are not stored alike: parts, in memory order";
  let description = [{
    `!mla.record<<latent : f8E4M3FN[512] scaled f32 per 128>, <rope : bf16[64]>>`: 512 bytes, four scales, 64 values
    of 16 bits. A value is its code times the scale of its group.
    Rules: [record-parts] there are 1 to 8 parts; [record-width] a part is a multiple of 16 wide; [record-storage] it
    stores e4m3, e5m2, int8, f16 or bf16; [record-scale] only 8-bit parts have scales; [record-group] a group is
    a multiple of 32 wide and divides the part; [record-offset] a part begins at a multiple of 16 bytes.
  }];
  let parameters = (ins ArrayRefParameter<"PartAttr">:$parts);
  let assemblyFormat = "`<` $parts `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Columns of all parts.
    int64_t getWidth() const;
    /// Bytes of the row itself, without scales that lie apart.
    int64_t getBytes() const;
    /// Bytes of the row of scales that lie apart: a multiple of 4, and 0 if there are none.
    int64_t getScaleRowBytes() const;
  }];
}

def MLA_BufferType : MLA_Type<"Buffer", "buffer"> {
  let summary = "rows in global memory: a layout, the shape of one token's row, and the storage type";
  let description = [{
    `!mla.buffer<paged, 576xf8E4M3FN>` is a paged cache of 576-wide e4m3 rows;
    `!mla.buffer<ragged, 8x576xbf16>` holds eight heads of 576 bf16 values a query token.
    `align` is the guaranteed alignment in bytes of the base address and of every row; 16 where not given.
    A row that is a record is as wide as its parts together: `!mla.buffer<paged, 576x!mla.record<...>>`.
    Rules: [record-row] a record is a whole row, without heads; [record-align] its bytes are a multiple of `align`.
  }];
  let parameters = (ins EnumParameter<MLA_Layout>:$layout, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, DefaultValuedParameter<"int64_t", "16">:$align);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Elements of the innermost dimension.
    int64_t getWidth() const { return getShape().back(); }
    /// Heads of one token; 1 for a row that all heads share.
    int64_t getHeads() const { return getShape().size() == 2 ? getShape().front() : 1; }
    /// Bytes of one token.
    int64_t getTokenBytes() const;
    /// Bytes of a token's row of scales that lie apart; 0 if there are none.
    int64_t getScaleRowBytes() const;
    /// Bytes of one token in a tile: its row and, from a multiple of 16 bytes on, its scales that lie apart.
    int64_t getTileRowBytes() const;
    /// Bytes of what strides count: an element, or of records a byte.
    int64_t getStrideBytes() const;
  }];
}

def MLA_RowsType : MLA_Type<"Rows", "rows"> {
  let summary = "a row a token, as numbers; exists a tile at a time and is never stored";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getWidth() const { return getShape().back(); }
    int64_t getHeads() const { return getShape().size() == 2 ? getShape().front() : 1; }
  }];
}

def MLA_ScoresType : MLA_Type<"Scores", "scores"> {
  let summary = "f32 scores of every head of a query token against every cached token";
  let parameters = (ins "int64_t":$heads);
  let assemblyFormat = "`<` $heads `>`";
}

def MLA_HeadValuesType : MLA_Type<"HeadValues", "head_values"> {
  let summary = "one f32 a head in global memory, head after head: slopes, sinks";
  let parameters = (ins "int64_t":$heads);
  let assemblyFormat = "`<` $heads `>`";
}

def MLA_ProbsType : MLA_Type<"Probs", "probs"> {
  let summary = "softmax of scores over the cached tokens";
  let parameters = (ins "int64_t":$heads);
  let assemblyFormat = "`<` $heads `>`";
}

def MLA_LseType : MLA_Type<"Lse", "lse"> {
  let summary = "log-sum-exp of a query token's scores, a f32 a head; its base is part of the type";
  let parameters = (ins "int64_t":$heads, EnumParameter<MLA_LseBase>:$base);
  let assemblyFormat = "`<` $heads `,` $base `>`";
}

#endif

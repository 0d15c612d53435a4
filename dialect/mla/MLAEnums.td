#ifndef DIALECT_MLA_ENUMS_TD
#define DIALECT_MLA_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def MLA_Layout : I32EnumAttr<"Layout", "how the rows of all requests lie in memory", [
    I32EnumAttrCase<"ragged", 0>,   // rows of all requests after one another, found through an indptr
    I32EnumAttrCase<"paged", 1>     // fixed-size pages in any order, found through a page table
  ]> {
  let cppNamespace = "::mlir::mla";
  let genSpecializedAttr = 0;
}

/// How a group's scale is stored. `pow2` is a f32 of which the exponent alone counts.
def MLA_ScaleFormat : I32EnumAttr<"ScaleFormat", "how the scale of a group of columns is stored", [
    I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"f32", 1>, I32EnumAttrCase<"pow2", 2>, I32EnumAttrCase<"ue8m0", 3>
  ]> {
  let cppNamespace = "::mlir::mla";
  let genSpecializedAttr = 0;
}

def MLA_ScalePlace : I32EnumAttr<"ScalePlace", "where the scales of a part lie", [
    I32EnumAttrCase<"beside", 0, "inline">, // after the part's values, in the record
    I32EnumAttrCase<"apart", 1>             // in rows of their own: of another buffer, or behind the page's records
  ]> {
  let cppNamespace = "::mlir::mla";
  let genSpecializedAttr = 0;
}

def MLA_LseBase : I32EnumAttr<"LseBase", "base of a log-sum-exp", [
    I32EnumAttrCase<"log2", 0>, I32EnumAttrCase<"ln", 1>
  ]> {
  let cppNamespace = "::mlir::mla";
  let genSpecializedAttr = 0;
}

#endif

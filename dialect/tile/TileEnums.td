#ifndef DIALECT_TILE_ENUMS_TD
#define DIALECT_TILE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Tile_Role : I32EnumAttr<"Role", "side of a matrix instruction that a fragment feeds", [
    I32EnumAttrCase<"operand", 0>,       // k x n, packed 16-bit pairs
    I32EnumAttrCase<"accumulator", 1>    // m x n, f32
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}

#endif

#ifndef DIALECT_TILE_ENUMS_TD
#define DIALECT_TILE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Tile_Role : I32EnumAttr<"Role", "what a fragment holds", [
    I32EnumAttrCase<"accumulator", 0>,   // m x n
    I32EnumAttrCase<"stats", 1>,         // 1 x n, one value for each of the rows that a lane's accumulators are of
    I32EnumAttrCase<"row_stats", 2>,     // m x 1, the same where rows stand on the m side
    I32EnumAttrCase<"operand", 3>        // m x k, the first operand of a product, in pairs
  ]> {
  let cppNamespace = "::mlir::tile";
  let genSpecializedAttr = 0;
}

#endif

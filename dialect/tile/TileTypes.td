#ifndef DIALECT_TILE_TYPES_TD
#define DIALECT_TILE_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "dialect/tile/TileEnums.td"
include "dialect/tile/TileDialect.td"

class Tile_Type<string name, string keyword> : TypeDef<Tile_Dialect, name> {
  let mnemonic = keyword;
}

//===-- Values -----------------------------------------------------------------------------------------===//

def Tile_TileType : Tile_Type<"Tile", "tile"> {
  let summary = "a tile of numbers: rows x columns, and what they are stored as";
  let description = [{
    `!tile.tile<?x576xf8E4M3FN>` holds stored values. `!tile.tile<64x576xf16 from f8E4M3FN>` reads as f16 while
    its bytes stay e4m3: each element is converted on its way from shared memory to the matrix unit.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType,
                        OptionalParameter<"::mlir::Type">:$storage);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType), [{
    return $_get($_ctxt, shape, elementType, ::mlir::Type());
  }]>];
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
    TileType withShape(::llvm::ArrayRef<int64_t> shape) const {
      return get(getContext(), shape, getElementType(), getStorage());
    }
  }];
}

def Tile_PlanType : Tile_Type<"Plan", "plan"> {
  let summary = "what plan() hands a launch: lengths, work items, merges and partial results";
}

def Tile_ItemType : Tile_Type<"Item", "item"> {
  let summary = "a block's piece of work: one row tile of one request and a range of its KV tiles";
}

//===-- Scheduled --------------------------------------------------------------------------------------===//

def Tile_SharedType : Tile_Type<"Shared", "shared"> {
  let summary = "a shared-memory allocation: stages x rows x columns, rows `pitch` bytes apart";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "int64_t":$pitch);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getStages() const { return getShape()[0]; }
    int64_t getRows() const { return getShape()[1]; }
    int64_t getColumns() const { return getShape()[2]; }
    int64_t getStageBytes() const { return getRows() * getPitch(); }
    int64_t getBytes() const { return getStages() * getStageBytes(); }
  }];
}

def Tile_FragmentType : Tile_Type<"Fragment", "fragment"> {
  let summary = "one warp's share of a matrix, spread over its lanes' registers";
  let description = [{
    `!tile.fragment<operand, 144x16xf16>`: 144 x 16 values a warp, two in a register, 36 registers a lane.
    `!tile.fragment<accumulator, 64x16xf32>`: 32 registers a lane.
  }];
  let parameters = (ins EnumParameter<Tile_Role>:$role, ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// 32-bit registers that every lane holds.
    int64_t getRegisters() const;
  }];
}

def Tile_AddressType : Tile_Type<"Address", "address"> {
  let summary = "where a thread's row of a KV tile lies in global memory, or that it lies past the request's end";
}

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "tile sizes and the layout of warps, chosen by tile-schedule";
  let description = [{
    A block takes `rows` packed (query token x head) rows and walks KV tiles of `tokens` tokens through a ring of
    `stages`. For the scores its warps split each cached row over `dim_warps` and the tile's tokens over
    `token_warps`; for the output every warp owns a range of the value's dimensions and reads all tokens.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$tokens, "int64_t":$stages, "int64_t":$dimWarps,
                        "int64_t":$tokenWarps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The verifier's message for these sizes; empty if they make a schedule.
    static std::string problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t dimWarps, int64_t tokenWarps);
    int64_t getWarps() const { return getDimWarps() * getTokenWarps(); }
    int64_t getThreads() const { return 32 * getWarps(); }
    /// Tokens of a tile that one warp scores.
    int64_t getTokensPerWarp() const { return getTokens() / getTokenWarps(); }
    /// 16-wide steps of a `width`-wide row that one warp contracts, rounded up.
    int64_t getStepsPerWarp(int64_t width) const { return (width / 16 + getDimWarps() - 1) / getDimWarps(); }
    /// Value dimensions that one warp owns; a multiple of 32.
    int64_t getValueDimsPerWarp(int64_t width) const {
      return (width / 32 + getWarps() - 1) / getWarps() * 32;
    }
    /// Threads that share one row in the softmax.
    int64_t getThreadsPerRow() const { return getThreads() / getRows(); }
  }];
}

#endif

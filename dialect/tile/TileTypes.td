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

def Tile_BatchType : Tile_Type<"Batch", "batch"> {
  let summary = "a batch's lengths in device memory, the capacities of its plan, scratch memory and a status word";
}

def Tile_PlacesType : Tile_Type<"Places", "places"> {
  let summary = "where a writer's rows go: a slot each, or the ends of their requests; and how many there are";
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
    `!tile.fragment<accumulator, 64x16xf32>`: 64 x 16 sums of a warp, 32 registers a lane, in the layout of the matrix
    instruction. `!tile.fragment<stats, 1x16xf32>`: one f32 for each of the 16 / 4 rows that a lane's sums belong to.
    `!tile.fragment<row_stats, 32x1xf32>`: the same where rows stand on the instruction's m side, 32 / 8 of them.
    `!tile.fragment<operand, 32x64xf16>`: 16-bit pairs, as the instruction takes its first operand.
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

def Tile_PiecesType : Tile_Type<"Pieces", "pieces"> {
  let summary = "a thread's share of the query rows, as 32-bit registers, between their load and shared memory";
  let parameters = (ins "int64_t":$registers);
  let assemblyFormat = "`<` $registers `>`";
}

def Tile_CursorType : Tile_Type<"Cursor", "cursor"> {
  let summary = "a place in the stream of KV tiles that a block reads: all tiles of all its items, in order";
}

def Tile_AddressType : Tile_Type<"Address", "address"> {
  let summary = "where a lane's rows of a KV tile lie: page, place in it, and whether the row is the request's";
  let parameters = (ins "int64_t":$rows);
  let assemblyFormat = "`<` $rows `>`";
}

def Tile_ScheduleAttr : AttrDef<Tile_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "tile sizes and the layout of warps, chosen by tile-schedule";
  let description = [{
    A block takes `rows` packed (query token x head) rows. Its warps form `groups`; group g walks tiles of `tokens` tokens
    through a ring of `stages`, every groups-th tile of the item. Within a group the scores are split over
    `tokenWarps` x `rowWarps` warps; for the output every warp owns a range of the value's dimensions and all rows.
    A KV tile of the plan is the `groups` tiles that the block takes at once.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$tokens, "int64_t":$stages, "int64_t":$groups,
                        "int64_t":$tokenWarps, "int64_t":$rowWarps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The first rule that these numbers break, with its id; empty if none.
    static std::string problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t groups, int64_t tokenWarps,
                                 int64_t rowWarps);
    int64_t getWarpsPerGroup() const { return getTokenWarps() * getRowWarps(); }
    int64_t getWarps() const { return getGroups() * getWarpsPerGroup(); }
    int64_t getThreads() const { return 32 * getWarps(); }
    int64_t getThreadsPerGroup() const { return 32 * getWarpsPerGroup(); }
    /// Tokens of one of the plan's KV tiles.
    int64_t getBlockTokens() const { return getGroups() * getTokens(); }
    /// Tokens and rows that one warp scores.
    int64_t getTokensPerWarp() const { return getTokens() / getTokenWarps(); }
    int64_t getRowsPerWarp() const { return getRows() / getRowWarps(); }
    /// Value dimensions that one warp owns; a multiple of 32. The last warps may own fewer or none.
    int64_t getValueDimsPerWarp(int64_t width) const {
      return (width / 32 + getWarpsPerGroup() - 1) / getWarpsPerGroup() * 32;
    }
    /// Rows of a tile that one warp copies, and those of them that one lane locates.
    int64_t getRowsPerCopyWarp() const { return (getTokens() + getWarpsPerGroup() - 1) / getWarpsPerGroup(); }
    int64_t getLocatedRows() const { return (getRowsPerCopyWarp() + 31) / 32; }
  }];
}

def Tile_PrefillScheduleAttr : AttrDef<Tile_Dialect, "PrefillSchedule"> {
  let mnemonic = "prefill_schedule";
  let summary = "tile sizes and warps of a prefill kernel, chosen by tile-schedule-prefill";
  let description = [{
    A block takes `rows` packed (query token x head of one KV head) rows, `rows / rowWarps` of them a warp, and walks tiles of
    `tokens` tokens. Keys and values have a ring of `stages` each. Every warp scores its own rows against all tokens of a
    tile, and keeps scores and probabilities in its registers.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$tokens, "int64_t":$stages, "int64_t":$rowWarps);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The first rule that these numbers break, with its id; empty if none.
    static std::string problemOf(int64_t rows, int64_t tokens, int64_t stages, int64_t rowWarps);
    int64_t getThreads() const { return 32 * getRowWarps(); }
    /// 16 or 32.
    int64_t getRowsPerWarp() const { return getRows() / getRowWarps(); }
  }];
}

#endif

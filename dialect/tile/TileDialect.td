#ifndef DIALECT_TILE_DIALECT_TD
#define DIALECT_TILE_DIALECT_TD

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "Tiles of attention: loads, products, online softmax, and their schedule on a GPU";
  let description = [{
    Two levels share the dialect. *Values*: `load`, `dequant`, `dot`, `online_softmax`, `accumulate` on tiles
    whose sizes are still open (`?`). *Scheduled*: after `tile-pipeline` the same kernel in shared-memory
    allocations, asynchronous copies, barriers and register fragments, still one op a step.
    Sizes in the scheduled form come from `#tile.schedule`, which `tile-schedule` chooses.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect", "::mlir::mla::MLADialect"];
}

#endif

// What runs beside the kernels: planning and checking on the device. Made by tile-planner.
#ifndef DIALECT_TILE_PLANNEROPS_TD
#define DIALECT_TILE_PLANNEROPS_TD

include "dialect/tile/TileOps.td"

def Tile_PlanBatchOp : Tile_Op<"plan_batch", []> {
  let summary = "make the plan of a batch whose lengths are in device memory";
  let description = [{
    One block writes the lists that makePlan() in runtime/Plan.h makes of the same lengths, for a kernel whose row tiles
    have `rows` packed rows and whose KV tiles have `tokens` tokens. What is wrong with the lengths, or beyond a capacity,
    goes to the batch's status word, and the plan is then empty. Rule: [plan-batch-sizes] sizes are positive.
  }];
  let arguments = (ins Tile_BatchType:$batch, Tile_PlanType:$plan, I64Attr:$rows, I64Attr:$tokens, I64Attr:$threads,
                       UnitAttr:$causal, UnitAttr:$ragged, OptionalAttr<I64Attr>:$window);
  let assemblyFormat = "(`causal` $causal^)? (`window` $window^)? (`ragged` $ragged^)? $batch `to` $plan attr-dict";
  let hasVerifier = 1;
}

def Tile_CheckTableOp : Tile_Op<"check_table", []> {
  let summary = "find page-table entries outside of the pool, a block a request";
  let description = [{
    Writes for each request its first bad slot and the page found there to the batch's scratch memory, -1 and 0 if
    there is none. Entries past a request's length are not read. Rule: [check-table-paged] the buffer is paged.
  }];
  let arguments = (ins MLA_BufferType:$source, Tile_BatchType:$batch, Tile_PlanType:$plan);
  let assemblyFormat = "$source `,` $batch `,` $plan attr-dict `:` type($source)";
  let hasVerifier = 1;
}

#endif

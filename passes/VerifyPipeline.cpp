#include "passes/Passes.h"
#include "dialect/tile/Tile.h"
namespace mlac {
#define GEN_PASS_DEF_VERIFYPIPELINE
#include "passes/Passes.h.inc"
}
namespace { struct VerifyPipeline : mlac::impl::VerifyPipelineBase<VerifyPipeline> { void runOnOperation() override {} }; }

// mla-reject-buffer-cast: no op may store a converted copy of a whole buffer.
#include "passes/Passes.h"

#include "passes/BufferCastMessage.h"

namespace mlac {
#define GEN_PASS_DEF_REJECTBUFFERCAST
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

struct RejectBufferCast : mlac::impl::RejectBufferCastBase<RejectBufferCast> {
  using RejectBufferCastBase::RejectBufferCastBase;

  void runOnOperation() override {
    mlac::BufferCastAnalysis analysis(getOperation(), threshold);
    for (Operation *op : analysis.unknown())
      emitRemark(op->getLoc())
          << "ops of the dialect '" << op->getName().getDialectNamespace()
          << "' are not known: buffers are not followed through them [buffer-cast-unknown]";
    for (const mlac::BufferCast &cast : analysis.casts())
      mlac::emitCast(cast, layers, poolTokens);
    visits += analysis.visits();
    casts += analysis.casts().size();
    if (!analysis.casts().empty())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace

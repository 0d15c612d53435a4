// mla-reject-buffer-cast: no op may store a converted copy of a whole buffer.
#include "passes/Passes.h"

#include "dialect/mla/MLA.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlac {
#define GEN_PASS_DEF_REJECTBUFFERCAST
#include "passes/Passes.h.inc"
} // namespace mlac

using namespace mlir;

namespace {

/// Follows a value through slices, scales, dequants and casts to the buffer it reads; null if it reads none.
Value bufferOf(Value value) {
  while (value && !isa<mla::BufferType>(value.getType())) {
    Operation *def = value.getDefiningOp();
    if (!isa_and_nonnull<mla::SliceOp, mla::ScaleOp, mla::DequantOp, mla::CastOp>(def))
      return {};
    value = def->getOperand(0);
  }
  return value;
}

std::string thousands(int64_t number) { return llvm::formatv("{0:N0}", number).str(); }

/// 855360000 as "855 MB", 66.7e9 as "66.7 GB".
std::string readable(double bytes) {
  constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit)
    bytes /= 1000;
  return llvm::formatv(bytes < 100 && unit ? "{0:F1} {1}" : "{0:F0} {1}", bytes, units[unit]).str();
}

struct RejectBufferCast : mlac::impl::RejectBufferCastBase<RejectBufferCast> {
  using RejectBufferCastBase::RejectBufferCastBase;

  /// What the cast would move: per token, or per call and step where the pool's size is known.
  std::string describeTraffic(mla::BufferType buffer, mla::RowsType wide) {
    int64_t read = mla::bytesOf(buffer.getElementType(), wide.getHeads() * wide.getWidth());
    int64_t written = mla::bytesOf(wide.getElementType(), wide.getHeads() * wide.getWidth());
    if (poolTokens <= 0)
      return llvm::formatv("reads {0} and writes {1} bytes for every token of the pool in every call", thousands(read),
                           thousands(written))
          .str();
    double call = double(read + written) * double(poolTokens);
    std::string text = llvm::formatv("{0} tokens x {1}: {2} per call", thousands(poolTokens),
                                     wide.getHeads() * wide.getWidth(), readable(call))
                           .str();
    if (layers > 0)
      text += llvm::formatv(", {0} over {1} layers", readable(call * double(layers)), layers).str();
    return text;
  }

  void reject(mla::CastOp cast, Value buffer) {
    auto type = llvm::cast<mla::BufferType>(buffer.getType());
    mla::RowsType wide = cast.getResult().getType();
    InFlightDiagnostic diag = cast.emitError()
                              << "casts a whole " << type.getElementType() << " buffer to " << wide.getElementType()
                              << ": " << describeTraffic(type, wide) << " [buffer-cast]";
    diag.attachNote(buffer.getLoc()) << "the buffer is declared here";
    diag.attachNote(cast.getLoc()) << "declare `compute " << (wide.getElementType().isBF16() ? "bf16" : "f16")
                                   << "` and read it through dequant(...): each element is then converted once, in "
                                      "the tile that needs it, and nothing is stored";
    signalPassFailure();
  }

  void runOnOperation() override {
    getOperation().walk([&](mla::CastOp cast) {
      if (Value buffer = bufferOf(cast.getSource()))
        reject(cast, buffer);
    });
  }
};

} // namespace

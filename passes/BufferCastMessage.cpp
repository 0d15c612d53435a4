// The words for findings.
#include "passes/BufferCastMessage.h"

#include "dialect/mla/MLA.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace mlac {

std::string withThousands(int64_t number) { return llvm::formatv("{0:N0}", number).str(); }

std::string readableBytes(double bytes) {
  constexpr const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  unsigned unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit)
    bytes /= 1000;
  return llvm::formatv(bytes < 100 && unit ? "{0:F1} {1}" : "{0:F0} {1}", bytes, units[unit]).str();
}

/// What moves: in each call where the sizes are known, otherwise for each token.
static std::string describeTraffic(const BufferTraffic &traffic, int64_t layers, int64_t poolTokens) {
  std::optional<double> call = traffic.bytesPerCall(poolTokens);
  if (!call)
    return llvm::formatv("reads {0} and writes {1} bytes for every token of the pool in every call",
                         withThousands(traffic.readPerToken), withThousands(traffic.writtenPerToken));
  std::string text = traffic.elements
                         ? llvm::formatv("{0} elements: {1} per call", withThousands(*traffic.elements),
                                         readableBytes(*call))
                               .str()
                         : llvm::formatv("{0} tokens x {1}: {2} per call", withThousands(poolTokens),
                                         traffic.perToken, readableBytes(*call))
                               .str();
  if (layers > 0)
    text += llvm::formatv(", {0} over {1} layers", readableBytes(*call * double(layers)), layers).str();
  return text;
}

/// As a diagnostic prints it.
static std::string quoted(Type type) {
  if (isa<mla::RecordType>(type))
    return "'record'";
  std::string text;
  llvm::raw_string_ostream(text) << '\'' << type << '\'';
  return text;
}

std::string describeCast(const BufferCast &cast, int64_t layers, int64_t poolTokens) {
  return llvm::formatv("casts a whole {0} buffer to {1}: {2} [buffer-cast]", quoted(cast.from),
                       quoted(cast.to), describeTraffic(cast.traffic, layers, poolTokens));
}

/// The op as its author wrote it: mla's ops are functions of the language.
static std::string nameOf(Operation *op) {
  bool isMla = isa<mla::MLADialect>(op->getDialect());
  return "`" + (isMla ? op->getName().stripDialect() : op->getName().getStringRef()).str() + "`";
}

std::string describeHop(const BufferHop &hop) {
  switch (hop.kind) {
  case BufferHop::View:
    return "through " + nameOf(hop.op) + " here";
  case BufferHop::Call:
    return "passed to a function here";
  case BufferHop::Return:
    return "returned from a function here";
  case BufferHop::Region:
    return "carried by " + nameOf(hop.op) + " here";
  case BufferHop::Copy:
    return "copied by " + nameOf(hop.op) + " here";
  case BufferHop::Cast:
    return "converted again, to " + quoted(hop.element) + ", here";
  case BufferHop::Store:
    return "stored as " + quoted(hop.element) + " by " + nameOf(hop.op) + " here";
  }
  return "";
}

std::string describeMoreHops(const BufferCast &cast) {
  return llvm::formatv("and {0} more steps", cast.hops.size() - kMostHopNotes);
}

std::string describeFix(const BufferCast &cast) {
  bool isMla = isa<mla::BufferType>(cast.buffer.getType());
  if (isMla)
    return llvm::formatv(
        "declare `compute {0}` and read it through dequant(...): each element is then converted once, "
        "in the tile that needs it, and nothing is stored",
        cast.to.isBF16() ? "bf16" : "f16");
  return llvm::formatv(
      "keep the buffer as {0} and convert each tile after it is loaded, in registers or shared memory: "
      "load, then convert, then compute, and store nothing converted",
      quoted(cast.from));
}

void emitCast(const BufferCast &cast, int64_t layers, int64_t poolTokens) {
  // At the location, not at the op: MLIR would print the op, which numbers all values of its function each
  // time.
  InFlightDiagnostic diag = emitError(cast.cast->getLoc()) << describeCast(cast, layers, poolTokens);
  diag.attachNote(cast.buffer.getLoc()) << kBufferNote;
  for (const BufferHop &hop : ArrayRef(cast.hops).take_front(kMostHopNotes))
    if (hop.op->getLoc() != cast.cast->getLoc())
      diag.attachNote(hop.op->getLoc()) << describeHop(hop);
  if (cast.hops.size() > kMostHopNotes)
    diag.attachNote(cast.cast->getLoc()) << describeMoreHops(cast);
  diag.attachNote(cast.cast->getLoc()) << describeFix(cast);
}

} // namespace mlac

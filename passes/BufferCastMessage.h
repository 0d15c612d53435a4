// What is said about a whole-buffer cast: the same words in the pass, in `mlac audit` and in SARIF.
#pragma once

#include "passes/BufferCastAnalysis.h"

#include <string>

namespace mlac {

/// Notes about hops before the rest is only counted.
inline constexpr size_t kMostHopNotes = 32;

/// The cast and what it moves, for each token or, if it is known, in each call and step.
std::string describeCast(const BufferCast &cast, int64_t layers, int64_t poolTokens);
std::string describeHop(const BufferHop &hop);
/// Of a cast with more hops than are shown.
std::string describeMoreHops(const BufferCast &cast);
std::string describeFix(const BufferCast &cast);
inline constexpr llvm::StringLiteral kBufferNote = "the buffer is declared here";

/// 495000 as "495,000".
std::string withThousands(int64_t number);
/// 855360000 as "855 MB", 66.7e9 as "66.7 GB".
std::string readableBytes(double bytes);

/// The error, with notes at the buffer, at each hop, and about the way out.
void emitCast(const BufferCast &cast, int64_t layers, int64_t poolTokens);

} // namespace mlac

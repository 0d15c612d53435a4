// The functions of the language.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace mlac {

enum class Builtin { Dequant, Cast, Dot, Causal, Softmax, LogSumExp };

struct BuiltinInfo {
  Builtin builtin;
  llvm::StringLiteral name;
  unsigned arity;
  llvm::StringLiteral signature;
};

inline constexpr BuiltinInfo kBuiltins[] = {
    {Builtin::Dequant, "dequant", 1, "dequant(buffer)"},
    {Builtin::Cast, "cast", 2, "cast(rows, type)"},
    {Builtin::Dot, "dot", 2, "dot(query, key)"},
    {Builtin::Causal, "causal", 1, "causal(scores)"},
    {Builtin::Softmax, "softmax", 1, "softmax(scores)"},
    {Builtin::LogSumExp, "logsumexp", 1, "logsumexp(scores)"},
};

/// The function with this name, or null.
inline const BuiltinInfo *findBuiltin(llvm::StringRef name) {
  for (const BuiltinInfo &info : kBuiltins)
    if (info.name == name)
      return &info;
  return nullptr;
}

} // namespace mlac

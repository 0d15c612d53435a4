// The functions of the language.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <optional>

namespace mlac {

enum class Builtin {
  Dequant,
  Cast,
  Dot,
  Causal,
  Window,
  Keep,
  SoftCap,
  Alibi,
  Sink,
  Select,
  Min,
  Max,
  Abs,
  Tanh,
  Exp2,
  Softmax,
  LogSumExp,
  Concat,
  Quant
};

struct BuiltinInfo {
  Builtin builtin;
  llvm::StringLiteral name;
  unsigned arity;
  llvm::StringLiteral signature;
  /// Names of the operands, for labels; empty ones take none.
  std::array<llvm::StringLiteral, 3> operands{"", "", ""};
};

inline constexpr BuiltinInfo kBuiltins[] = {
    {Builtin::Dequant, "dequant", 1, "dequant(buffer)"},
    {Builtin::Cast, "cast", 2, "cast(rows, type)"},
    {Builtin::Dot, "dot", 2, "dot(query, key)"},
    {Builtin::Causal, "causal", 1, "causal(scores)"},
    {Builtin::Window, "window", 2, "window(scores, left = tokens)", {"", "left", ""}},
    {Builtin::Keep, "keep", 2, "keep(scores, condition)"},
    {Builtin::SoftCap, "softcap", 2, "softcap(scores, cap)", {"", "cap", ""}},
    {Builtin::Alibi, "alibi", 2, "alibi(scores, slopes)", {"", "slopes", ""}},
    {Builtin::Sink, "sink", 2, "sink(scores, logits)", {"", "logits", ""}},
    {Builtin::Select, "select", 3, "select(condition, then, else)"},
    {Builtin::Min, "min", 2, "min(a, b)"},
    {Builtin::Max, "max", 2, "max(a, b)"},
    {Builtin::Abs, "abs", 1, "abs(a)"},
    {Builtin::Tanh, "tanh", 1, "tanh(a)"},
    {Builtin::Exp2, "exp2", 1, "exp2(a)"},
    {Builtin::Softmax, "softmax", 1, "softmax(scores)"},
    {Builtin::LogSumExp, "logsumexp", 1, "logsumexp(scores)"},
    {Builtin::Concat, "concat", 2, "concat(rows, rows)"},
    {Builtin::Quant, "quant", 1, "quant(rows)"},
};

/// Whether it makes rows for a cache; the others make attention.
inline bool isWriters(Builtin builtin) { return builtin == Builtin::Concat || builtin == Builtin::Quant; }

/// The function with this name, or null.
inline const BuiltinInfo *findBuiltin(llvm::StringRef name) {
  for (const BuiltinInfo &info : kBuiltins)
    if (info.name == name)
      return &info;
  return nullptr;
}

} // namespace mlac

// What the checker knows about a value: its kind and shape, where it was read from, and by what it was
// multiplied.
#pragma once

#include "dialect/mla/MLA.h"
#include "llvm/Support/SMLoc.h"

#include <optional>
#include <string>

namespace mlac {

struct ParamDecl;

enum class Dtype { E4M3, E5M2, Int8, BF16, F16, F32, Record };

/// The dtype with this name in the language, if there is one.
std::optional<Dtype> parseDtype(llvm::StringRef name);
llvm::StringRef spell(Dtype dtype);
mlir::Type toMLIR(Dtype dtype, mlir::MLIRContext *context);
bool isEightBit(Dtype dtype);

/// A part of a record: columns that are stored alike, perhaps with a scale for each group of them.
struct RecordPart {
  llvm::StringRef name;
  Dtype storage;
  int64_t width;
  mlir::mla::ScaleFormat format = mlir::mla::ScaleFormat::none;
  int64_t group = 0;
  bool apart = false; ///< the scales lie in rows of their own

  bool needsScale() const { return isEightBit(storage) && format == mlir::mla::ScaleFormat::none; }
  int64_t bytes() const;
};

/// A product of numbers and f32 parameters, in an order that makes equal products compare equal.
struct Scale {
  double number = 1.0;
  llvm::SmallVector<const ParamDecl *, 2> params;

  Scale operator*(const Scale &other) const;
  bool operator==(const Scale &other) const { return number == other.number && params == other.params; }

  /// As it could be written: `0.5 * kv_scale`.
  std::string spelling() const;
};

struct ValueType {
  enum Kind {
    Invalid,    // already reported; accepted everywhere
    Scalar,     // a number or a product with f32 parameters
    Stored,     // a buffer, or columns of one: not yet numbers
    Rows,       // numbers, a row a token
    NewRows,    // numbers that a writer makes of its sources
    Quantised,  // the same, to be rounded to the storage of the cache that they are assigned to
    HeadValues, // a list of f32, one a head
    Element,    // a number for each score: what arithmetic makes of scalars, head values and positions
    Condition,  // the same, true or false
    Scores,
    Probs,
    Lse
  };

  Kind kind = Invalid;
  Dtype element = Dtype::F32;
  int64_t heads = 0; // 0: a row that all heads share; an element that depends on no head
  int64_t width = 0; // of scores: the width they were contracted over

  /// Stored and Rows: the buffer they come from; null for attended rows.
  const ParamDecl *buffer = nullptr;
  /// Stored: first of the `width` columns.
  int64_t begin = 0;
  /// Rows: whether they come out of dequant, where the scale of 8-bit storage is due.
  bool dequantised = false;

  /// Scalar: the value. Rows and Scores: what they were multiplied by, and whether they were at all.
  Scale scale{};
  bool scaled = false;
  /// Scores, and elements and conditions that depend on scores: the dot that made them.
  llvm::SMLoc dot{};
  /// Scores: whether a sink was added, after which nothing may be computed on them.
  bool sunk = false;
  /// Element: an exact integer of 32 bits.
  bool integer = false;
  /// Element and Condition: how deep they are nested; they have no op of their own until scores use them.
  unsigned depth = 0;
  /// Scores and probabilities: the buffer of their keys.
  const ParamDecl *key = nullptr;

  /// Lse: the base, where it is no longer free.
  std::optional<mlir::mla::LseBase> base{};

  bool isNumber() const { return kind == Scalar && scale.params.empty(); }
  /// Whether it can take part in arithmetic on scores.
  bool isElementwise() const {
    return kind == Scalar || kind == HeadValues || kind == Element || kind == Scores;
  }
  /// Whether a writer can compute on it.
  bool isWritable() const { return kind == Stored || kind == NewRows; }
  bool isRowish() const { return kind == Stored || kind == Rows; }
  bool isAttended() const { return kind == Rows && !buffer; }

  /// For messages: `attended f32 rows of 8x512`.
  std::string spelling() const;
  /// Of rows, without saying where they come from: `f32 rows of 8x512`.
  std::string rowSpelling() const;
};

} // namespace mlac

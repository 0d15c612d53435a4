// The program as written, with what the checker finds out about it.
#pragma once

#include "frontend/Builtins.h"
#include "frontend/ValueType.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>
#include <optional>

namespace mlac {

struct Identifier {
  llvm::StringRef text;
  llvm::SMLoc loc;
};

struct Decl;
struct FnDecl;

/// What names without a declaration stand for in arithmetic on scores.
enum class Position { Query, Cached, Head };

/// An expression. One grammar serves values and constant integers; the checker and ConstEval each accept a
/// part of it.
struct Expr {
  enum Kind {
    Number, // text
    Name,   // text
    Call,   // text(operands...), each perhaps with a label
    Slice,  // operands[0] [ operands[1] : operands[2] ]
    Unary,  // text operands[0]: - and not
    Binary  // operands[0] text operands[1]
  };

  Kind kind;
  /// The operator of a Binary, the bracket of a Slice, else the first character.
  llvm::SMLoc loc;
  llvm::StringRef text{};
  char op = 0;
  llvm::SmallVector<Expr *, 2> operands{};
  llvm::SmallVector<Identifier, 0> labels{}; // of a Call: empty, or one each, empty where there is none
  /// Depth of the tree below; bounded by the parser, so that the walks over it may recurse.
  unsigned height = 1;

  // Filled in by the checker.
  ValueType type{};
  const Decl *decl = nullptr;           // Name
  std::optional<Position> position{};   // Name
  const BuiltinInfo *builtin = nullptr; // Call
  Expr *inlined = nullptr; // Call of a function of the program: its body, in terms of the operands
  int64_t sliceBegin = 0, sliceEnd = 0; // Slice
  int64_t windowLeft = 0;               // Call of window

  /// First character of the whole expression.
  llvm::SMLoc begin() const { return kind == Slice || kind == Binary ? operands[0]->begin() : loc; }
};

/// A part of a record: `name : storage[width] scaled format per group inline`, or `apart`.
struct PartSpec {
  Identifier name, storage;
  Expr *width = nullptr;
  Identifier format; // of the scales; empty if there are none
  bool pow2 = false; // f32 scales of which the exponent counts
  Expr *group = nullptr;
  bool apart = false; // the scales lie in rows of their own

  bool isScaled() const { return !format.text.empty(); }
};

/// `layout storage[dims] align n`, `layout record { parts } align n`, `f32[heads]`, or a single word: `f32`,
/// `log2`, `ln`.
struct TypeSpec {
  struct Dim {
    Identifier name; // empty if the dim has none
    Expr *extent;
  };

  Identifier layout; // or the single word
  Identifier storage;
  llvm::SmallVector<Dim, 2> dims;
  std::optional<llvm::SmallVector<PartSpec, 0>> parts; // of a record
  Expr *align = nullptr;

  bool isBuffer() const { return !storage.text.empty(); }
};

/// Anything with a name that expressions can use.
struct Decl {
  enum Kind { Const, Param, Result, Let, Bound };

  Kind kind;
  Identifier name;
  bool used = false;

  Decl(Kind kind, Identifier name) : kind(kind), name(name) {}
};

struct ConstDecl : Decl {
  Expr *value;
  std::optional<int64_t> evaluated; // by the checker; empty if it has no value

  ConstDecl(Identifier name, Expr *value) : Decl(Const, name), value(value) {}
  static bool classof(const Decl *decl) { return decl->kind == Const; }
};

struct ParamDecl : Decl {
  unsigned index; // its place in the list
  TypeSpec spec;

  // Filled in by the checker.
  ValueType type; // Stored, Scalar or Invalid
  mlir::mla::Layout layout = mlir::mla::Layout::ragged;
  llvm::SmallVector<RecordPart, 0> record; // if its rows are records
  int64_t align = 16;

  /// Whether what is read means nothing without a scale beside it.
  bool needsScale() const {
    return isEightBit(type.element) ||
           llvm::any_of(record, [](const RecordPart &part) { return part.needsScale(); });
  }

  ParamDecl(Identifier name, unsigned index, TypeSpec spec)
      : Decl(Param, name), index(index), spec(std::move(spec)) {}
  static bool classof(const Decl *decl) { return decl->kind == Param; }
};

struct ResultDecl : Decl {
  TypeSpec spec;

  // Filled in by the checker.
  ValueType type; // Rows (of a buffer), Lse or Invalid
  mlir::mla::Layout layout = mlir::mla::Layout::ragged; // paged: a cache, which the kernel writes into
  int64_t align = 16;
  std::optional<llvm::SMLoc> assigned; // where it got its value

  bool isCache() const { return layout == mlir::mla::Layout::paged; }

  ResultDecl(Identifier name, TypeSpec spec) : Decl(Result, name), spec(std::move(spec)) {}
  static bool classof(const Decl *decl) { return decl->kind == Result; }
};

struct LetDecl : Decl {
  ValueType type;       // by the checker
  bool defined = false; // by the checker: whether the definition lies before
  Expr *value = nullptr;

  explicit LetDecl(Identifier name) : Decl(Let, name) {}
  static bool classof(const Decl *decl) { return decl->kind == Let; }
};

/// A function's parameter in one call of it: what was passed.
struct BoundDecl : Decl {
  Expr *argument;

  BoundDecl(Identifier name, Expr *argument) : Decl(Bound, name), argument(argument) {}
  static bool classof(const Decl *decl) { return decl->kind == Bound; }
};

/// `fn name(params) = body;`
struct FnDecl {
  Identifier name;
  llvm::SmallVector<Identifier> params;
  Expr *body = nullptr; // null if it could not be parsed
  bool broken = false;  // an error in it was reported
};

/// `let name = value;` or `result = value;`
struct Statement {
  Identifier target;
  LetDecl *let = nullptr;       // of a `let`
  Expr *value = nullptr;        // null if it could not be parsed
  ResultDecl *result = nullptr; // of an assignment, by the checker
};

struct Hint {
  Identifier name;
  Expr *value;
  int64_t evaluated = 0; // by the checker
};

struct KernelDecl {
  Identifier name;
  std::deque<ParamDecl> params;
  std::deque<ResultDecl> results;
  Identifier compute; // empty if there is none
  llvm::SmallVector<Hint, 0> hints;
  std::deque<LetDecl> lets;
  std::deque<Statement> statements;
  llvm::SMLoc end; // the closing brace

  /// The header or a statement could not be parsed: what is missing is not to be reported.
  bool brokenHeader = false;
  bool brokenBody = false;

  // By the checker.
  std::optional<Dtype> computeType; // empty if it was reported
  bool isWriter = false;            // its result is a cache
};

/// One source file. Owns its expressions, which point to one another.
struct Program {
  std::deque<ConstDecl> consts;
  std::deque<FnDecl> fns;
  std::deque<KernelDecl> kernels;
  std::deque<Expr> exprs;
  std::deque<BoundDecl> bounds; // one for each parameter of each call
};

} // namespace mlac

// Source text to tokens.
#pragma once

#include "frontend/Diagnostics.h"
#include "llvm/ADT/StringRef.h"

namespace mlac {

struct Token {
  enum Kind { End, Name, Number, String, Symbol, Compare, Arrow, Bad };

  Kind kind = End;
  /// The token as written; of a string, without its quotes.
  llvm::StringRef text;
  llvm::SMLoc loc;

  bool isSymbol(char symbol) const { return kind == Symbol && text[0] == symbol; }
  bool isName(llvm::StringRef name) const { return kind == Name && text == name; }
  bool isKeyword() const;
};

/// Hands out one token after the other, and `End` for ever after the last. Reports what is no token and goes
/// on.
class Lexer {
public:
  /// Longest name or number: a bound on what a message repeats and on the work of comparing and converting.
  static constexpr size_t kLongestWord = 128;

  Lexer(const SourceText &source, Diagnostics &diagnostics);

  Token next();

private:
  void skipSpace();
  void skipBlockComment();
  Token word();
  Token number();
  Token string();
  Token stray();
  Token take(Token::Kind kind, size_t length);

  llvm::StringRef rest;
  Diagnostics &diagnostics;
};

} // namespace mlac

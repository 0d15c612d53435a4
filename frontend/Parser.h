// Tokens to AST.
#pragma once

#include "frontend/AST.h"
#include "frontend/Lexer.h"

namespace mlac {

/// Parses a whole file. Goes on after an error at the next `;`, `}`, `kernel`, `fn` or `const`, so that one
/// run shows several errors; what it returns is then marked as broken where parts are missing.
class Parser {
public:
  /// Deepest nesting of an expression.
  static constexpr unsigned kDeepestNesting = 200;

  Parser(const SourceText &source, Diagnostics &diagnostics);

  Program parse();

private:
  // Tokens.
  void advance();
  bool expected(const llvm::Twine &what);
  bool expectSymbol(char symbol);
  bool expectSemicolon();
  bool expectKeyword(llvm::StringRef keyword);
  bool consumeSymbol(char symbol);
  bool expectName(Identifier &name, llvm::StringRef what);
  bool atFileItem() const;
  bool tooMany() const { return diagnostics.full(); }

  // Recovery.
  void skipToFileItem();
  void skipHeader();
  void skipStatement();

  // The file and the kernel's header.
  void parseConst();
  void parseFn();
  bool parseFnParams(FnDecl &fn);
  void parseKernel();
  bool parseHeader(KernelDecl &kernel);
  bool parseParams(KernelDecl &kernel);
  bool parseResults(KernelDecl &kernel);
  bool parseClauses(KernelDecl &kernel);
  bool parseCompute(KernelDecl &kernel);
  bool parseHints(KernelDecl &kernel);
  bool parseType(TypeSpec &spec);
  bool parseAlign(TypeSpec &spec);
  bool parseRecord(TypeSpec &spec);
  bool parsePart(PartSpec &part);
  bool parseScales(PartSpec &part);
  bool parseDims(TypeSpec &spec);
  bool parseDim(TypeSpec &spec);

  // Statements.
  void parseBody(KernelDecl &kernel);
  bool parseStatement(KernelDecl &kernel);

  // Expressions; null after an error.
  Expr *parseExpr();
  Expr *parseBinary(unsigned precedence);
  Expr *parseOperand(unsigned precedence);
  Expr *parseUnary();
  Expr *parsePostfix();
  Expr *parsePrimary();
  Expr *parseParentheses();
  Expr *parseNameOrCall();
  bool parseArgument(Expr &call);
  Expr *parseSlice(Expr *base);
  Expr *make(Expr expr);
  Expr *tooDeep(llvm::SMLoc loc);

  Lexer lexer;
  Diagnostics &diagnostics;
  Program program;
  Token token;
  /// Where the token before ends: a missing `;` is reported there.
  llvm::SMLoc lastEnd;
  unsigned nesting = 0;
};

} // namespace mlac

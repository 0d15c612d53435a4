// The file, kernel headers, types and statements.
#include "frontend/Parser.h"

using namespace llvm;
using namespace mlac;

Parser::Parser(const SourceText &source, Diagnostics &diagnostics)
    : lexer(source, diagnostics), diagnostics(diagnostics) {
  lastEnd = SMLoc::getFromPointer(source.text().data());
  token = lexer.next();
}

Program Parser::parse() {
  while (token.kind != Token::End && !tooMany()) {
    if (token.isName("const"))
      parseConst();
    else if (token.isName("fn"))
      parseFn();
    else if (token.isName("kernel"))
      parseKernel();
    else {
      expected("'kernel', 'fn' or 'const'");
      skipToFileItem();
    }
  }
  return std::move(program);
}

//===-- Tokens -----------------------------------------------------------------------------------------===//

void Parser::advance() {
  lastEnd = SMLoc::getFromPointer(token.text.end());
  token = lexer.next();
}

/// The token as a message names it.
static std::string describe(const Token &token) {
  switch (token.kind) {
  case Token::End:
    return "the end of the file";
  case Token::String:
    return "a string";
  default:
    return ("'" + token.text + "'").str();
  }
}

/// Reports what should stand here. A bad token has been reported already.
bool Parser::expected(const Twine &what) {
  if (token.kind != Token::Bad)
    diagnostics.error(token.loc, "syntax", "expected " + what + ", not " + describe(token));
  return false;
}

bool Parser::consumeSymbol(char symbol) {
  if (!token.isSymbol(symbol))
    return false;
  advance();
  return true;
}

bool Parser::expectSymbol(char symbol) {
  return consumeSymbol(symbol) || expected(Twine("'") + Twine(symbol) + "'");
}

bool Parser::expectSemicolon() {
  if (consumeSymbol(';'))
    return true;
  if (token.kind != Token::Bad)
    diagnostics.error(lastEnd, "syntax", "expected ';'");
  return false;
}

bool Parser::expectKeyword(StringRef keyword) {
  if (!token.isName(keyword))
    return expected("'" + keyword + "'");
  advance();
  return true;
}

bool Parser::expectName(Identifier &name, StringRef what) {
  if (token.kind != Token::Name)
    return expected(what);
  if (token.isKeyword()) {
    diagnostics.error(token.loc, "syntax", "expected " + what + ", but '" + token.text + "' is a keyword");
    return false;
  }
  name = {token.text, token.loc};
  advance();
  return true;
}

//===-- Recovery ---------------------------------------------------------------------------------------===//

bool Parser::atFileItem() const {
  return token.kind == Token::End || token.isName("kernel") || token.isName("fn") || token.isName("const");
}

void Parser::skipToFileItem() {
  while (!atFileItem() && !tooMany())
    advance();
}

void Parser::skipHeader() {
  while (!atFileItem() && !token.isSymbol('{') && !tooMany()) {
    bool record = token.isName("record");
    advance();
    if (record && token.isSymbol('{')) // is not the body
      advance();
  }
}

void Parser::skipStatement() {
  while (!atFileItem() && !token.isName("let") && !token.isSymbol('}') && !tooMany())
    if (consumeSymbol(';'))
      return;
    else
      advance();
}

//===-- The file and the kernel's header
//------------------------------------------------------------------===//

void Parser::parseConst() {
  advance();
  Identifier name;
  Expr *value = nullptr;
  if (expectName(name, "the constant's name") && expectSymbol('='))
    value = parseExpr();
  if (!name.text.empty())
    program.consts.emplace_back(name, value);
  if (value && expectSemicolon())
    return;
  while (!atFileItem() && !consumeSymbol(';') && !tooMany())
    advance();
}

void Parser::parseFn() {
  advance();
  FnDecl &fn = program.fns.emplace_back();
  if (expectName(fn.name, "the function's name") && parseFnParams(fn) && expectSymbol('='))
    fn.body = parseExpr();
  if (fn.body && expectSemicolon())
    return;
  fn.broken = true;
  while (!atFileItem() && !consumeSymbol(';') && !tooMany())
    advance();
}

bool Parser::parseFnParams(FnDecl &fn) {
  if (!expectSymbol('('))
    return false;
  while (!token.isSymbol(')')) {
    Identifier name;
    if (!expectName(name, "a parameter's name"))
      return false;
    fn.params.push_back(name);
    if (!consumeSymbol(','))
      break;
  }
  return token.isSymbol(')') ? expectSymbol(')') : expected("',' or ')'");
}

void Parser::parseKernel() {
  advance();
  KernelDecl &kernel = program.kernels.emplace_back();
  if (!parseHeader(kernel)) {
    kernel.brokenHeader = true;
    skipHeader();
  }
  if (token.isSymbol('{'))
    parseBody(kernel);
}

bool Parser::parseHeader(KernelDecl &kernel) {
  if (!expectName(kernel.name, "the kernel's name") || !parseParams(kernel))
    return false;
  if (token.kind != Token::Arrow)
    return expected("'->' and the results");
  advance();
  return parseResults(kernel) && parseClauses(kernel) && (token.isSymbol('{') || expected("'{'"));
}

bool Parser::parseParams(KernelDecl &kernel) {
  if (!expectSymbol('('))
    return false;
  while (!token.isSymbol(')')) {
    Identifier name;
    TypeSpec spec;
    if (!expectName(name, "a parameter's name") || !expectSymbol(':') || !parseType(spec))
      return false;
    kernel.params.emplace_back(name, kernel.params.size(), std::move(spec));
    if (!consumeSymbol(','))
      break;
  }
  return token.isSymbol(')') ? expectSymbol(')') : expected("',' or ')'");
}

bool Parser::parseResults(KernelDecl &kernel) {
  if (!expectSymbol('('))
    return false;
  while (!token.isSymbol(')')) {
    Identifier name;
    TypeSpec spec;
    if (!expectName(name, "a result's name") || !expectSymbol(':') || !parseType(spec))
      return false;
    kernel.results.emplace_back(name, std::move(spec));
    if (!consumeSymbol(','))
      break;
  }
  return token.isSymbol(')') ? expectSymbol(')') : expected("',' or ')'");
}

bool Parser::parseClauses(KernelDecl &kernel) {
  while (true) {
    if (token.isName("compute")) {
      if (!parseCompute(kernel))
        return false;
    } else if (token.isName("hint")) {
      if (!parseHints(kernel))
        return false;
    } else {
      return true;
    }
  }
}

bool Parser::parseCompute(KernelDecl &kernel) {
  SMLoc loc = token.loc;
  advance();
  Identifier type;
  if (!expectName(type, "the compute type"))
    return false;
  if (!kernel.compute.text.empty())
    diagnostics.error(loc, "duplicate-name", "a second compute type")
        .note(kernel.compute.loc, "the first is here");
  else
    kernel.compute = type;
  return true;
}

bool Parser::parseHints(KernelDecl &kernel) {
  advance();
  do {
    Hint hint;
    if (!expectName(hint.name, "a hint's name") || !expectSymbol('=') || !(hint.value = parseExpr()))
      return false;
    kernel.hints.push_back(hint);
  } while (consumeSymbol(','));
  return true;
}

bool Parser::parseType(TypeSpec &spec) {
  if (!expectName(spec.layout, "a type"))
    return false;
  if (token.isSymbol('[') && spec.layout.text == "f32")
    return parseDims(spec);
  if (token.isSymbol('[')) {
    diagnostics.error(spec.layout.loc, "syntax", "a buffer type starts with its layout")
        .fix("write: ragged " + spec.layout.text + "[...] or paged " + spec.layout.text + "[...]");
    return false;
  }
  if (token.kind != Token::Name || token.isKeyword())
    return true;
  if (!expectName(spec.storage, "the storage type"))
    return false;
  bool isRecord = spec.storage.text == "record" && token.isSymbol('{');
  return (isRecord ? parseRecord(spec) : parseDims(spec)) && parseAlign(spec);
}

bool Parser::parseAlign(TypeSpec &spec) {
  if (!token.isName("align"))
    return true;
  advance();
  spec.align = parseExpr();
  return spec.align != nullptr;
}

/// `{ latent : e4m3[512] scaled f32 per 128 inline; rope : bf16[64] }`
bool Parser::parseRecord(TypeSpec &spec) {
  spec.parts.emplace();
  advance();
  while (!token.isSymbol('}')) {
    if (!parsePart(spec.parts->emplace_back()))
      return false;
    if (!consumeSymbol(';'))
      break;
  }
  return token.isSymbol('}') ? expectSymbol('}') : expected("';' or '}'");
}

bool Parser::parsePart(PartSpec &part) {
  if (!expectName(part.name, "a part's name") || !expectSymbol(':') ||
      !expectName(part.storage, "the part's storage type") || !expectSymbol('[') ||
      !(part.width = parseExpr()) || !expectSymbol(']'))
    return false;
  return !token.isName("scaled") || parseScales(part);
}

bool Parser::parseScales(PartSpec &part) {
  advance();
  if (!expectName(part.format, "the type of the scales"))
    return false;
  if ((part.pow2 = token.isName("pow2")))
    advance();
  if (!expectKeyword("per") || !(part.group = parseExpr()))
    return false;
  if (!token.isName("inline") && !token.isName("apart"))
    return expected("'inline' or 'apart'");
  part.apart = token.isName("apart");
  advance();
  return true;
}

bool Parser::parseDims(TypeSpec &spec) {
  if (!expectSymbol('['))
    return false;
  do {
    if (!parseDim(spec))
      return false;
  } while (consumeSymbol(','));
  return token.isSymbol(']') ? expectSymbol(']') : expected("',' or ']'");
}

/// `576` or `heads = 8`: what turns out to be a name before `=` is the dim's name.
bool Parser::parseDim(TypeSpec &spec) {
  Identifier name;
  Expr *extent = parseExpr();
  if (extent && extent->kind == Expr::Name && token.isSymbol('=')) {
    name = {extent->text, extent->loc};
    advance();
    extent = parseExpr();
  }
  if (extent)
    spec.dims.push_back({name, extent});
  return extent != nullptr;
}

//===-- Statements
//-----------------------------------------------------------------------------------------===//

void Parser::parseBody(KernelDecl &kernel) {
  SMLoc open = token.loc;
  advance();
  while (!token.isSymbol('}') && !atFileItem() && !tooMany())
    if (!parseStatement(kernel)) {
      kernel.brokenBody = true;
      skipStatement();
    }
  kernel.end = token.loc;
  if (!consumeSymbol('}') && !tooMany()) {
    kernel.brokenBody = true;
    diagnostics.error(token.loc, "syntax", "expected '}', not " + describe(token))
        .note(open, "to close this '{'");
  }
}

bool Parser::parseStatement(KernelDecl &kernel) {
  bool isLet = token.isName("let");
  if (isLet)
    advance();
  Statement statement;
  if (!expectName(statement.target, isLet ? "a name after 'let'" : "'let', a result or '}'"))
    return false;
  bool hasValue = expectSymbol('=');
  if (hasValue)
    statement.value = parseExpr();
  if (isLet) {
    statement.let = &kernel.lets.emplace_back(statement.target);
    statement.let->value = statement.value;
  }
  // A statement without a value is kept: its name is then known, and its uses are not reported.
  kernel.statements.push_back(statement);
  return statement.value && expectSemicolon();
}

// Tokens: names, numbers, strings, punctuation; `//` and `/* */` comments.
#include "frontend/Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mlac;

static bool isNameStart(char c) { return isAlpha(c) || c == '_'; }
static bool isNamePart(char c) { return isAlnum(c) || c == '_'; }
static bool isSymbol(char c) { return StringRef("(){}[],;:=*/+-@").contains(c); }

/// Characters of a comparison at the front of `text`; 0 if there is none.
static size_t comparisonLength(StringRef text) {
  for (StringRef two : {"==", "!=", "<=", ">="})
    if (text.starts_with(two))
      return 2;
  return text.starts_with("<") || text.starts_with(">") ? 1 : 0;
}

bool Token::isKeyword() const {
  static constexpr StringRef keywords[] = {"const", "fn",  "kernel", "let", "compute",
                                           "hint",  "and", "or",     "not"};
  return kind == Name && is_contained(keywords, text);
}

Lexer::Lexer(const SourceText &source, Diagnostics &diagnostics)
    : rest(source.text()), diagnostics(diagnostics) {
  rest.consume_front("\xEF\xBB\xBF"); // a byte order mark
}

Token Lexer::take(Token::Kind kind, size_t length) {
  Token token{kind, rest.take_front(length), SMLoc::getFromPointer(rest.data())};
  rest = rest.drop_front(length);
  return token;
}

Token Lexer::next() {
  skipSpace();
  if (rest.empty())
    return take(Token::End, 0);
  char c = rest.front();
  if (isNameStart(c))
    return word();
  if (isDigit(c))
    return number();
  if (c == '"')
    return string();
  if (rest.starts_with("->"))
    return take(Token::Arrow, 2);
  if (size_t length = comparisonLength(rest))
    return take(Token::Compare, length);
  return isSymbol(c) ? take(Token::Symbol, 1) : stray();
}

void Lexer::skipSpace() {
  while (true) {
    rest = rest.ltrim(" \t\r\n\f\v");
    if (rest.starts_with("//"))
      rest = rest.drop_until([](char c) { return c == '\n'; });
    else if (rest.starts_with("/*"))
      skipBlockComment();
    else
      return;
  }
}

void Lexer::skipBlockComment() {
  size_t end = rest.find("*/", 2);
  if (end == StringRef::npos)
    diagnostics.error(SMLoc::getFromPointer(rest.data()), "syntax", "comment without an end")
        .fix("close it with */");
  rest = end == StringRef::npos ? rest.take_back(0) : rest.drop_front(end + 2);
}

Token Lexer::word() {
  Token token = take(Token::Name, rest.take_while(isNamePart).size());
  if (token.text.size() > kLongestWord) {
    diagnostics.error(token.loc, "name-length",
                      "a name of " + Twine(token.text.size()) + " characters; at most " +
                          Twine(kLongestWord));
    token.text = token.text.take_front(kLongestWord);
  }
  return token;
}

/// Characters of `576`, `0.5` or `1e-3` at the front of `text`, and of whatever is stuck to it.
static size_t numberLength(StringRef text) {
  size_t length = 1;
  for (; length < text.size(); ++length) {
    bool exponentSign = (text[length] == '-' || text[length] == '+') && toLower(text[length - 1]) == 'e';
    if (!isNamePart(text[length]) && text[length] != '.' && !exponentSign)
      break;
  }
  return length;
}

/// Whether `text` is digits with an optional fraction and an optional exponent.
static bool isNumber(StringRef text) {
  auto dropDigits = [&text] {
    size_t count = text.take_while([](char c) { return isDigit(c); }).size();
    text = text.drop_front(count);
    return count > 0;
  };
  if (!dropDigits() || (text.consume_front(".") && !dropDigits()))
    return false;
  if (!text.consume_front_insensitive("e"))
    return text.empty();
  if (!text.consume_front("-"))
    text.consume_front("+");
  return dropDigits() && text.empty();
}

Token Lexer::number() {
  Token token = take(Token::Number, numberLength(rest));
  if (token.text.size() > kLongestWord)
    diagnostics.error(token.loc, "number-range",
                      "a number of " + Twine(token.text.size()) + " characters; at most " +
                          Twine(kLongestWord));
  else if (!isNumber(token.text))
    diagnostics.error(token.loc, "syntax", "'" + token.text + "' is not a number")
        .fix("numbers are written 576, 0.5 or 1e-3");
  else
    return token;
  token.kind = Token::Bad;
  return token;
}

Token Lexer::string() {
  size_t end = rest.find_first_of("\"\n", 1);
  if (end != StringRef::npos && rest[end] == '"') {
    Token token = take(Token::String, end + 1);
    token.text = token.text.drop_front().drop_back();
    return token;
  }
  Token token = take(Token::Bad, std::min(end, rest.size()));
  diagnostics.error(token.loc, "syntax", "string without an end").fix("close it with \" on the same line");
  return token;
}

Token Lexer::stray() {
  auto strayByte = [](char c) {
    return !isSpace(c) && !isNamePart(c) && !isSymbol(c) && c != '"' && c != '<' && c != '>';
  };
  Token token = take(Token::Bad, std::max<size_t>(1, rest.take_while(strayByte).size()));
  bool printable = llvm::all_of(token.text, [](char c) { return isPrint(c) || !isASCII(c); });
  if (!printable)
    diagnostics.error(token.loc, "syntax", "a control character has no meaning here");
  else
    diagnostics.error(token.loc, "syntax",
                      "'" + (token.text.size() <= 8 ? token.text : "...") + "' has no meaning here");
  return token;
}

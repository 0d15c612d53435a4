#include "runtime/ScoreEdit.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mla {

namespace {

struct Operation {
  std::string_view name;
  size_t operands;
  double (*apply)(double, double, double);
};

constexpr std::array operations{
    Operation{"add", 2, [](double a, double b, double) { return a + b; }},
    Operation{"sub", 2, [](double a, double b, double) { return a - b; }},
    Operation{"mul", 2, [](double a, double b, double) { return a * b; }},
    Operation{"div", 2, [](double a, double b, double) { return a / b; }},
    Operation{"min", 2, [](double a, double b, double) { return std::fmin(a, b); }},
    Operation{"max", 2, [](double a, double b, double) { return std::fmax(a, b); }},
    Operation{"neg", 1, [](double a, double, double) { return -a; }},
    Operation{"abs", 1, [](double a, double, double) { return std::fabs(a); }},
    Operation{"tanh", 1, [](double a, double, double) { return std::tanh(a); }},
    Operation{"exp2", 1, [](double a, double, double) { return std::exp2(a); }},
    Operation{"float", 1, [](double a, double, double) { return a; }},
    Operation{"lt", 2, [](double a, double b, double) { return double(a < b); }},
    Operation{"le", 2, [](double a, double b, double) { return double(a <= b); }},
    Operation{"gt", 2, [](double a, double b, double) { return double(a > b); }},
    Operation{"ge", 2, [](double a, double b, double) { return double(a >= b); }},
    Operation{"eq", 2, [](double a, double b, double) { return double(a == b); }},
    Operation{"ne", 2, [](double a, double b, double) { return double(a != b); }},
    Operation{"and", 2, [](double a, double b, double) { return double(a != 0 && b != 0); }},
    Operation{"or", 2, [](double a, double b, double) { return double(a != 0 || b != 0); }},
    Operation{"xor", 2, [](double a, double b, double) { return double((a != 0) != (b != 0)); }},
    Operation{"select", 3, [](double a, double b, double c) { return a != 0 ? b : c; }},
};

constexpr std::array<std::string_view, 4> places{"score", "q_pos", "kv_pos", "head"};

std::vector<std::string_view> wordsOf(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

template <typename T>
std::optional<T> parseNumber(std::string_view text) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

const Operation *findOperation(std::string_view name) {
  auto found =
      std::find_if(operations.begin(), operations.end(), [&](const Operation &o) { return o.name == name; });
  return found == operations.end() ? nullptr : &*found;
}

bool isOperand(std::string_view text, size_t stepsBefore,
               const std::function<bool(std::string_view)> &known) {
  if (text.starts_with('$'))
    return known(text.substr(1));
  if (text.starts_with('%')) {
    auto step = parseNumber<size_t>(text.substr(1));
    return step && *step < stepsBefore;
  }
  return std::find(places.begin(), places.end(), text) != places.end() || parseNumber<double>(text);
}

} // namespace

std::string problemOf(const ScoreEdit &edit, const std::function<bool(std::string_view)> &known) {
  for (size_t i = 0; i < edit.steps.size(); ++i) {
    std::vector<std::string_view> words = wordsOf(edit.steps[i]);
    const Operation *operation = words.empty() ? nullptr : findOperation(words[0]);
    bool fits = operation && words.size() == 1 + operation->operands &&
                std::all_of(words.begin() + 1, words.end(),
                            [&](std::string_view word) { return isOperand(word, i, known); });
    if (!fits)
      return "step " + std::to_string(i) + ": " + edit.steps[i];
  }
  for (const std::string &operand : {edit.value, edit.keep})
    if (!operand.empty() && !isOperand(operand, edit.steps.size(), known))
      return operand;
  if (edit.empty() && (!edit.steps.empty() || !edit.keep.empty()))
    return "without a value";
  return {};
}

ScoreProgram::ScoreProgram(const ScoreEdit &edit) {
  // Names and numbers first: steps' slots follow them.
  std::vector<std::string_view> operands{edit.value, edit.keep};
  for (const std::string &step : edit.steps) {
    std::vector<std::string_view> words = wordsOf(step);
    operands.insert(operands.end(), words.begin() + 1, words.end());
  }
  for (std::string_view operand : operands)
    if (operand.starts_with('$') &&
        std::find(nameList.begin(), nameList.end(), operand.substr(1)) == nameList.end())
      nameList.emplace_back(operand.substr(1));
  firstStep = places.size() + nameList.size();
  for (std::string_view operand : operands)
    if (parseNumber<double>(operand))
      ++firstStep; // one for each use
  slots.resize(firstStep + edit.steps.size());
  for (const std::string &step : edit.steps) {
    std::vector<std::string_view> words = wordsOf(step);
    Step parsed{static_cast<int>(findOperation(words[0]) - operations.data()), {}};
    for (size_t i = 1; i < words.size(); ++i)
      parsed.operands[i - 1] = slotOf(words[i]);
    steps.push_back(parsed);
  }
  value = slotOf(edit.value);
  if (!edit.keep.empty())
    keep = slotOf(edit.keep);
}

size_t ScoreProgram::slotOf(std::string_view operand) {
  if (operand.starts_with('%'))
    return firstStep + *parseNumber<size_t>(operand.substr(1));
  if (operand.starts_with('$'))
    return places.size() +
           size_t(std::find(nameList.begin(), nameList.end(), operand.substr(1)) - nameList.begin());
  if (auto number = parseNumber<double>(operand)) {
    size_t slot = places.size() + nameList.size() + numbers.size();
    numbers.emplace_back(slot, *number);
    slots[slot] = *number;
    return slot;
  }
  return size_t(std::find(places.begin(), places.end(), operand) - places.begin());
}

std::optional<double> ScoreProgram::evaluate(double score, const Place &place,
                                             std::span<const double> values) {
  slots[0] = score;
  slots[1] = place.queryPosition;
  slots[2] = place.cachedPosition;
  slots[3] = place.head;
  std::copy(values.begin(), values.end(), slots.begin() + places.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    slots[firstStep + i] = operations[static_cast<size_t>(step.op)].apply(
        slots[step.operands[0]], slots[step.operands[1]], slots[step.operands[2]]);
  }
  if (keep && slots[*keep] == 0)
    return std::nullopt;
  return slots[value];
}

} // namespace mla

// What a kernel computes of a score between its scale and the softmax, as the manifest spells it: a list of
// steps `name operand...`, of which an operand is
//
//   score    the scaled score             q_pos    position of the query token
//   kv_pos   position of the cached token head     the head
//   %n       the result of step n         $name    the scalar, or the head's value, of that operand
//   a number
//
// Positions count from the request's first cached token. Conditions are 0 and 1. The names are
//
//   add sub mul div min max  neg abs tanh exp2 float  lt le gt ge eq ne  and or xor  select (condition, then,
//   else)
//
// min and max give the other operand if one is NaN; comparisons with NaN are 0 but for `ne`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mla {

struct ScoreEdit {
  std::vector<std::string> steps;
  std::string value; ///< the operand that is the new score; empty if scores are not edited
  std::string keep;  ///< the operand that says whether the token is visible; empty: it is

  bool empty() const { return value.empty(); }
  bool operator==(const ScoreEdit &) const = default;
};

/// What is wrong with an edit, or empty. `known` answers for the names behind `$`.
std::string problemOf(const ScoreEdit &edit, const std::function<bool(std::string_view)> &known);

/// An edit ready to be evaluated, in double precision. The edit must have no problem.
class ScoreProgram {
public:
  ScoreProgram() = default;
  explicit ScoreProgram(const ScoreEdit &edit);

  /// Names behind `$`, in the order in which evaluate() takes their values.
  const std::vector<std::string> &names() const { return nameList; }

  struct Place {
    double queryPosition, cachedPosition, head;
  };
  /// The new score; empty if the token is hidden. `values` holds one of each name. Not for concurrent use.
  std::optional<double> evaluate(double score, const Place &place, std::span<const double> values);

private:
  /// A slot of `slots`: score, positions, head, names, numbers, then the steps' results.
  struct Step {
    int op;
    size_t operands[3];
  };

  size_t slotOf(std::string_view operand);

  std::vector<std::string> nameList;
  std::vector<std::pair<size_t, double>> numbers;
  std::vector<Step> steps;
  std::vector<double> slots;
  size_t firstStep = 0, value = 0;
  std::optional<size_t> keep;
};

} // namespace mla

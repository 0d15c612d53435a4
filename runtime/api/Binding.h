// From operands to the parameters of a launch, without a look-up or an allocation: what each parameter is was
// found when the kernel was loaded.
#pragma once

#include "mla/Kernel.h"
#include "runtime/Abi.h"

#include <array>
#include <map>

namespace mla {

/// The values of every word of the parameter vocabulary that a kernel has, in one order.
class Words {
public:
  static constexpr size_t most = 160;
  std::array<uint64_t, most> values{};

  uint64_t &operator[](size_t index) { return values[index]; }
};

/// Where in Words a kernel's words stand.
class Vocabulary {
public:
  /// Throws Error tooLarge for a kernel with more scalars than Words holds.
  explicit Vocabulary(const KernelInfo &kernel);

  /// The word's place. Throws Error unknownParameter.
  uint16_t find(const std::string &word) const;

  // Places of the first word of each group; the rest follow in the order of runtime/Abi.h.
  uint16_t plan = 0, batch = 0, query = 0, cache = 0, key = 0, value = 0, out = 0, lse = 0, states = 0;
  std::vector<uint16_t> scalars, headValues; ///< in the kernel's order

private:
  void add(const std::vector<Param> &params);

  std::map<std::string, uint16_t, std::less<>> places;
};

/// The parameters of one entry.
class Binding {
public:
  Binding() = default;
  Binding(const Vocabulary &vocabulary, const Entry &entry);

  /// Pointers into `words`, as a launch takes them.
  void point(Words &words, std::array<void *, Words::most> &pointers) const {
    for (size_t i = 0; i < places.size(); ++i)
      pointers[i] = &words[places[i]];
  }

private:
  std::vector<uint16_t> places;
};

/// Writes an operand's words from `place` on.
void writeTensor(Words &words, uint16_t place, const Tensor &tensor);
void writeCache(Words &words, uint16_t place, const Cache &cache, const Operand &operand,
                PageDivision division);

} // namespace mla

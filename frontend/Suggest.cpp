// Edit distance over the known names.
#include "frontend/Suggest.h"

using namespace llvm;
using namespace mlac;

std::optional<StringRef> mlac::closestName(StringRef name, ArrayRef<StringRef> candidates) {
  std::optional<StringRef> closest;
  unsigned bound = std::max<size_t>(1, (name.size() + 1) / 3);
  for (StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, bound);
    if (distance > bound || distance >= name.size())
      continue;
    closest = candidate;
    if (distance == 0)
      break;
    bound = distance - 1; // only a closer one replaces it
  }
  return closest;
}

std::string mlac::listNames(ArrayRef<StringRef> names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i].str();
  return text;
}

std::string mlac::suggestName(StringRef name, ArrayRef<StringRef> candidates) {
  if (std::optional<StringRef> closest = closestName(name, candidates))
    return ("did you mean '" + *closest + "'?").str();
  return candidates.empty() ? "there is none to choose from" : "known: " + listNames(candidates);
}

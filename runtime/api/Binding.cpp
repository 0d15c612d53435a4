#include "runtime/api/Binding.h"

#include <algorithm>

namespace mla {

static_assert(Kernel::statesPerLaunch == maxMergeStates);

void Vocabulary::add(const std::vector<Param> &params) {
  if (places.size() + params.size() > Words::most)
    throw Error(Error::Code::tooLarge, "the parameters of the kernel",
                std::to_string(places.size() + params.size()), "at most " + std::to_string(Words::most),
                "declare fewer scalars");
  for (const Param &param : params)
    places.emplace(param.name, static_cast<uint16_t>(places.size()));
}

Vocabulary::Vocabulary(const KernelInfo &kernel) {
  add(planParams());
  batch = static_cast<uint16_t>(places.size());
  add(batchParams());
  for (const Operand &operand : kernel.operands) {
    auto place = static_cast<uint16_t>(places.size());
    if (operand.role == Role::scalar)
      scalars.push_back(place);
    else if (operand.role == Role::headValues)
      headValues.push_back(place);
    else
      (operand.role == Role::query    ? query
       : operand.role == Role::cache  ? cache
       : operand.role == Role::key    ? key
       : operand.role == Role::value  ? value
       : operand.role == Role::output ? out
                                      : lse) = place;
    add(operandParams(operand));
  }
  states = static_cast<uint16_t>(places.size());
  if (!kernel.merge.name.empty())
    add(mergeParams());
}

uint16_t Vocabulary::find(const std::string &word) const {
  auto found = places.find(word);
  if (found == places.end())
    throw Error(Error::Code::unknownParameter, "parameter " + word, "unknown",
                "a word of the parameter vocabulary", "recompile the kernel with this version");
  return found->second;
}

Binding::Binding(const Vocabulary &vocabulary, const Entry &entry) {
  for (const std::string &word : entry.params)
    places.push_back(vocabulary.find(word));
}

static uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

void writeTensor(Words &words, uint16_t place, const Tensor &tensor) {
  words[place] = tensor.data;
  words[place + 1] = bits(tensor.strideToken);
  words[place + 2] = bits(tensor.strideHead);
}

/// The last of the cache's words.
static void writeScales(Words &words, size_t place, const Cache &cache) {
  words[place] = cache.scales;
  words[place + 1] = bits(cache.strideScalePage);
  words[place + 2] = bits(cache.strideScaleToken);
}

void writeCache(Words &words, uint16_t place, const Cache &cache, const Operand &operand,
                PageDivision division) {
  constexpr size_t raggedWords = 3, pagedWords = 8;
  bool ragged = operand.layout == Layout::ragged;
  if (operand.scaleRowBytes())
    writeScales(words, place + (ragged ? raggedWords : pagedWords), cache);
  if (ragged) {
    words[place] = cache.data;
    words[place + 1] = bits(cache.strideToken);
    words[place + 2] = cache.indptr;
    return;
  }
  const uint64_t values[pagedWords] = {
      cache.data,     bits(cache.stridePage),  bits(cache.strideToken),
      cache.table,    bits(cache.tableStride), static_cast<uint32_t>(cache.pageSize),
      division.magic, division.shift};
  std::copy(std::begin(values), std::end(values), &words[place]);
}

} // namespace mla

//===- Text.h - Words for messages ------------------------------*- C++ -*-===//
#ifndef MLAC_RUNTIME_EMULATOR_TEXT_H
#define MLAC_RUNTIME_EMULATOR_TEXT_H

#include <cstring>

namespace mla::emulator {

/// Equal sites may be different constants once code was duplicated.
inline bool sameText(const char *a, const char *b) { return a == b || (a && b && std::strcmp(a, b) == 0); }

inline const char *siteText(const char *site) { return site ? site : "an unnamed site"; }

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_TEXT_H

// The identity of the binary that holds the compiler.
#pragma once

#include <string>

namespace mla::jit {

/// The linker's build id of the library or program that this function is in, as hexadecimal digits; empty if
/// it has none.
std::string ownBuildId();

} // namespace mla::jit

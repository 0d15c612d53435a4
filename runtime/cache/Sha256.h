// SHA-256, for keys and checksums of cache entries.
#pragma once

#include <string>
#include <string_view>

namespace mla {

/// The digest as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace mla

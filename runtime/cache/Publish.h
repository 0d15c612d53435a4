// Files that appear complete or not at all, for readers in other processes.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string_view>

namespace mla {

/// Writes the parts to a temporary file beside `path`, and once it is on disk renames it to `path`. False if
/// the folder cannot be written; nothing is left then.
bool publishFile(const std::filesystem::path &path, std::initializer_list<std::string_view> parts);

} // namespace mla

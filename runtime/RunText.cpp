// Run statistics and reports as JSON and as text.
#include "runtime/Runner.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace mla {

using Json = nlohmann::ordered_json;

template <typename T>
static Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string RunStats::toJson() const {
  Json json = {{"device", device},
               {"kernel", kernel},
               {"grid", grid},
               {"items", items},
               {"tiles", tiles},
               {"splits", splits},
               {"slots", slots},
               {"workspace_bytes", workspaceBytes},
               {"cache_bytes_read", cacheBytesRead},
               {"cache_bytes_owned", cacheBytesOwned},
               {"cache_bytes_loaded", orNull(cacheBytesLoaded)},
               {"microseconds", orNull(microseconds)}};
  return json.dump(2);
}

std::string RunStats::toText() const {
  std::string text = fmt::format(
      "{} on {}\n"
      "work: {} blocks, {} items, {} tiles, {} row tiles split into {} partials ({} bytes)\n"
      "cache: {} bytes owned, {} bytes covered by the work",
      kernel, device, grid, items, tiles, splits, slots, workspaceBytes, cacheBytesOwned, cacheBytesRead);
  if (cacheBytesLoaded)
    text += fmt::format(", {} bytes loaded", *cacheBytesLoaded);
  text += '\n';
  if (microseconds && *microseconds > 0)
    text += fmt::format("time: {:.1f} us ({:.2f} TB/s of owned bytes)\n", *microseconds,
                        static_cast<double>(cacheBytesOwned) / *microseconds * 1e-6);
  return text;
}

std::string RunReport::toJson() const {
  Json json = {{"run", Json::parse(stats.toJson())}, {"check", Json::parse(check.toJson())}};
  return json.dump(2);
}

std::string RunReport::toText() const { return stats.toText() + check.toText(); }

} // namespace mla

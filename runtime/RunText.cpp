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

static Json toJson(const std::optional<Timing> &timing) {
  if (!timing)
    return nullptr;
  return {{"median", timing->median},
          {"min", timing->min},
          {"max", timing->max},
          {"readings", timing->readings},
          {"launches", timing->launches}};
}

std::string RunStats::toJson() const {
  Json json = {{"device", device},
               {"kernel", kernel},
               {"grid", grid},
               {"items", items},
               {"tiles", tiles},
               {"tiles_skipped", skippedTiles},
               {"splits", splits},
               {"slots", slots},
               {"workspace_bytes", workspaceBytes},
               {"cache_bytes_read", cacheBytesRead},
               {"cache_bytes_owned", cacheBytesOwned},
               {"cache_bytes_loaded", orNull(cacheBytesLoaded)},
               {"rotated", {{"operand", "cache"}, {"copies", copies}, {"bytes", copies * copyBytes}}},
               {"launches", time.launches},
               {"microseconds", mla::toJson(microseconds())},
               {"microseconds_queued", mla::toJson(time.queued)}};
  return json.dump(2);
}

std::string RunStats::timeText(const Timing &spent) const {
  std::string text = fmt::format("time: {:.1f} us ({:.2f} TB/s of owned bytes)", spent.median,
                                 static_cast<double>(cacheBytesOwned) / spent.median * 1e-6);
  if (spent.readings > 1)
    text += fmt::format(
        ", {:.1f} to {:.1f} in {} readings of {} launches as a graph; {:.1f} us launched one by one; "
        "{} copies of the cache in turn ({} bytes)",
        spent.min, spent.max, spent.readings, spent.launches, time.queued->median, copies,
        copies * copyBytes);
  return text + '\n';
}

std::string RunStats::toText() const {
  std::string text = fmt::format(
      "{} on {}\n"
      "work: {} blocks, {} items, {} tiles, {} row tiles split into {} partials ({} bytes)\n"
      "cache: {} bytes owned, {} bytes covered by the work",
      kernel, device, grid, items, tiles, splits, slots, workspaceBytes, cacheBytesOwned, cacheBytesRead);
  if (skippedTiles)
    text += fmt::format("; {} tiles outside of the window are not visited", skippedTiles);
  if (cacheBytesLoaded)
    text += fmt::format(", {} bytes loaded", *cacheBytesLoaded);
  text += '\n';
  if (const std::optional<Timing> &spent = microseconds(); spent && spent->median > 0)
    text += timeText(*spent);
  return text;
}

std::string RunReport::toJson() const {
  Json json = {{"run", Json::parse(stats.toJson())}, {"check", Json::parse(check.toJson())}};
  return json.dump(2);
}

std::string RunReport::toText() const { return stats.toText() + check.toText(); }

} // namespace mla

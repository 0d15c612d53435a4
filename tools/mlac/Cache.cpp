// `mlac cache`: the artefacts that were kept.
#include "runtime/Manifest.h"
#include "runtime/cache/ArtefactCache.h"
#include "runtime/cache/TunedStore.h"
#include "tools/mlac/Commands.h"

#include <cstdio>

namespace mlac {

static void printEntry(const mla::ArtefactCache::Entry &entry, bool withProblem) {
  std::printf("%s  %10llu bytes  %s\n", entry.key.c_str(), static_cast<unsigned long long>(entry.bytes),
              entry.intact  ? entry.summary.c_str()
              : withProblem ? entry.problem.c_str()
                            : "damaged");
}

static void listTuned(const mla::ArtefactCache &cache) {
  for (const mla::TunedRecord &record : mla::TunedStore(cache.directory()).list())
    std::printf("tuned  %s for %s, profile %s, on %s: %s, %.1f us (%s)\n", record.kernel.c_str(), record.key.target.c_str(),
                record.key.profile.c_str(), record.key.device.c_str(), record.schedule.c_str(), record.microseconds,
                record.measured.c_str());
}

static int listEntries(const mla::ArtefactCache &cache) {
  std::vector<mla::ArtefactCache::Entry> entries = cache.list();
  for (const mla::ArtefactCache::Entry &entry : entries)
    printEntry(entry, false);
  listTuned(cache);
  std::printf("%zu entries in %s\n", entries.size(), cache.directory().c_str());
  return 0;
}

static int verifyEntries(const mla::ArtefactCache &cache) {
  size_t damaged = 0, all = 0;
  for (const mla::ArtefactCache::Entry &entry : cache.list()) {
    ++all;
    if (entry.intact)
      continue;
    ++damaged;
    printEntry(entry, true);
  }
  std::printf("%zu of %zu entries in %s are damaged%s\n", damaged, all, cache.directory().c_str(),
              damaged ? "; they are rebuilt when they are next needed" : "");
  return damaged ? 1 : 0;
}

static int clearEntries(const mla::ArtefactCache &cache) {
  size_t removed = cache.clear();
  std::printf("%zu entries removed from %s\n", removed, cache.directory().c_str());
  return 0;
}

int runCache(const CacheOptions &options) {
  mla::ArtefactCache cache(options.directory.empty() ? mla::ArtefactCache::defaultDirectory()
                                                     : std::filesystem::path(options.directory));
  if (cache.directory().empty()) {
    std::printf("no cache directory: MLAC_CACHE_DIR, XDG_CACHE_HOME and HOME are not set\n");
    return 0;
  }
  try {
    switch (options.action) {
    case CacheAction::List:
      return listEntries(cache);
    case CacheAction::Verify:
      return verifyEntries(cache);
    case CacheAction::Clear:
      return clearEntries(cache);
    }
  } catch (const mla::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

} // namespace mlac

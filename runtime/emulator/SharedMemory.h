//===- SharedMemory.h - A block's shared memory and its history -*- C++ -*-===//
//
// Shared memory has a shadow: who last wrote and who has since read each 4-byte word, as points in vector
// time (FastTrack). An access that conflicts with an earlier one which did not happen before it is a data
// race, found no matter in which order the two ran. A word touched in parts is split into one cell for each
// byte, so neighbours in a word never count as a conflict; a write of the whole word puts it together again.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_SHAREDMEMORY_H
#define MLAC_RUNTIME_EMULATOR_SHAREDMEMORY_H

#include "runtime/emulator/Clock.h"
#include "runtime/emulator/Reporter.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace mla::emulator {

/// The history of a word, or of one byte of a split word.
struct Cell {
  // Site pointers have 47 bits on x86-64; the bits above hold the thread and the flags.
  static constexpr uint64_t inFlight = 1ull << 60;
  static constexpr uint64_t split = 1ull << 61;
  static constexpr uint64_t atomic = 1ull << 62;
  static constexpr uint64_t barrier = 1ull << 63;

  uint64_t writer = 0;    ///< Site, thread and flags of the last write, or of the copy in flight.
  uint64_t reader = 0;    ///< Site and warp of the latest readers.
  uint32_t writeTime = 0; ///< 0: never written.
  uint32_t readTime = 0;  ///< 0: not read since it was written.
  uint32_t readLanes = 0; ///< The lanes of that warp that read at that time.
  uint32_t link = 0;      ///< Split: the first of its byte cells. Else: the list of further readers.

  static uint64_t pack(const char *site, uint32_t who) {
    return reinterpret_cast<uintptr_t>(site) | static_cast<uint64_t>(who) << 48;
  }
  static const char *siteOf(uint64_t packed) {
    return reinterpret_cast<const char *>(packed & ((1ull << 48) - 1));
  }
  static uint32_t whoOf(uint64_t packed) { return packed >> 48 & 0xFFF; }
};

class SharedMemory {
public:
  explicit SharedMemory(Reporter &reporter) : reporter(reporter) {}

  /// Starts a block: poison everywhere, no history. Writers numbered `threads` and up are asynchronous
  /// copies.
  void reset(uint32_t bytes, uint32_t threads);

  std::byte *base() const { return data; }

  /// Is this address in shared memory or in the red zones around it?
  bool owns(uintptr_t address) const { return address - windowBegin < windowBytes; }

  /// Each of these checks bounds and history and then records the access.
  void read(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site);
  void write(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site);
  void atomic(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site);

  /// From here until it lands nobody may touch the destination.
  void issueCopy(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site);
  /// The bytes now count as written by `writer` at its time.
  void landCopy(const ThreadClock &writer, uintptr_t address, uint32_t bytes, const char *site);

  /// Turns 8 bytes into an mbarrier, which plain accesses may not touch.
  void makeBarrier(const ThreadClock &thread, uintptr_t address, const char *site);
  /// Fails unless the bytes are an mbarrier whose initialisation happened before.
  void useBarrier(const ThreadClock &thread, uintptr_t address, const char *site);

  uint32_t offset(uintptr_t address) const { return address - reinterpret_cast<uintptr_t>(data); }

private:
  /// Further readers of a cell, a singly linked list by index.
  struct Readers {
    uint64_t who;
    uint32_t time;
    uint32_t lanes;
    uint32_t next;
  };
  struct Access {
    const ThreadClock &thread;
    const char *site;
  };

  template <typename Visit>
  void forEachCell(uint32_t begin, uint32_t bytes, Visit visit);
  template <typename Visit>
  void overwrite(uint32_t begin, uint32_t bytes, Visit visit);

  uint32_t checkBounds(uintptr_t address, uint32_t bytes, const char *site);
  Cell *splitWord(Cell &word);
  void mergeWord(Cell &word);

  void readCell(Cell &cell, uint32_t at, const Access &access);
  void writeCell(Cell &cell, uint32_t at, const Access &access, uint64_t flags);
  void claimCell(Cell &cell, uint32_t at, const Access &access, uint64_t flags);
  void checkReadable(Cell &cell, uint32_t at, const Access &access);
  void checkUntouched(const Cell &cell, uint32_t at, const Access &access);
  void checkReaders(const Cell &cell, uint32_t at, const Access &access);
  void noteReader(Cell &cell, const Access &access);
  bool mergeReader(Cell &cell, const Access &access);
  void pruneReaders(Cell &cell, const ThreadClock &thread);
  uint32_t newReaders(const Readers &readers);
  void forgetReaders(Cell &cell);

  [[noreturn]] void failSpecial(const Cell &cell, uint32_t at, const Access &access);
  [[noreturn]] void failRace(const char *what, uint32_t at, const Access &access, const char *other,
                             uint32_t thread, const char *otherSite);

  struct Unmap {
    size_t bytes;
    void operator()(std::byte *p) const;
  };

  Reporter &reporter;
  std::unique_ptr<std::byte[], Unmap> window;
  uintptr_t windowBegin = 0;
  size_t windowBytes = 0;
  std::byte *data = nullptr;
  uint32_t size = 0;
  uint32_t threads = 0;
  std::vector<Cell> words;
  std::vector<Cell> byteCells;      ///< Four for each split word.
  std::vector<uint32_t> idleBytes;  ///< First cells of unused fours.
  std::vector<Readers> readerLists; ///< Element 0 is unused: link 0 ends a list.
  uint32_t idleReaders = 0;         ///< A list of unused elements.
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_SHAREDMEMORY_H

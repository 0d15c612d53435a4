//===- SharedMemory.cpp - Shared memory and its shadow --------------------===//

#include "runtime/emulator/SharedMemory.h"
#include "runtime/emulator/Text.h"

#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>

using namespace mla::emulator;

namespace {
// Wide enough that an index off by a whole tile still lands in the red zone and is reported as shared.
constexpr size_t redZone = 256 << 10;
constexpr int poison = 0xFF;
} // namespace

void SharedMemory::Unmap::operator()(std::byte *p) const { munmap(p, bytes); }

void SharedMemory::reset(uint32_t bytes, uint32_t threadCount) {
  size_t needed = (bytes / 1024 + 1) * 1024 + 2 * redZone;
  if (needed > windowBytes) {
    void *fresh =
        mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
      throw std::bad_alloc();
    window = std::unique_ptr<std::byte[], Unmap>(static_cast<std::byte *>(fresh), Unmap{needed});
    windowBegin = reinterpret_cast<uintptr_t>(fresh);
    windowBytes = needed;
    data = window.get() + redZone; // A page is 4096 bytes, so this is aligned to 1024.
  }
  size = bytes;
  threads = threadCount;
  std::memset(data, poison, bytes);
  words.assign((bytes + 3) / 4, Cell());
  byteCells.clear();
  idleBytes.clear();
  readerLists.assign(1, Readers());
  idleReaders = 0;
}

uint32_t SharedMemory::checkBounds(uintptr_t address, uint32_t bytes, const char *site) {
  int64_t begin = static_cast<int64_t>(address) - reinterpret_cast<intptr_t>(data);
  if (begin < 0 || begin + bytes > size) [[unlikely]]
    reporter.fail(
        site, fmt::format("{} bytes at offset {} of shared memory are out of bounds; the block has {} bytes",
                          bytes, begin, size));
  return static_cast<uint32_t>(begin);
}

//===----------------------------------------------------------------------===//
// Words and bytes
//===----------------------------------------------------------------------===//

template <typename Visit>
void SharedMemory::forEachCell(uint32_t begin, uint32_t bytes, Visit visit) {
  for (uint32_t at = begin, end = begin + bytes; at < end;) {
    Cell &word = words[at / 4];
    uint32_t stop = std::min(end, (at | 3) + 1);
    if (stop - at == 4 && !(word.writer & Cell::split)) [[likely]] {
      visit(word, at);
    } else {
      Cell *parts = splitWord(word);
      for (uint32_t byte = at; byte < stop; ++byte)
        visit(parts[byte & 3], byte);
    }
    at = stop;
  }
}

/// Like forEachCell for visits that leave all bytes with the same history: split words become whole.
template <typename Visit>
void SharedMemory::overwrite(uint32_t begin, uint32_t bytes, Visit visit) {
  forEachCell(begin, bytes, visit);
  for (uint32_t at = (begin + 3) & ~3u; at + 4 <= begin + bytes; at += 4) {
    if (words[at / 4].writer & Cell::split) [[unlikely]]
      mergeWord(words[at / 4]);
  }
}

Cell *SharedMemory::splitWord(Cell &word) {
  if (word.writer & Cell::split)
    return &byteCells[word.link];
  uint32_t first;
  if (idleBytes.empty()) {
    first = byteCells.size();
    byteCells.resize(first + 4);
  } else {
    first = idleBytes.back();
    idleBytes.pop_back();
  }
  for (uint32_t i = 0; i < 4; ++i) {
    Cell &part = byteCells[first + i] = word;
    part.link = 0;
    for (uint32_t from = word.link; from; from = readerLists[from].next) {
      Readers copy = readerLists[from];
      copy.next = part.link;
      part.link = newReaders(copy);
    }
  }
  forgetReaders(word);
  word.writer |= Cell::split;
  word.link = first;
  return &byteCells[first];
}

void SharedMemory::mergeWord(Cell &word) {
  uint32_t first = word.link;
  word = byteCells[first];
  for (uint32_t i = 1; i < 4; ++i)
    forgetReaders(byteCells[first + i]);
  idleBytes.push_back(first);
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

uint32_t SharedMemory::newReaders(const Readers &readers) {
  uint32_t index = idleReaders;
  if (!index) {
    readerLists.push_back(readers);
    return readerLists.size() - 1;
  }
  idleReaders = readerLists[index].next;
  readerLists[index] = readers;
  return index;
}

void SharedMemory::forgetReaders(Cell &cell) {
  while (uint32_t dead = cell.link) {
    cell.link = readerLists[dead].next;
    readerLists[dead].next = idleReaders;
    idleReaders = dead;
  }
  cell.readTime = 0;
}

/// Adds the thread to an entry of its warp and time, if there is one.
bool SharedMemory::mergeReader(Cell &cell, const Access &access) {
  uint32_t warp = access.thread.id / warpSize;
  for (uint32_t at = cell.link; at; at = readerLists[at].next) {
    Readers &readers = readerLists[at];
    if (readers.time == access.thread.time && Cell::whoOf(readers.who) == warp) {
      readers.lanes |= 1u << access.thread.id % warpSize;
      return true;
    }
  }
  return false;
}

/// Drops reads that happened before this thread's: a write that races with one of those races with this one
/// too.
void SharedMemory::pruneReaders(Cell &cell, const ThreadClock &thread) {
  for (uint32_t *at = &cell.link; *at;) {
    Readers &readers = readerLists[*at];
    readers.lanes = thread.unseen(Cell::whoOf(readers.who), readers.lanes, readers.time);
    if (readers.lanes) {
      at = &readers.next;
      continue;
    }
    uint32_t dead = *at;
    *at = readers.next;
    readers.next = idleReaders;
    idleReaders = dead;
  }
}

void SharedMemory::noteReader(Cell &cell, const Access &access) {
  const ThreadClock &thread = access.thread;
  uint32_t warp = thread.id / warpSize;
  if (cell.readTime == thread.time && Cell::whoOf(cell.reader) == warp) [[likely]] {
    cell.readLanes |= 1u << thread.id % warpSize;
    return;
  }
  if (cell.link) {
    if (mergeReader(cell, access))
      return;
    pruneReaders(cell, thread);
  }
  if (cell.readTime) {
    uint32_t left = thread.unseen(Cell::whoOf(cell.reader), cell.readLanes, cell.readTime);
    if (left)
      cell.link = newReaders({cell.reader, cell.readTime, left, cell.link});
  }
  cell.reader = Cell::pack(access.site, warp);
  cell.readTime = thread.time;
  cell.readLanes = 1u << thread.id % warpSize;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

void SharedMemory::failSpecial(const Cell &cell, uint32_t at, const Access &access) {
  const char *other = siteText(Cell::siteOf(cell.writer));
  uint32_t thread = Cell::whoOf(cell.writer);
  if (cell.writer & Cell::barrier)
    reporter.fail(access.site,
                  fmt::format("shared byte {} belongs to the mbarrier that thread {} initialised at {}", at,
                              thread, other));
  reporter.fail(access.site,
                fmt::format("shared byte {} is in flight: the asynchronous copy of thread {} at {} "
                            "has not been waited for",
                            at, thread, other));
}

void SharedMemory::failRace(const char *what, uint32_t at, const Access &access, const char *other,
                            uint32_t thread, const char *otherSite) {
  std::string culprit = thread < threads ? fmt::format("thread {}", thread) : "an asynchronous copy";
  reporter.fail(access.site,
                fmt::format("data race: thread {} {} shared byte {}, which {} {} at {}, with no barrier "
                            "between them",
                            access.thread.id, what, at, culprit, other, siteText(otherSite)));
}

void SharedMemory::checkReadable(Cell &cell, uint32_t at, const Access &access) {
  if (cell.writer & (Cell::inFlight | Cell::barrier)) [[unlikely]]
    failSpecial(cell, at, access);
  if (!cell.writeTime) [[unlikely]]
    reporter.fail(access.site, fmt::format("thread {} reads shared byte {}, which was never written",
                                           access.thread.id, at));
  if (!access.thread.sees(Cell::whoOf(cell.writer), cell.writeTime)) [[unlikely]]
    failRace("reads", at, access, "wrote", Cell::whoOf(cell.writer), Cell::siteOf(cell.writer));
}

void SharedMemory::checkReaders(const Cell &cell, uint32_t at, const Access &access) {
  auto check = [&](uint64_t who, uint32_t lanes, uint32_t time) {
    uint32_t warp = Cell::whoOf(who);
    if (uint32_t left = access.thread.unseen(warp, lanes, time)) [[unlikely]]
      failRace("writes", at, access, "read", warp * warpSize + std::countr_zero(left), Cell::siteOf(who));
  };
  if (!cell.readTime)
    return;
  check(cell.reader, cell.readLanes, cell.readTime);
  for (uint32_t i = cell.link; i; i = readerLists[i].next)
    check(readerLists[i].who, readerLists[i].lanes, readerLists[i].time);
}

/// Every earlier access to the cell must have happened before this one.
void SharedMemory::checkUntouched(const Cell &cell, uint32_t at, const Access &access) {
  if (cell.writer & (Cell::inFlight | Cell::barrier)) [[unlikely]]
    failSpecial(cell, at, access);
  if (cell.writeTime && !access.thread.sees(Cell::whoOf(cell.writer), cell.writeTime)) [[unlikely]]
    failRace("writes", at, access, "wrote", Cell::whoOf(cell.writer), Cell::siteOf(cell.writer));
  checkReaders(cell, at, access);
}

void SharedMemory::readCell(Cell &cell, uint32_t at, const Access &access) {
  checkReadable(cell, at, access);
  noteReader(cell, access);
}

void SharedMemory::claimCell(Cell &cell, uint32_t at, const Access &access, uint64_t flags) {
  if (cell.readTime)
    forgetReaders(cell);
  cell.writer = Cell::pack(access.site, access.thread.id) | flags;
  cell.writeTime = access.thread.time;
}

void SharedMemory::writeCell(Cell &cell, uint32_t at, const Access &access, uint64_t flags) {
  checkUntouched(cell, at, access);
  claimCell(cell, at, access, flags);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

void SharedMemory::read(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site) {
  Access access{thread, site};
  forEachCell(checkBounds(address, bytes, site), bytes,
              [&](Cell &cell, uint32_t at) { readCell(cell, at, access); });
}

void SharedMemory::write(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site) {
  Access access{thread, site};
  overwrite(checkBounds(address, bytes, site), bytes,
            [&](Cell &cell, uint32_t at) { writeCell(cell, at, access, 0); });
}

void SharedMemory::atomic(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site) {
  Access access{thread, site};
  overwrite(checkBounds(address, bytes, site), bytes, [&](Cell &cell, uint32_t at) {
    // Atomics do not race with each other, only with plain accesses.
    if (!(cell.writer & Cell::atomic))
      checkReadable(cell, at, access);
    checkReaders(cell, at, access);
    claimCell(cell, at, access, Cell::atomic);
  });
}

void SharedMemory::issueCopy(const ThreadClock &thread, uintptr_t address, uint32_t bytes, const char *site) {
  Access access{thread, site};
  overwrite(checkBounds(address, bytes, site), bytes,
            [&](Cell &cell, uint32_t at) { writeCell(cell, at, access, Cell::inFlight); });
}

void SharedMemory::landCopy(const ThreadClock &writer, uintptr_t address, uint32_t bytes, const char *site) {
  Access access{writer, site};
  overwrite(offset(address), bytes, [&](Cell &cell, uint32_t at) { claimCell(cell, at, access, 0); });
}

void SharedMemory::makeBarrier(const ThreadClock &thread, uintptr_t address, const char *site) {
  Access access{thread, site};
  overwrite(checkBounds(address, 8, site), 8,
            [&](Cell &cell, uint32_t at) { writeCell(cell, at, access, Cell::barrier); });
}

void SharedMemory::useBarrier(const ThreadClock &thread, uintptr_t address, const char *site) {
  Access access{thread, site};
  forEachCell(checkBounds(address, 8, site), 8, [&](Cell &cell, uint32_t at) {
    if (!(cell.writer & Cell::barrier))
      reporter.fail(site, fmt::format("shared byte {} is not part of an initialised mbarrier", at));
    if (!thread.sees(Cell::whoOf(cell.writer), cell.writeTime))
      failRace("uses the mbarrier at", at, access, "initialised", Cell::whoOf(cell.writer),
               Cell::siteOf(cell.writer));
  });
}

//===- Executor.cpp - Blocks, scheduling and plain accesses ---------------===//

#include "runtime/emulator/Executor.h"
#include "runtime/emulator/Text.h"

#include <atomic>
#include <bit>
#include <fmt/format.h>
#include <numeric>

using namespace mla::emulator;

namespace {
/// Idle steps after which nobody spins with success: that many atomics, or a thousand million loads.
constexpr uint32_t spinLimit = 4u << 20;
constexpr uint32_t loadsPerTurn = 16384;
constexpr uint32_t stepsPerTurn = 64;

// Initial-exec: hooks read this millions of times a second, and one pointer fits the static TLS reserve even
// when the library is loaded late.
__attribute__((tls_model("initial-exec"))) thread_local Executor *current = nullptr;

class CurrentScope {
public:
  explicit CurrentScope(Executor &executor) { current = &executor; }
  ~CurrentScope() { current = nullptr; }
};
} // namespace

Executor &mla::emulator::currentExecutor() { return *current; }

void mla::emulator::launch(Memory &memory, Entry entry, void **params, const LaunchConfig &config) {
  static thread_local std::unique_ptr<Executor> executor;
  if (!executor)
    executor = std::make_unique<Executor>();
  executor->launch(memory, entry, params, config);
}

Executor::Executor() : shared(*this), threads(maxThreads) {}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

void Executor::checkConfig(const LaunchConfig &config) {
  if (active)
    throw Failure(config.kernel + ": launched from within a launch on the same host thread");
  if (config.block == 0 || config.block > maxThreads)
    throw Failure(fmt::format("{}: {} threads in a block; 1 to {} are possible", config.kernel, config.block,
                              maxThreads));
}

/// A GPU promises no order of blocks, so a seeded one.
std::vector<uint32_t> Executor::blockOrder(uint32_t grid) {
  std::vector<uint32_t> order(grid);
  std::iota(order.begin(), order.end(), 0u);
  for (uint32_t i = grid; i > 1; --i)
    std::swap(order[i - 1], order[random() % i]);
  return order;
}

void Executor::launch(Memory &mem, Entry kernel, void **arguments, const LaunchConfig &cfg) {
  checkConfig(cfg);
  memory = &mem;
  entry = kernel;
  params = arguments;
  config = &cfg;
  global = GlobalView(mem.extents());
  if (cfg.overlap)
    global.markPending(mem.lastWritten());
  randomState = cfg.seed * 0x9E3779B97F4A7C15ull + 0x1234567ull;
  failure.reset();
  warpCount = (cfg.block + warpSize - 1) / warpSize;
  struct Settle {
    Executor &executor;
    ~Settle() {
      executor.global.settle(*executor.memory);
      executor.active = false;
    }
  } settle{*this};
  active = true;
  uint64_t done = 0;
  for (uint32_t next : blockOrder(cfg.grid)) {
    block = next;
    runBlock();
    if (cfg.progress)
      cfg.progress(++done, cfg.grid);
  }
}

void Executor::runBlock() {
  CurrentScope scope(*this);
  resetBlock();
  Thread *first = pickAny();
  running = first;
  switcher.jump(host, first->fiber);
  running = nullptr;
  if (!failure)
    return;
  abandonFibers();
  throw *failure;
}

void Executor::resetBlock() {
  shared.reset(config->sharedBytes, warpCount * warpSize);
  clocks.reset(warpCount + 1);
  nothing = clocks.zero();
  for (NamedBarrier &barrier : barriers)
    barrier = NamedBarrier();
  mbarriers.clear();
  bulkCopies.clear();
  alive = config->block;
  idleSteps = 0;
  for (uint32_t id = 0; id < warpCount * warpSize; ++id)
    resetThread(id);
}

void Executor::resetThread(uint32_t id) {
  Thread &thread = threads[id];
  Warp &warp = warps[id / warpSize];
  if (id % warpSize == 0)
    warp = Warp();
  thread.clock = {id, 1, clocks.share(nothing)};
  thread.wait = Wait();
  thread.copies.clear();
  thread.groupEnds.clear();
  thread.dropped = 0;
  thread.gridWaited = !config->overlap;
  if (id >= config->block)
    return;
  warp.exists |= 1u << id % warpSize;
  warp.runnable = warp.exists;
  if (thread.fiber.started())
    return;
  thread.stack = stacks.get(id);
  switcher.start(thread.fiber, thread.stack, [this, &thread] { threadMain(thread); });
}

void Executor::threadMain(Thread &thread) {
  for (;;) {
    entry(params);
    exitThread(thread);
  }
}

void Executor::exitThread(Thread &thread) {
  checkNothingInFlight(thread);
  if (!thread.gridWaited)
    fail(nullptr, "a thread of an overlapping launch ended without griddepcontrol.wait");
  Warp &warp = warps[thread.warp()];
  warp.exited |= 1u << thread.lane();
  --alive;
  idleSteps = 0;
  sleep();
}

void Executor::abandonFibers() {
  for (Thread &thread : threads)
    thread.fiber.abandon();
}

void Executor::failBlock(const char *site, std::string what, uint32_t thread) {
  std::string where = fmt::format("block {}", block);
  if (thread != Failure::none)
    where += fmt::format(", thread {}", thread);
  failure.emplace(fmt::format("{}: {}: {} [{}]", config->kernel, siteText(site), what, where), block, thread);
  what = where = std::string(); // Nothing on this stack will be destroyed.
  Fiber abandoned;
  switcher.jump(abandoned, host);
  __builtin_unreachable();
}

void Executor::report(const char *site, std::string what) {
  failBlock(site, std::move(what), running->clock.id);
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

uint32_t Executor::random() {
  randomState += 0x9E3779B97F4A7C15ull;
  uint64_t z = randomState;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z >> 32;
}

/// The number of a random bit of a mask that has one.
uint32_t Executor::randomBit(uint32_t mask) {
  for (uint32_t skip = random() % std::popcount(mask); skip; --skip)
    mask &= mask - 1;
  return std::countr_zero(mask);
}

/// A random lane of a random warp, among those that can run, or null.
Thread *Executor::pickAny() {
  uint32_t candidates = 0;
  for (uint32_t warp = 0; warp < warpCount; ++warp)
    candidates |= (warps[warp].runnable != 0) << warp;
  if (!candidates)
    return nullptr;
  uint32_t warp = randomBit(candidates);
  return &threads[warp * warpSize + randomBit(warps[warp].runnable)];
}

/// The running thread's warp cannot go on. Finds another thread to run; ends the block when there is none,
/// and then returns null in the next block.
Thread *Executor::pickElsewhere() {
  for (;;) {
    if (Thread *next = pickAny())
      return next;
    if (landForWaiters())
      continue;
    if (alive)
      failDeadlock();
    finishBlock();
    return nullptr;
  }
}

void Executor::finishBlock() {
  checkMBarriersIdle();
  switcher.jump(running->fiber, host);
}

/// Gives other warps a turn.
void Executor::pause() {
  if (Thread *next = pickAny())
    switchTo(*next);
}

//===----------------------------------------------------------------------===//
// Plain accesses and atomics
//===----------------------------------------------------------------------===//

uint32_t Executor::specialRegister(uint32_t which) const {
  switch (which) {
  case 0:
    return running->clock.id;
  case 1:
    return block;
  case 2:
    return config->block;
  case 3:
    return config->grid;
  default:
    return running->lane();
  }
}

void Executor::checkAlignment(uintptr_t address, uint32_t alignment, const char *site) {
  if (address & (alignment - 1)) [[unlikely]]
    fail(site, fmt::format("address {:#x} is not aligned to {} bytes", address, alignment));
}

GlobalView::Range &Executor::globalRange(uintptr_t address, uint32_t bytes, const char *site) {
  GlobalView::Range *range = global.find(address, bytes);
  if (!range) [[unlikely]]
    fail(site, global.describe(address, bytes));
  if (range->pending && !running->gridWaited) [[unlikely]]
    fail(site,
         fmt::format("touches '{}' before griddepcontrol.wait, while the launch before may still write to it",
                     global.nameOf(*range)));
  return *range;
}

/// The natural alignment of an access: of the largest power of two that divides its size, at most 16.
static uint32_t naturalAlignment(uint32_t bytes) { return std::min(bytes & -bytes, 16u); }

void Executor::load(const void *p, uint32_t bytes, const char *site) {
  auto address = reinterpret_cast<uintptr_t>(p);
  checkAlignment(address, naturalAlignment(bytes), site);
  if (++loads % loadsPerTurn == 0) [[unlikely]]
    waitIdly(stepsPerTurn, site);
  if (shared.owns(address))
    shared.read(running->clock, address, bytes, site);
  else if (!running->stack.holds(address))
    globalRange(address, bytes, site).traffic.read += bytes;
}

void Executor::store(void *p, uint32_t bytes, const char *site) {
  auto address = reinterpret_cast<uintptr_t>(p);
  checkAlignment(address, naturalAlignment(bytes), site);
  idleSteps = 0;
  if (shared.owns(address))
    shared.write(running->clock, address, bytes, site);
  else if (!running->stack.holds(address))
    globalRange(address, bytes, site).traffic.written += bytes;
}

/// Lets others run, so that a thread that spins sees their progress. Fails when the block only does this.
void Executor::waitIdly(uint32_t steps, const char *site) {
  if ((idleSteps += steps) > spinLimit)
    fail(site,
         "the block only reads and tries atomics, for millions of steps: a lock or a flag that nobody sets");
  pause();
}

void Executor::beginAtomic(uintptr_t address, const char *site) {
  checkAlignment(address, 4, site);
  waitIdly(1, site);
  if (shared.owns(address))
    return shared.atomic(running->clock, address, 4, site);
  Traffic &traffic = globalRange(address, 4, site).traffic;
  traffic.read += 4;
  traffic.written += 4;
}

uint32_t Executor::atomicAdd(void *p, uint32_t value, const char *site) {
  beginAtomic(reinterpret_cast<uintptr_t>(p), site);
  return std::atomic_ref(*static_cast<uint32_t *>(p)).fetch_add(value, std::memory_order_relaxed);
}

uint32_t Executor::atomicCas(void *p, uint32_t compare, uint32_t value, const char *site) {
  beginAtomic(reinterpret_cast<uintptr_t>(p), site);
  std::atomic_ref(*static_cast<uint32_t *>(p))
      .compare_exchange_strong(compare, value, std::memory_order_relaxed);
  return compare;
}

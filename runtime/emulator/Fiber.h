//===- Fiber.h - Stacks that can be left and abandoned ----------*- C++ -*-===//
//
// Fibers never end: they serve one block after another. When a launch fails they are abandoned where they
// stand, because they hold frames of code without unwind tables, which the destructor of a Boost fiber would
// unwind.
//
//===----------------------------------------------------------------------===//
#ifndef MLAC_RUNTIME_EMULATOR_FIBER_H
#define MLAC_RUNTIME_EMULATOR_FIBER_H

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace mla::emulator {

/// A suspended fiber whose destruction has no effect.
class Fiber {
public:
  Fiber() { abandon(); }
  ~Fiber() {}
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  bool started() const { return static_cast<bool>(handle); }
  void abandon() { new (&handle) boost::context::fiber(); }

private:
  friend class Switcher;
  union {
    boost::context::fiber handle;
  };
};

struct Stack {
  std::byte *top;
  size_t bytes;
  bool holds(uintptr_t address) const { return reinterpret_cast<uintptr_t>(top) - address - 1 < bytes; }
};

/// Stacks by number, each with a guard page below; they live as long as the pool.
class StackPool {
public:
  static constexpr size_t stackBytes = 64 << 10;

  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();

  Stack get(uint32_t index);

private:
  void grow();
  std::vector<std::byte *> slabs;
};

/// Jumps from fiber to fiber without going through a scheduler's stack.
class Switcher {
public:
  /// Suspends `from`, which is running, and resumes `to`; returns when somebody jumps to `from`.
  void jump(Fiber &from, Fiber &to) {
    leaving = &from;
    keep(std::move(to.handle).resume());
  }

  /// Prepares a fiber that will call `body`, which must not return.
  template <typename Body>
  void start(Fiber &fiber, Stack stack, Body body) {
    boost::context::stack_context context;
    context.size = stack.bytes;
    context.sp = stack.top;
    auto main = [this, body](boost::context::fiber &&from) -> boost::context::fiber {
      keep(std::move(from));
      body();
      return {};
    };
    boost::context::preallocated where(stack.top, stack.bytes, context);
    new (&fiber.handle) boost::context::fiber(std::allocator_arg, where, Unowned(), std::move(main));
  }

private:
  struct Unowned {
    boost::context::stack_context allocate() { return {}; }
    void deallocate(boost::context::stack_context &) noexcept {}
  };

  void keep(boost::context::fiber &&came) { leaving->handle = std::move(came); }

  Fiber *leaving = nullptr;
};

} // namespace mla::emulator

#endif // MLAC_RUNTIME_EMULATOR_FIBER_H

#pragma once
// A stack of its own for each fiber, and the jump from one stack to another.
//
// ucontext lays out the first frame of a new stack; from then on a jump is _setjmp and _longjmp,
// since swapcontext asks the kernel for the signal mask each time (467 ns against 31 ns here).
// Sanitizers know swapcontext and not a longjmp to another stack, so their builds use that, and
// tell them of every switch.

#include <ucontext.h>

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <vector>

namespace headcrash::os {

/// Memory for a stack. Below it lies a page that faults.
class FiberStack {
 public:
  explicit FiberStack(std::size_t bytes);
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;
  std::byte* bottom() const { return mapped_ + guard_; }
  std::size_t bytes() const { return mapped_bytes_ - guard_; }

 private:
  std::byte* mapped_;
  std::size_t mapped_bytes_;
  std::size_t guard_;
};

/// Stacks of one size, kept for reuse.
class FiberStacks {
 public:
  explicit FiberStacks(std::size_t bytes) : bytes_(bytes) {}
  std::unique_ptr<FiberStack> take();
  void give_back(std::unique_ptr<FiberStack> stack);

 private:
  std::size_t bytes_;
  std::vector<std::unique_ptr<FiberStack>> free_;
};

class FiberContext {
 public:
  FiberContext();  ///< the stack on which it is made: the thread's own
  /// Begins with `entry(argument)`, which never returns.
  FiberContext(const FiberStack& stack, void (*entry)(void*), void* argument);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  /// Continues in `to`; returns when somebody switches back here.
  void switch_to(FiberContext& to);
  /// Continues in `to` and never comes back: this stack may be used for something else.
  [[noreturn]] void leave_for(FiberContext& to);

 private:
  static void begin();
  void jump(FiberContext& to, bool leaves);
  void arrived();

  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool begun_ = false;
  jmp_buf registers_ = {};
  ucontext_t first_ = {};  ///< the first frame; in sanitizers' builds every switch
  // What the sanitizers want to know.
  [[maybe_unused]] const void* bottom_ = nullptr;
  [[maybe_unused]] std::size_t bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace headcrash::os

#pragma once
// Stacks for fibers, and the switch from one stack to another.
//
// ucontext sets up the first frame of a new stack. All later switches use _setjmp and _longjmp,
// because swapcontext makes a system call for the signal mask (on the development machine, a switch
// takes 467 ns with swapcontext and 31 ns with _longjmp). Sanitizers support swapcontext but not a
// longjmp to another stack, so their builds use swapcontext and announce every switch to the
// sanitizer.

#include <ucontext.h>

#include <csetjmp>
#include <cstddef>
#include <memory>
#include <vector>

namespace headcrash::os {

/// A stack's memory, with a guard page below it.
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

/// A pool of stacks of equal size.
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
  FiberContext();  ///< represents the context that is running now, on the thread's own stack
  /// Creates a context that begins with `entry(argument)`, which must not return.
  FiberContext(const FiberStack& stack, void (*entry)(void*), void* argument);
  ~FiberContext();
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  /// Continues in `to`. Returns when another context switches back to this one.
  void switch_to(FiberContext& to);
  /// Continues in `to` and never returns. The stack of this context may then be reused.
  [[noreturn]] void leave_for(FiberContext& to);

 private:
  static void begin();
  void jump(FiberContext& to, bool leaves);
  void arrived();

  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool begun_ = false;
  jmp_buf registers_ = {};
  ucontext_t first_ = {};  ///< context of the first frame; sanitizer builds use it for every switch
  // Arguments for the sanitizers' functions that announce a switch of stacks.
  [[maybe_unused]] const void* bottom_ = nullptr;
  [[maybe_unused]] std::size_t bytes_ = 0;
  [[maybe_unused]] void* fake_stack_ = nullptr;
  [[maybe_unused]] void* tsan_fiber_ = nullptr;
};

}  // namespace headcrash::os

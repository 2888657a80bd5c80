// Stack switching (fiber_context.h).
//
// glibc's fortified longjmp refuses to jump to an unknown stack. This file is therefore compiled
// without fortification, and must not be part of a unity build.
#ifdef _FORTIFY_SOURCE
#undef _FORTIFY_SOURCE
#endif
#include "fs-adapters/substrate/os/fiber_context.h"

#include <sys/mman.h>
#include <unistd.h>

#include "plugin/base/invariant.h"
#include "plugin/base/sanitizers.h"

#if defined(HEADCRASH_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(HEADCRASH_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace headcrash::os {
namespace {

#if defined(HEADCRASH_ASAN) || defined(HEADCRASH_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

thread_local FiberContext* t_from = nullptr;  ///< the context that the current switch leaves
thread_local FiberContext* t_to = nullptr;

}  // namespace

FiberStack::FiberStack(std::size_t bytes)
    : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  mapped_bytes_ = (bytes + guard_ - 1) / guard_ * guard_ + guard_;
  void* mapped = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  invariant(mapped != MAP_FAILED, "cannot allocate memory for a fiber's stack");
  mapped_ = static_cast<std::byte*>(mapped);
  invariant(mprotect(mapped_, guard_, PROT_NONE) == 0, "cannot protect a stack's guard page");
}

FiberStack::~FiberStack() {
  munmap(mapped_, mapped_bytes_);
}

std::unique_ptr<FiberStack> FiberStacks::take() {
  if (free_.empty()) return std::make_unique<FiberStack>(bytes_);
  auto stack = std::move(free_.back());
  free_.pop_back();
#if defined(HEADCRASH_ASAN)
  // Frames on the stack that were left without a return are still marked as poisoned in
  // AddressSanitizer's shadow memory.
  __asan_unpoison_memory_region(stack->bottom(), stack->bytes());
#endif
  return stack;
}

void FiberStacks::give_back(std::unique_ptr<FiberStack> stack) {
  free_.push_back(std::move(stack));
}

FiberContext::FiberContext() : begun_(true) {
#if defined(HEADCRASH_TSAN)
  tsan_fiber_ = __tsan_get_current_fiber();
#endif
}

FiberContext::FiberContext(const FiberStack& stack, void (*entry)(void*), void* argument)
    : entry_(entry), argument_(argument), bottom_(stack.bottom()), bytes_(stack.bytes()) {
  getcontext(&first_);
  first_.uc_stack.ss_sp = stack.bottom();
  first_.uc_stack.ss_size = stack.bytes();
  first_.uc_link = nullptr;
  makecontext(&first_, &FiberContext::begin, 0);
#if defined(HEADCRASH_TSAN)
  tsan_fiber_ = __tsan_create_fiber(0);
#endif
}

FiberContext::~FiberContext() {
#if defined(HEADCRASH_TSAN)
  if (entry_ != nullptr) __tsan_destroy_fiber(tsan_fiber_);
#endif
}

void FiberContext::begin() {
  FiberContext& self = *t_to;
  self.arrived();
  self.entry_(self.argument_);
  invariant(false, "a fiber's first function returned");
}

/// Must be the first call on a stack after each switch to it.
void FiberContext::arrived() {
#if defined(HEADCRASH_ASAN)
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &bytes);
  if (t_from->bottom_ == nullptr) {
    t_from->bottom_ = bottom;
    t_from->bytes_ = bytes;
  }
#endif
}

void FiberContext::jump(FiberContext& to, [[maybe_unused]] bool leaves) {
  t_from = this;
  t_to = &to;
#if defined(HEADCRASH_ASAN)
  __sanitizer_start_switch_fiber(leaves ? nullptr : &fake_stack_, to.bottom_, to.bytes_);
#endif
#if defined(HEADCRASH_TSAN)
  __tsan_switch_to_fiber(to.tsan_fiber_, 0);
#endif
  if (kSanitized) {
    swapcontext(&first_, &to.first_);
  } else if (_setjmp(registers_) == 0) {
    if (to.begun_) _longjmp(to.registers_, 1);
    to.begun_ = true;
    setcontext(&to.first_);
  }
}

void FiberContext::switch_to(FiberContext& to) {
  jump(to, false);
  arrived();
}

void FiberContext::leave_for(FiberContext& to) {
  jump(to, true);
  invariant(false, "a fiber that has ended was resumed");
  std::abort();
}

}  // namespace headcrash::os

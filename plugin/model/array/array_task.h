#pragma once
// Coroutines for an array. One coroutine executes each host request, stripe update or rebuild, from
// its first member command to its last. A power cut destroys the frames of all coroutines.
//
//   Detached   started by calling it, owned by its CoroutineScope until it ends
//   Task       started by `co_await`, owned by its awaiter; returns a Status
//
// Coroutines are member functions of a class that is a CoroutineScope or converts to one; their
// frames come from the scope's pool. A coroutine never resumes another one directly: a coroutine
// that becomes ready enters the scope's queue. The queue is FIFO, or a seed gives it a
// pseudo-random order.

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <utility>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/model/core/device.h"

namespace headcrash::model {

/// Coroutine frames that can be reused, grouped by size, and a list of the running Detached
/// coroutines.
class FramePool {
 public:
  struct Link {
    Link* next = nullptr;
    Link* previous = nullptr;
    std::coroutine_handle<> handle;
  };

  FramePool() { roots.next = roots.previous = &roots; }
  ~FramePool() {
    for (auto& frames : free_) {
      for (void* frame : frames) ::operator delete(frame);
    }
  }
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  void* take(std::size_t bytes) {
    const std::size_t step = (bytes + kHeaderBytes + kStepBytes - 1) / kStepBytes;
    void* frame = nullptr;
    if (step < free_.size() && !free_[step].empty()) {
      frame = free_[step].back();
      free_[step].pop_back();
    } else {
      frame = ::operator new(step * kStepBytes);
    }
    new (frame) Header{this, step};
    return static_cast<std::byte*>(frame) + kHeaderBytes;
  }
  /// Returns the pool from which a frame was allocated.
  static FramePool& of(void* memory) {
    return *static_cast<Header*>(static_cast<void*>(static_cast<std::byte*>(memory) - kHeaderBytes))
                ->pool;
  }
  static void give(void* memory) {
    void* frame = static_cast<std::byte*>(memory) - kHeaderBytes;
    const Header header = *static_cast<Header*>(frame);
    if (header.step < header.pool->free_.size()) {
      header.pool->free_[header.step].push_back(frame);
    } else {
      ::operator delete(frame);
    }
  }

  Link roots;

 private:
  struct Header {
    FramePool* pool;
    std::size_t step;
  };
  static constexpr std::size_t kHeaderBytes = 16;
  static constexpr std::size_t kStepBytes = 128;
  static_assert(sizeof(Header) <= kHeaderBytes);
  std::array<std::vector<void*>, 32> free_;
};

class CoroutineScope {
 public:
  /// The seed `schedule` determines the order in which ready coroutines run; 0 selects FIFO.
  explicit CoroutineScope(std::uint64_t schedule = 0)
      : scheduled_(schedule != 0), order_(schedule) {}
  ~CoroutineScope() { cancel_all(); }
  CoroutineScope(const CoroutineScope&) = delete;
  CoroutineScope& operator=(const CoroutineScope&) = delete;

 protected:
  void make_ready(std::coroutine_handle<> waiting) { ready_.push_back(waiting); }
  bool has_ready() const { return !ready_.empty(); }
  /// Runs all ready coroutines, including those that become ready during the call.
  void run_ready() {
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      if (scheduled_) std::swap(ready_[i], ready_[i + order_.below(ready_.size() - i)]);
      ready_[i].resume();
    }
    ready_.clear();
  }
  /// Destroys all suspended coroutines.
  void cancel_all() {
    ready_.clear();
    while (frames_.roots.next != &frames_.roots) frames_.roots.next->handle.destroy();
  }

 private:
  friend struct RootPromise;
  friend struct TaskPromise;
  FramePool frames_;
  std::vector<std::coroutine_handle<>> ready_;
  bool scheduled_;
  Random order_;
};

struct Detached;
/// The frame stores its pool, because GCC 12 passes the arguments of a member function only to
/// operator new, and not to the promise's constructor.
struct RootPromise : FramePool::Link {
  RootPromise() {
    handle = std::coroutine_handle<RootPromise>::from_promise(*this);
    FramePool& frames = FramePool::of(handle.address());
    next = &frames.roots;
    previous = frames.roots.previous;
    previous->next = this;
    next->previous = this;
  }
  ~RootPromise() {
    previous->next = next;
    next->previous = previous;
  }
  RootPromise(const RootPromise&) = delete;
  RootPromise& operator=(const RootPromise&) = delete;
  template <typename... Arguments>
  static void* operator new(std::size_t bytes, CoroutineScope& scope, const Arguments&...) {
    return scope.frames_.take(bytes);
  }
  static void operator delete(void* memory, std::size_t) { FramePool::give(memory); }

  Detached get_return_object();
  std::suspend_never initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }
  void return_void() {}
  [[noreturn]] void unhandled_exception() { std::terminate(); }
};
struct Detached {
  using promise_type = RootPromise;
};
inline Detached RootPromise::get_return_object() {
  return {};
}

class Task;
struct TaskPromise {
  template <typename... Arguments>
  static void* operator new(std::size_t bytes, CoroutineScope& scope, const Arguments&...) {
    return scope.frames_.take(bytes);
  }
  static void operator delete(void* memory, std::size_t) { FramePool::give(memory); }

  struct Return {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<TaskPromise> done) const noexcept {
      return done.promise().parent;
    }
    void await_resume() const noexcept {}
  };
  Task get_return_object();
  std::suspend_always initial_suspend() noexcept { return {}; }
  Return final_suspend() noexcept { return {}; }
  void return_value(Status value) { status = value; }
  [[noreturn]] void unhandled_exception() { std::terminate(); }

  Status status = Status::ok;
  std::coroutine_handle<> parent;
};

class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise;
  explicit Task(std::coroutine_handle<TaskPromise> handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) {
    handle_.promise().parent = parent;
    return handle_;
  }
  Status await_resume() const { return handle_.promise().status; }

 private:
  std::coroutine_handle<TaskPromise> handle_;
};
inline Task TaskPromise::get_return_object() {
  return Task(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace headcrash::model

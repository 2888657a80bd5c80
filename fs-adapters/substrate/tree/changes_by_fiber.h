#pragma once
// Whether an operation has changed anything before it failed.

#include <map>
#include <utility>

#include "fs-adapters/substrate/os/executor.h"

namespace headcrash::tree {

/// Knows which of the fibers that run operations have changed something. An operation that fails
/// with EIO after its own fiber has changed something cannot be taken back; what other fibers
/// change meanwhile does not concern it.
class ChangesByFiber {
 public:
  explicit ChangesByFiber(os::Executor& executor) : executor_(executor) {}

  /// The running fiber changes something.
  void note() {
    if (const auto found = changed_.find(executor_.current()); found != changed_.end())
      found->second = true;
  }

  /// One operation of the running fiber, for as long as this lives. Operations do not nest.
  class Watch {
   public:
    explicit Watch(ChangesByFiber& changes)
        : changes_(changes),
          at_(changes.changed_.insert_or_assign(changes.executor_.current(), false).first) {}
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    ~Watch() { changes_.changed_.erase(at_); }
    bool changed() const { return at_->second; }

   private:
    ChangesByFiber& changes_;
    std::map<const os::Fiber*, bool>::iterator at_;
  };

 private:
  os::Executor& executor_;
  std::map<const os::Fiber*, bool> changed_;
};

}  // namespace headcrash::tree

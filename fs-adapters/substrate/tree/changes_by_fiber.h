#pragma once
// Records whether an operation changed anything before it failed.

#include <map>
#include <utility>

#include "fs-adapters/substrate/os/executor.h"

namespace headcrash::tree {

/// Tracks which fibers have changed something in their current operation. An operation that fails
/// with EIO cannot be rolled back if its fiber has changed something. Changes made by other fibers
/// do not matter.
class ChangesByFiber {
 public:
  explicit ChangesByFiber(os::Executor& executor) : executor_(executor) {}

  /// Records a change by the running fiber.
  void note() {
    if (const auto found = changed_.find(executor_.current()); found != changed_.end())
      found->second = true;
  }

  /// Covers one operation of the running fiber for its lifetime. Operations do not nest.
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

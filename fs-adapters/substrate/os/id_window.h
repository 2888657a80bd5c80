#pragma once
// A window of consecutively numbered items: a deque that is indexed by the items' numbers. The
// oldest item is removed first.

#include <cstdint>
#include <deque>
#include <utility>

namespace headcrash::os {

template <typename T>
class IdWindow {
 public:
  /// Number of the oldest item; if the window is empty, the number that the next item will have.
  std::uint64_t oldest() const { return oldest_; }
  std::uint64_t beyond() const { return oldest_ + things_.size(); }
  bool empty() const { return things_.empty(); }
  bool contains(std::uint64_t id) const { return id >= oldest_ && id - oldest_ < things_.size(); }
  T& operator[](std::uint64_t id) { return things_[id - oldest_]; }
  const T& operator[](std::uint64_t id) const { return things_[id - oldest_]; }
  T& front() { return things_.front(); }
  std::uint64_t push(T thing) {
    things_.push_back(std::move(thing));
    return beyond() - 1;
  }
  void pop_front() {
    things_.pop_front();
    ++oldest_;
  }

 private:
  std::uint64_t oldest_ = 1;
  std::deque<T> things_;
};

}  // namespace headcrash::os

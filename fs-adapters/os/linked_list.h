#pragma once
// A list whose links lie in its members: being put in and taken out costs no memory and no search.

#include <cstddef>

namespace headcrash::os {

template <typename T>
struct Links {
  T* before = nullptr;
  T* after = nullptr;
  bool linked = false;
};

template <typename T, Links<T> T::*kLinks>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  static T* after(const T& member) { return (member.*kLinks).after; }
  static bool contains(const T& member) { return (member.*kLinks).linked; }

  void append(T& member) {
    Links<T>& links = member.*kLinks;
    links = {last_, nullptr, true};
    (last_ == nullptr ? first_ : (last_->*kLinks).after) = &member;
    last_ = &member;
  }
  void remove(T& member) {
    Links<T>& links = member.*kLinks;
    if (!links.linked) return;
    (links.before == nullptr ? first_ : (links.before->*kLinks).after) = links.after;
    (links.after == nullptr ? last_ : (links.after->*kLinks).before) = links.before;
    links = {};
  }

 private:
  T* first_ = nullptr;
  T* last_ = nullptr;
};

}  // namespace headcrash::os

#pragma once
// An intrusive list: inserting and removing an item needs no allocation and no search.

#include <cstddef>

namespace headcrash::os {

template <typename T>
struct Links {
  T* before = nullptr;
  T* after = nullptr;
  bool linked = false;
};

template <typename T, Links<T> T::* kLinks>
class LinkedList {
 public:
  bool empty() const { return first_ == nullptr; }
  T* first() const { return first_; }
  T* last() const { return last_; }
  static T* before(const T& member) { return (member.*kLinks).before; }
  static T* after(const T& member) { return (member.*kLinks).after; }
  static bool contains(const T& member) { return (member.*kLinks).linked; }

  void append(T& member) { insert_after(last_, member); }
  /// Inserts after `before`, or at the front if `before` is null.
  void insert_after(T* before, T& member) {
    T* const after = before == nullptr ? first_ : (before->*kLinks).after;
    member.*kLinks = {before, after, true};
    (before == nullptr ? first_ : (before->*kLinks).after) = &member;
    (after == nullptr ? last_ : (after->*kLinks).before) = &member;
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

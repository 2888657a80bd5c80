// Implements the search (delta_debugging.h).
#include "plugin/base/delta_debugging.h"

#include <algorithm>

namespace headcrash::base {

Chosen DeltaDebugging::run(std::size_t items) {
  for (std::size_t i = 0; i < items; ++i) current_.push_back(i);
  asked_.insert(current_);  // the caller guarantees that all elements together have the property
  if (fails({})) return {};
  std::size_t parts = 2;
  while (current_.size() > 1 && !stopped_) {
    parts = std::min(parts, current_.size());
    if (keep_one_part(parts)) {
      parts = 2;
    } else if (leave_out_one_part(parts)) {
      parts = std::max<std::size_t>(parts - 1, 2);
    } else if (parts < current_.size()) {
      parts *= 2;
    } else {
      break;
    }
  }
  return current_;
}

bool DeltaDebugging::keep_one_part(std::size_t parts) {
  for (std::size_t i = 0; i < parts; ++i) {
    const auto [first, end] = part(i, parts);
    if (fails(Chosen(current_.begin() + static_cast<std::ptrdiff_t>(first),
                     current_.begin() + static_cast<std::ptrdiff_t>(end))))
      return true;
  }
  return false;
}

bool DeltaDebugging::leave_out_one_part(std::size_t parts) {
  // Omitting one half is the same as keeping the other half, which has already been checked.
  if (parts == 2) return false;
  for (std::size_t i = 0; i < parts; ++i) {
    const auto [first, end] = part(i, parts);
    Chosen rest(current_.begin(), current_.begin() + static_cast<std::ptrdiff_t>(first));
    rest.insert(rest.end(), current_.begin() + static_cast<std::ptrdiff_t>(end), current_.end());
    if (fails(rest)) return true;
  }
  return false;
}

bool DeltaDebugging::fails(const Chosen& chosen) {
  if (stopped_) return false;
  Chosen used = predicates_.usable ? predicates_.usable(chosen) : chosen;
  if (!asked_.insert(used).second) return false;
  if (checks_ >= limits_.checks || (limits_.out_of_time && limits_.out_of_time())) {
    stopped_ = true;
    return false;
  }
  ++checks_;
  if (!predicates_.still_fails(used)) return false;
  current_ = std::move(used);
  return true;
}

}  // namespace headcrash::base

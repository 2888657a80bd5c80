// Tracks ownership (ownership.h).
#include "harness/oracle/ownership.h"

namespace headcrash::oracle {

Ownership::Use& Ownership::now(Use& use) const {
  if (use.section != section_) use = {.section = section_};
  return use;
}

bool Ownership::take(Use& use) const {
  now(use);
  const std::uint32_t others = use.passed_by & ~(1U << thread_);
  if ((use.owned && use.owner != thread_) || others != 0) return false;
  use.owned = true;
  use.owner = thread_;
  return true;
}

bool Ownership::claim(Object object) {
  return take(objects_[object]);
}

bool Ownership::claim(const Name& name) {
  return take(names_[name]);
}

bool Ownership::pass(const Name& name) {
  Use& use = now(names_[name]);
  use.passed_by |= 1U << thread_;
  return !use.owned || use.owner == thread_;
}

bool Ownership::is_foreign(Object object) const {
  const auto at = objects_.find(object);
  return at != objects_.end() && foreign(at->second);
}

bool Ownership::is_foreign(const Name& name) const {
  const auto at = names_.find(name);
  return at != names_.end() && foreign(at->second);
}

}  // namespace headcrash::oracle

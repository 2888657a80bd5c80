// Records which thread owns each object and each name (ownership.h).
#include "harness/oracle/ownership.h"

namespace headcrash::oracle {

Ownership::OwnerRecord& Ownership::now(OwnerRecord& record) const {
  if (record.section != section_) record = {.section = section_};
  return record;
}

bool Ownership::take(OwnerRecord& record) const {
  now(record);
  const std::uint32_t others = record.passed_by & ~(1U << thread_);
  if ((record.owned && record.owner != thread_) || others != 0) return false;
  record.owned = true;
  record.owner = thread_;
  return true;
}

bool Ownership::claim(Object object) {
  return take(objects_[object]);
}

bool Ownership::claim(const Name& name) {
  return take(names_[name]);
}

bool Ownership::pass(const Name& name) {
  OwnerRecord& record = now(names_[name]);
  record.passed_by |= 1U << thread_;
  return !record.owned || record.owner == thread_;
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

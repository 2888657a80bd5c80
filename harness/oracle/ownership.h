#pragma once
// Determines which of several concurrent threads owns a file or a name.
//
// Between two joins, an object (its data, attributes and link count) and a name (its binding)
// belong to the first thread that changes or syncs them. Several threads may look up the same
// directory while they walk a path, provided that the name of the directory does not change. Any
// other conflict between two threads would make the meaning of a list ambiguous, so such a list is
// rejected. The meaning of all other lists does not depend on the interleaving of threads.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace headcrash::oracle {

class Ownership {
 public:
  using Object = std::size_t;
  using Name = std::pair<std::size_t, std::string>;  ///< a directory, and a name in it

  void join() { ++section_; }
  void act_as(std::uint8_t thread) { thread_ = thread; }

  // The following functions record an access by the current thread: claim() records a change, and
  // pass() a lookup. They return false if the access conflicts with an access by another thread
  // since the last join.
  bool claim(Object object);
  bool claim(const Name& name);
  bool pass(const Name& name);

  /// Returns true if another thread has owned the object since the last join. A persistence point
  /// of the current thread must then not cover the object.
  bool is_foreign(Object object) const;
  bool is_foreign(const Name& name) const;

 private:
  struct OwnerRecord {
    // The section in which the following members were set. In later sections, the members are
    // ignored.
    std::size_t section = 0;
    bool owned = false;
    std::uint8_t owner = 0;
    std::uint32_t passed_by = 0;  // bitmap of the threads that looked up this directory
  };
  OwnerRecord& now(OwnerRecord& record) const;
  bool take(OwnerRecord& record) const;
  bool foreign(const OwnerRecord& record) const {
    return record.section == section_ && record.owned && record.owner != thread_;
  }

  std::size_t section_ = 1;
  std::uint8_t thread_ = 0;
  std::map<Object, OwnerRecord> objects_;
  std::map<Name, OwnerRecord> names_;
};

}  // namespace headcrash::oracle

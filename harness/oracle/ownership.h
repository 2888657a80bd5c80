#pragma once
// Ownership of files and names by concurrent threads.
//
// Between two joins, an object (its data, attributes and link count) and a name (its binding)
// belong to the first thread that changes or syncs them. Threads may share look-ups of a directory
// on a path while the directory's name does not change. A list in which two threads conflict
// elsewhere has no unique meaning and is rejected. Otherwise the meaning of a list does not depend
// on the interleaving of threads.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace headcrash::oracle {

class Ownership {
 public:
  using Object = std::size_t;
  using Name = std::pair<std::size_t, std::string>;  ///< directory and name

  void join() { ++section_; }
  void act_as(std::uint8_t thread) { thread_ = thread; }

  // Each returns true if the current thread may use it.
  bool claim(Object object);
  bool claim(const Name& name);
  bool pass(const Name& name);

  /// Returns true if another thread has owned it since the last join. A persistence point of the
  /// current thread may not cover it.
  bool is_foreign(Object object) const;
  bool is_foreign(const Name& name) const;

 private:
  struct OwnerRecord {
    std::size_t section = 0;  // section of the claims below; older ones are invalid
    bool owned = false;
    std::uint8_t owner = 0;
    std::uint32_t passed_by = 0;  // bitmap of threads
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

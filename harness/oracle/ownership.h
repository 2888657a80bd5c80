#pragma once
// Whose a file or name is while threads work side by side.
//
// Between two joins an object (its data, attributes, link count) and a name (what it shows) belong
// to the first thread that changes or syncs them. Looking a directory up on the way to something
// else is shared, as long as nobody changes that directory's name. A list in which two threads meet
// anywhere else has no one meaning and is refused; one that keeps to this means the same however
// the threads are interleaved.

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

  // Each says whether the acting thread may have it.
  bool claim(Object object);
  bool claim(const Name& name);
  bool pass(const Name& name);

  /// Another thread has it since the last join: what the acting thread makes persistent may not
  /// cover it.
  bool is_foreign(Object object) const;
  bool is_foreign(const Name& name) const;

 private:
  struct Use {
    std::size_t section = 0;  // of everything below; older ones are forgotten
    bool owned = false;
    std::uint8_t owner = 0;
    std::uint32_t passed_by = 0;  // a bit for each thread
  };
  Use& now(Use& use) const;
  bool take(Use& use) const;
  bool foreign(const Use& use) const {
    return use.section == section_ && use.owned && use.owner != thread_;
  }

  std::size_t section_ = 1;
  std::uint8_t thread_ = 0;
  std::map<Object, Use> objects_;
  std::map<Name, Use> names_;
};

}  // namespace headcrash::oracle

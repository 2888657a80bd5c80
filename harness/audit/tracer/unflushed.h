#pragma once
// The files and directories that changed since they were last flushed, and the calls that changed
// them.
//
// A flush of a file covers its content; a flush of a directory covers its names. File systems may
// make more durable than that. The result is therefore only a list of candidates for a missing
// flush.

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace headcrash::audit {

/// A call site that changes files (content) or directories (names).
struct ChangeSite {
  std::string stack;  ///< key of the call's stack
  bool names = false;
  std::string call;  ///< "write", "rename"
  auto operator<=>(const ChangeSite&) const = default;
};

struct UnflushedChange {
  /// Number of printed lines at which a change from this site was unflushed.
  std::uint64_t lines = 0;
  std::string target;  ///< path of the first file or directory that was changed
};

class Unflushed {
 public:
  void changed(const std::string& path, const ChangeSite& site);
  /// Records a rename. Unflushed content of the object remains unflushed.
  void moved(const std::string& from, const std::string& to);
  void removed(const std::string& path);
  void flushed(const std::string& path) { open_.erase(path); }
  void flushed_all() { open_.clear(); }
  /// Records that the program printed a line. The line promises that all earlier changes are
  /// durable.
  void promised();

  /// Returns the changes that were unflushed when a line was printed.
  const std::map<ChangeSite, UnflushedChange>& at_lines() const { return at_lines_; }

 private:
  std::map<std::string, std::set<ChangeSite>> open_;
  std::map<ChangeSite, UnflushedChange> at_lines_;
};

}  // namespace headcrash::audit

#pragma once
// Finds the lines "persisted TEXT" in a running application's output
// (harness/workload/application.h).

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::guest {

inline constexpr std::size_t kPersistedTextMost = 200;  ///< in bytes; a mark is one sector

class PersistedLines {
 public:
  /// With `every_line`, each non-empty line is a text, with or without "persisted".
  explicit PersistedLines(bool every_line) : every_line_(every_line) {}
  /// Returns the texts of the lines that these bytes complete, in order. Counts lines that are too
  /// long or not printable ASCII: ignoring a promise would judge the program too leniently.
  std::vector<std::string> feed(std::string_view bytes);
  std::size_t refused() const { return refused_; }

 private:
  void end_line(std::vector<std::string>& texts);

  bool every_line_;
  std::string line_;  // bounded to slightly more than the longest valid line
  std::size_t refused_ = 0;
};

}  // namespace headcrash::guest

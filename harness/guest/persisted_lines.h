#pragma once
// Finds the lines "persisted TEXT" in a running application's output
// (harness/workload/application.h).

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::guest {

/// In bytes, so that a mark fits into one sector.
inline constexpr std::size_t kPersistedTextMost = 200;

class PersistedLines {
 public:
  /// If `every_line` is true, the text of each nonempty line counts, even without "persisted".
  explicit PersistedLines(bool every_line) : every_line_(every_line) {}
  /// Returns the texts of the lines that these bytes complete, in order. Lines that are too long or
  /// not printable ASCII are counted as refused, because ignoring a promise would make the verdict
  /// too lenient.
  std::vector<std::string> feed(std::string_view bytes);
  std::size_t refused() const { return refused_; }

 private:
  void end_line(std::vector<std::string>& texts);

  bool every_line_;
  /// longer lines are cut to slightly more than the maximum length of a valid line
  std::string line_;
  std::size_t refused_ = 0;
};

}  // namespace headcrash::guest

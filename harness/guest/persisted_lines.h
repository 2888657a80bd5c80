#pragma once
// Finds the lines "persisted TEXT" in the output of a running application
// (harness/workload/application.h).

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::guest {

/// Maximum length of a promise's text in bytes. The limit ensures that a mark fits into one sector.
inline constexpr std::size_t kPersistedTextMost = 200;

class PersistedLines {
 public:
  /// If `every_line` is true, each nonempty line is a promise, even without the word "persisted".
  explicit PersistedLines(bool every_line) : every_line_(every_line) {}
  /// Adds output. Returns the texts of all lines that are now complete, in order. Counts as refused
  /// the lines that are too long or not printable ASCII. Such a line may be a promise, and the
  /// verdict would be too lenient if it were ignored.
  std::vector<std::string> feed(std::string_view bytes);
  std::size_t refused() const { return refused_; }

 private:
  void end_line(std::vector<std::string>& texts);

  bool every_line_;
  /// The current line. If it is too long, only slightly more than the permitted length is stored.
  std::string line_;
  std::size_t refused_ = 0;
};

}  // namespace headcrash::guest

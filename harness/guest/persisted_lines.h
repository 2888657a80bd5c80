#pragma once
// Finds the lines "persisted TEXT" in what a running application prints
// (harness/workload/application.h).

#include <string>
#include <string_view>
#include <vector>

namespace headcrash::guest {

inline constexpr std::size_t kPersistedTextMost = 200;  ///< bytes; a mark is one sector

class PersistedLines {
 public:
  /// `every_line`: each line that is not empty is a text, with and without "persisted".
  explicit PersistedLines(bool every_line) : every_line_(every_line) {}
  /// The texts of the lines that these bytes complete, in order. A line that is too long or not
  /// printing ASCII is not one of ours: it is counted, since a program whose promises go unheard
  /// would be judged too kindly.
  std::vector<std::string> feed(std::string_view bytes);
  std::size_t refused() const { return refused_; }

 private:
  void end_line(std::vector<std::string>& texts);

  bool every_line_;
  std::string line_;  // at most a little longer than such a line can be
  std::size_t refused_ = 0;
};

}  // namespace headcrash::guest

#pragma once
// Cuts a byte stream into lines of bounded length.
//
// Both ends of every JSON-lines conversation use this: the agent, the harness, the QMP client. A
// line longer than the bound is swallowed up to its newline and reported as too long, so that a
// broken peer can neither fill the memory nor put the stream out of step.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headcrash::base {

inline constexpr std::size_t kLongestLineBytes = 1 << 20;  ///< PROTOCOL.md

class LineFramer {
 public:
  struct Line {
    std::string text;  ///< without its newline; empty when too long
    bool too_long = false;
  };

  explicit LineFramer(std::size_t longest_bytes = kLongestLineBytes)
      : longest_bytes_(longest_bytes) {}

  /// Takes what the stream brought; call next() until it has nothing more before feeding again.
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  std::optional<Line> next();
  /// The peer has gone: half a line of the old peer must not be joined to one of the new.
  void reset();

 private:
  std::size_t longest_bytes_;
  std::string buffer_;
  std::size_t searched_ = 0;  ///< no newline before this offset
  bool skipping_ = false;     ///< the beginning of the current line was thrown away
};

}  // namespace headcrash::base

#pragma once
// Splits a byte stream into lines of bounded length.
//
// The agent, the harness and the QMP client use this at both ends of every JSON-lines connection. A
// line longer than the bound is skipped up to its newline and reported as too long. A faulty peer
// therefore cannot exhaust memory or desynchronise the stream.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headcrash::base {

inline constexpr std::size_t kLongestLineBytes = 1 << 20;  ///< see PROTOCOL.md

class LineFramer {
 public:
  struct Line {
    std::string text;  ///< without its newline; empty if too long
    bool too_long = false;
  };

  explicit LineFramer(std::size_t longest_bytes = kLongestLineBytes)
      : longest_bytes_(longest_bytes) {}

  /// Appends received bytes. After each feed(), call next() until it returns nullopt.
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  std::optional<Line> next();
  /// Discards an incomplete line. Call this when the peer disconnects, so that the line is not
  /// joined to the next peer's data.
  void reset();

 private:
  std::size_t longest_bytes_;
  std::string buffer_;
  std::size_t searched_ = 0;  ///< there is no newline before this offset
  bool skipping_ = false;     ///< the line is too long: its start has been discarded
};

}  // namespace headcrash::base

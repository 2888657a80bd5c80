// Shortens lines to the width of the terminal (terminal.h).
#include "harness/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "plugin/base/printable.h"

namespace headcrash::cli {
namespace {

constexpr std::size_t kUsualWidth = 80, kLeastWidth = 20;
constexpr std::string_view kCut = "...";

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

std::size_t characters(const std::string& line) {
  std::size_t count = 0;
  for (const char byte : line) count += begins_character(byte) ? 1 : 0;
  return count;
}

std::string cut(const std::string& line, std::size_t width) {
  std::size_t count = 0, end = 0;
  for (; end < line.size(); ++end)
    if (begins_character(line[end]) && ++count > width - kCut.size()) break;
  return line.substr(0, end) + std::string(kCut);
}

}  // namespace

std::optional<std::size_t> terminal_width() {
  if (::isatty(STDOUT_FILENO) == 0) return std::nullopt;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastWidth)
    return size.ws_col;
  return kUsualWidth;
}

std::string fitted(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  std::string whole;
  for (std::string line; std::getline(lines, line);)
    whole += (characters(line) <= width ? line : cut(line, width)) + "\n";
  return whole;
}

void print_fitted(const std::string& text) {
  const auto width = terminal_width();
  const std::string shown = base::printable_lines(text);
  fmt::print("{}", width ? fitted(shown, *width) : shown);
}

bool can_overwrite() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void clear_line() {
  if (can_overwrite()) fmt::print(stderr, "\r\033[K");
}

}  // namespace headcrash::cli

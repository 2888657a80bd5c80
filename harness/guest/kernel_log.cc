// Reads /dev/kmsg (kernel_log.h). Each read returns one record "level,number,time,flags;text". A
// record may have further lines, each of which begins with a blank
// (Documentation/ABI/testing/dev-kmsg). EPIPE means that records were overwritten before they could
// be read.
#include "harness/guest/kernel_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace headcrash::guest {
namespace {

constexpr std::size_t kLogKeptBytes = 32 << 10;
constexpr std::size_t kRecordBytes = 8 << 10;
// Maximum number of records to read in one call. Without a limit, a call would not return if the
// kernel logs faster than this function reads.
constexpr int kRecordsMost = 100'000;

}  // namespace

KernelLog::KernelLog() : records_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  pass_over();
}

void KernelLog::pass_over() {
  if (records_.is_open()) ::lseek(records_.get(), 0, SEEK_END);
}

std::string KernelLog::take() {
  std::string text;
  std::array<char, kRecordBytes> record;
  for (int i = 0; records_.is_open() && i < kRecordsMost; ++i) {
    const ssize_t got = ::read(records_.get(), record.data(), record.size());
    if (got < 0 && (errno == EPIPE || errno == EINTR)) continue;
    if (got <= 0) break;
    std::string_view whole(record.data(), static_cast<std::size_t>(got));
    whole.remove_prefix(std::min(whole.find(';') + 1, whole.size()));
    text.append(whole.substr(0, whole.find('\n'))).push_back('\n');
    if (text.size() > 2 * kLogKeptBytes) text.erase(0, text.size() - kLogKeptBytes);
  }
  if (text.size() > kLogKeptBytes) text.erase(0, text.size() - kLogKeptBytes);
  return text;
}

std::string last_lines(std::string_view log, std::size_t count) {
  std::string lines;
  for (; count > 0 && !log.empty(); --count) {
    log = log.substr(0, log.find_last_not_of('\n') + 1);
    // 0 if there is no newline, because npos + 1 is 0
    const std::size_t begin = log.rfind('\n') + 1;
    if (begin == log.size()) break;
    lines.insert(0, fmt::format("{}{}", log.substr(begin), lines.empty() ? "" : "; "));
    log = log.substr(0, begin);
  }
  return lines;
}

}  // namespace headcrash::guest

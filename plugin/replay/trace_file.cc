// Parsing traces (trace_file.h) in pieces of 64 KiB: what follows the last end of line stays for the next
// one.
//
// Times are read as decimal fractions into whole nanoseconds, without floating point: 62.687285 ms is
// 62687285 ns, and digits beyond the nanosecond round.
#include "plugin/replay/trace_file.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace headcrash::replay {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kTraceLineBytesMax = 4096;
constexpr std::uint32_t kBlocksMax = 1U << 20;
constexpr TimeNs kTimeMaxNs = 1'000'000'000'000'000'000;  // 31 years

class Fields {
 public:
  explicit Fields(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) { skip(); }
  bool at_end() const { return at_ == end_; }

  std::string_view word() {
    const char* const from = at_;
    while (at_ != end_ && !is_space(*at_)) ++at_;
    const std::string_view found(from, static_cast<std::size_t>(at_ - from));
    skip();
    return found;
  }
  template <typename Number>
  std::optional<Number> number(Number max) {
    Number value = 0;
    const auto [rest, error] = std::from_chars(at_, end_, value);
    if (error != std::errc{} || value > max || (rest != end_ && !is_space(*rest))) return std::nullopt;
    at_ = rest;
    skip();
    return value;
  }
  /// A decimal number of units of `unit_ns`, which is a power of ten.
  std::optional<TimeNs> time(TimeNs unit_ns) {
    const std::string_view text = word();
    TimeNs ns = 0;
    std::size_t i = 0;
    for (; i < text.size() && is_digit(text[i]); ++i) {
      if (ns > kTimeMaxNs / 10) return std::nullopt;  // before the product can overflow
      ns = ns * 10 + (text[i] - '0') * unit_ns;
    }
    const std::size_t digits = i;
    if (i < text.size() && text[i] == '.') {
      TimeNs place_ns = unit_ns;
      for (++i; i < text.size() && is_digit(text[i]); ++i) {
        if (place_ns == 1 && text[i] >= '5') ++ns;
        place_ns /= 10;
        ns += (text[i] - '0') * place_ns;
      }
    }
    if (digits == 0 || i != text.size()) return std::nullopt;
    return ns;
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void skip() {
    while (at_ != end_ && is_space(*at_)) ++at_;
  }
  const char* at_;
  const char* end_;
};

/// What is wrong with a line, and what to do.
struct ParseError {
  const char* problem;
  const char* remedy;
};
constexpr ParseError kTime{"is not a time",
                           "write a decimal number such as 62.687285, without sign or exponent"};
constexpr ParseError kLbn{"the block number is not a whole number", "count blocks of 512 bytes from 0"};
constexpr ParseError kBlocks{"the number of blocks is not from 1 to 1048576", "count blocks of 512 bytes"};

std::optional<ParseError> parse_extent(Fields& fields, TraceRequest& into) {
  const auto lbn = fields.number<std::uint64_t>(std::uint64_t{1} << 62U);
  if (!lbn) return kLbn;
  const auto blocks = fields.number<std::uint32_t>(kBlocksMax);
  if (!blocks || *blocks == 0) return kBlocks;
  into.lbn = *lbn;
  into.blocks = *blocks;
  return std::nullopt;
}

std::optional<ParseError> parse_open(Fields& fields, TraceRequest& into) {
  const auto arrival_ns = fields.time(model::kMillisecondNs);
  if (!arrival_ns) return ParseError{"the arrival time is not a number", kTime.remedy};
  const auto device = fields.number<std::uint16_t>(0xffff);
  if (!device) return ParseError{"the device is not a number", "write 0 for the first device"};
  if (const auto error = parse_extent(fields, into)) return error;
  const auto flags = fields.number<std::uint32_t>(0xffffffff);
  if (!flags) return ParseError{"the flags are not a number", "write 1 for a read and 0 for a write"};
  into.wait_ns = *arrival_ns;
  into.device = *device;
  into.read = (*flags & 1U) != 0;
  return std::nullopt;
}

std::optional<ParseError> parse_closed(Fields& fields, TraceRequest& into) {
  const std::string_view op = fields.word();
  if (op != "R" && op != "W")
    return ParseError{"begins with neither R nor W", "write R for a read, W for a write"};
  into.read = op == "R";
  fields.word();  // whether the traced drive had it in its buffer: the model finds out for itself
  if (const auto error = parse_extent(fields, into)) return error;
  const auto measured_ns = fields.time(model::kMicrosecondNs);
  if (!measured_ns) return ParseError{"the measured time is not a number", kTime.remedy};
  const auto think_ns = fields.time(model::kMicrosecondNs);
  if (!think_ns) return ParseError{"the think time is not a number", kTime.remedy};
  into.measured_ns = *measured_ns;
  into.wait_ns = *think_ns;
  return std::nullopt;
}

}  // namespace

Result<TraceFormat> trace_format_of(const std::string& path) {
  if (path.ends_with(".trace")) return TraceFormat::trace;
  if (path.ends_with(".closed")) return TraceFormat::closed;
  return fail(path, "ends in neither .trace nor .closed", "say which one it is with --format");
}

TraceFile::TraceFile(std::string path, TraceFormat format, std::FILE* file)
    : path_(std::move(path)), format_(format), file_(file), buffer_(kReadBytes + kTraceLineBytesMax) {}

TraceFile::~TraceFile() {
  if (file_ != stdin) std::fclose(file_);
}

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path, TraceFormat format) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(path, "cannot be read", "check the path and its permissions");
  return std::unique_ptr<TraceFile>(new TraceFile(path == "-" ? "standard input" : path, format, file));
}

std::string TraceFile::subject(const TraceRequest& request) const {
  return fmt::format("{}: line {}", path_, request.line);
}

Result<std::span<const TraceRequest>> TraceFile::next() {
  chunk_.clear();
  while (chunk_.empty() && !ended_) {
    const std::size_t got = std::fread(buffer_.data() + held_, 1, kReadBytes, file_);
    if (std::ferror(file_) != 0) return fail(path_, "cannot be read to its end", "check the file");
    held_ += got;
    ended_ = got == 0;
    if (const auto parsed = parse_buffer(ended_); !parsed) return pass_on(parsed);
  }
  return std::span<const TraceRequest>(chunk_);
}

Result<void> TraceFile::parse_buffer(bool at_end) {
  const char* at = buffer_.data();
  const char* const end = at + held_;
  while (at != end) {
    const auto* line_end =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (line_end == nullptr && !at_end) break;
    if (line_end == nullptr) line_end = end;
    ++line_;
    Fields fields({at, static_cast<std::size_t>(line_end - at)});
    at = line_end == end ? end : line_end + 1;
    if (fields.at_end() || Fields(fields).word().starts_with('#')) continue;

    TraceRequest request;
    request.line = line_;
    auto error = format_ == TraceFormat::trace ? parse_open(fields, request) : parse_closed(fields, request);
    if (!error && !fields.at_end()) {
      error = ParseError{"has more fields than it should",
                         format_ == TraceFormat::trace ? "write: arrival_ms device lbn blocks flags"
                                                       : "write: R|W hint lbn blocks measured_us think_us"};
    }
    if (!error && format_ == TraceFormat::trace && request.wait_ns < last_arrival_ns_) {
      error = ParseError{"arrives before the line above it", "sort the trace by arrival: sort -n"};
    }
    if (error) return fail(subject(request), error->problem, error->remedy);
    if (format_ == TraceFormat::trace) last_arrival_ns_ = request.wait_ns;
    chunk_.push_back(request);
  }
  held_ = static_cast<std::size_t>(end - at);
  if (held_ > kTraceLineBytesMax) {
    return fail(fmt::format("{}: line {}", path_, line_ + 1), "is longer than 4096 bytes",
                "is this a trace at all?");
  }
  std::memmove(buffer_.data(), at, held_);
  return {};
}

}  // namespace headcrash::replay

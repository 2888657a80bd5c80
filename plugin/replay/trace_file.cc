// Parses traces (trace_file.h) in pieces of 64 KiB. An incomplete last line is kept for the next
// piece.
#include "plugin/replay/trace_file.h"

#include <fmt/core.h>

#include <cstring>

#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kTraceLineBytesMax = 4096;
constexpr TimeNs kTraceNsMax = 1'000'000'000'000'000'000;  // 31 years
constexpr TimeNs kDayNs = 86'400 * model::kSecondNs;

/// Returns true for a line of column titles. Some copies of traces begin with such a line.
bool are_titles(std::string_view line) {
  const char first = CommaFields(line)[0].empty() ? '0' : CommaFields(line)[0].front();
  return !is_digit(first) && line.find(',') != std::string_view::npos;
}

}  // namespace

TraceFile::TraceFile(std::string path, std::FILE* file)
    : path_(std::move(path)), file_(file), buffer_(kReadBytes + kTraceLineBytesMax) {}

TraceFile::~TraceFile() {
  if (file_ != stdin) std::fclose(file_);
}

Result<std::unique_ptr<TraceFile>> TraceFile::open(const std::string& path,
                                                   std::optional<TraceFormat> format) {
  std::FILE* const file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (file == nullptr) return fail(path, "cannot be read", "check the path and its permissions");
  std::unique_ptr<TraceFile> trace(new TraceFile(path == "-" ? "standard input" : path, file));
  if (!format) {
    if (const auto by_name = trace_format_of(path)) format = *by_name;
  }
  if (!format) {
    TRY(trace->read_more());
    format = recognise_trace({trace->buffer_.data(), trace->held_});
  }
  if (!format)
    return fail(trace->path_, "has no recognisable format",
                "use --format with one of: " + trace_format_names());
  trace->row_ = &row_of(*format);
  return trace;
}

std::string TraceFile::subject(const TraceRequest& request) const {
  return fmt::format("{}: line {}", path_, request.line);
}

std::vector<std::string> TraceFile::remarks() const {
  std::vector<std::string> all;
  all.reserve(lines_.left_out.size());
  for (const auto& [operation, count] : lines_.left_out)
    all.push_back(fmt::format(
        "{}: {} lines with the operation {} are skipped: only reads and writes are replayed", path_,
        count, operation));
  return all;
}

Result<void> TraceFile::read_more() {
  const std::size_t got = std::fread(buffer_.data() + held_, 1, kReadBytes, file_);
  if (std::ferror(file_) != 0) return fail(path_, "cannot be read completely", "check the file");
  held_ += got;
  ended_ = got == 0;
  return {};
}

Result<std::span<const TraceRequest>> TraceFile::next() {
  chunk_.clear();
  do {
    if (kept_back_) chunk_.push_back(*kept_back_);
    kept_back_.reset();
    if (held_ <= kTraceLineBytesMax) {
      TRY(read_more());
    }
    TRY(parse_buffer());
    if (closed_loop() && !ended_ && !chunk_.empty()) {
      kept_back_ = chunk_.back();
      chunk_.pop_back();
    }
  } while (chunk_.empty() && !ended_);
  return std::span<const TraceRequest>(chunk_);
}

/// Makes arrival times relative to the first one. Times in DiskSim traces remain unchanged unless
/// the first request arrives more than a day after time 0.
std::optional<ParseError> TraceFile::place_in_time(TraceRequest& request) {
  if (!first_arrival_ns_)
    first_arrival_ns_ =
        row_->format != TraceFormat::trace || request.wait_ns >= kDayNs ? request.wait_ns : 0;
  if (request.wait_ns < *first_arrival_ns_ ||
      request.wait_ns - *first_arrival_ns_ < last_arrival_ns_)
    return ParseError{"arrives before the request of the preceding line", row_->sort};
  request.wait_ns -= *first_arrival_ns_;
  if (request.wait_ns > kTraceNsMax)
    return ParseError{"arrives more than 31 years after the first one", "replay part of the trace"};
  last_arrival_ns_ = request.wait_ns;
  return std::nullopt;
}

Result<void> TraceFile::parse_line(std::string_view line) {
  Words words(line);
  if (words.at_end() || words.next().starts_with('#')) return {};
  TraceRequest request;
  request.line = line_;
  lines_.holds_request = !(lines_.first && row_->has_titles && are_titles(line));
  lines_.before = chunk_.empty() ? nullptr : &chunk_.back();
  auto error = lines_.holds_request ? row_->parse(line, lines_, request) : std::nullopt;
  lines_.first = false;
  if (!error && lines_.holds_request && !closed_loop()) error = place_in_time(request);
  if (error) return fail(subject(request), error->problem, error->hint);
  if (lines_.holds_request) chunk_.push_back(request);
  return {};
}

Result<void> TraceFile::parse_buffer() {
  const char* at = buffer_.data();
  const char* const end = at + held_;
  while (at != end && !lines_.over) {
    const auto* line_end =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (line_end == nullptr && !ended_) break;
    if (line_end == nullptr) line_end = end;
    ++line_;
    TRY(parse_line({at, static_cast<std::size_t>(line_end - at)}));
    at = line_end == end ? end : line_end + 1;
  }
  held_ = lines_.over ? 0 : static_cast<std::size_t>(end - at);
  if (held_ > kTraceLineBytesMax) {
    return fail(fmt::format("{}: line {}", path_, line_ + 1), "is longer than 4096 bytes",
                "check that this is a trace file");
  }
  std::memmove(buffer_.data(), at, held_);
  return {};
}

}  // namespace headcrash::replay

#pragma once
// A trace file as a source of requests: one request per line, in a format of trace_format.h. Empty
// lines and lines that begin with '#' are skipped.

#include <cstdio>
#include <memory>

#include "plugin/replay/trace_format.h"

namespace headcrash::replay {

class TraceFile final : public RequestSource {
 public:
  /// Opens a trace; "-" is standard input. If `format` is null, the file's extension determines the
  /// format. If the extension is unknown, the beginning of the file determines the format, provided
  /// that only one format matches. Fails if the file cannot be read or its format cannot be
  /// determined.
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path,
                                                 std::optional<TraceFormat> format);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Errors name the file and the line.
  Result<std::span<const TraceRequest>> next() override;
  bool closed_loop() const override { return row_->closed_loop(); }
  std::string subject(const TraceRequest& request) const override;
  /// Reports how many lines have operations that are not replayed.
  std::vector<std::string> remarks() const override;
  const TraceFormatRow& format() const { return *row_; }

 private:
  TraceFile(std::string path, std::FILE* file);
  Result<void> read_more();
  Result<void> parse_buffer();
  Result<void> parse_line(std::string_view line);
  std::optional<ParseError> place_in_time(TraceRequest& request);

  std::string path_;
  std::FILE* file_;
  const TraceFormatRow* row_ = nullptr;
  TraceLines lines_;
  std::vector<char> buffer_;
  std::size_t held_ = 0;  ///< unparsed bytes in the buffer
  std::vector<TraceRequest> chunk_;
  /// The last request of a closed loop. A later line may still set its think time, so the request
  /// is held back.
  std::optional<TraceRequest> kept_back_;
  std::uint64_t line_ = 0;
  std::optional<TimeNs> first_arrival_ns_;  ///< the time in the file that becomes time 0
  TimeNs last_arrival_ns_ = 0;
  bool ended_ = false;
};

}  // namespace headcrash::replay

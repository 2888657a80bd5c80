#pragma once
// Trace files of two kinds, one request a line, fields between spaces or tabs; empty lines and lines that
// begin with '#' are passed over. A block is 512 bytes.
//
//   .trace   arrival_ms device lbn blocks flags         open: arrivals do not wait; bit 0 of flags: a read
//   .closed  R|W hint lbn blocks measured_us think_us   one request at a time; measured 0.0: unknown

#include <cstdio>
#include <memory>

#include "plugin/replay/request_source.h"

namespace headcrash::replay {

enum class TraceFormat : std::uint8_t { trace, closed };

class TraceFile final : public RequestSource {
 public:
  /// "-" is standard input. Errors: the file cannot be read.
  static Result<std::unique_ptr<TraceFile>> open(const std::string& path, TraceFormat format);
  ~TraceFile() override;
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  /// Errors name file and line.
  Result<std::span<const TraceRequest>> next() override;
  bool closed_loop() const override { return format_ == TraceFormat::closed; }
  std::string subject(const TraceRequest& request) const override;

 private:
  TraceFile(std::string path, TraceFormat format, std::FILE* file);
  Result<void> parse_buffer(bool at_end);

  std::string path_;
  TraceFormat format_;
  std::FILE* file_;
  std::vector<char> buffer_;
  std::size_t held_ = 0;  ///< bytes of the buffer that are not parsed yet
  std::vector<TraceRequest> chunk_;
  std::uint64_t line_ = 0;
  TimeNs last_arrival_ns_ = 0;
  bool ended_ = false;
};

/// By the ending of the name. Error: neither of the two.
Result<TraceFormat> trace_format_of(const std::string& path);

}  // namespace headcrash::replay

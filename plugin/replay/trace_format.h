#pragma once
// The formats of trace files. Each format has a row in a table, and a function that parses a line.
//
//   name      a line                                                            times        loop
//   trace     arrival_ms device lbn blocks flags                                ms           open
//   closed    R|W hint lbn blocks measured_us think_us                          -            closed
//   msr       Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime       100 ns       open
//   spc       ASU,LBA,Size,Opcode,Timestamp                                     s            open
//   alibaba   device_id,opcode,offset,length,timestamp                          us           open
//   tencent   Timestamp,Offset,Size,IOType,VolumeID                             s            open
//   blkparse  8,0 cpu sequence time pid action rwbs sector + sectors [process]  s            open
//   fio2      filename action offset length; filename wait us                   -            closed
//   fio3      timestamp filename action offset length                           us           open
//
// Arrival times are relative to the first arrival in the trace. Arrival times in DiskSim traces are
// used unchanged, unless the first arrival is more than a day after time 0. Volumes are numbered
// from 0 in order of appearance; DiskSim traces contain device numbers. A byte range becomes the
// blocks of 512 bytes that it touches.
//
// To add a format, add a function in a separate file, its row in trace_formats.cc, and a test.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/replay/request_source.h"

namespace headcrash::replay {

enum class TraceFormat : std::uint8_t {
  trace,
  closed,
  msr,
  spc,
  alibaba,
  tencent,
  blkparse,
  fio2,
  fio3
};

/// An error in a line, and a hint.
struct ParseError {
  const char* problem;
  const char* hint;
};

/// State that the parsers keep between lines.
struct TraceLines {
  bool first = true;               ///< no line has been parsed yet, except empty lines and comments
  bool holds_request = true;       ///< a parser sets this to false for a line without a request
  TraceRequest* before = nullptr;  ///< the request of an earlier line; null at the beginning
  /// A parser sets this to true if the rest of the file is a summary.
  bool over = false;
  std::map<std::string, std::uint16_t, std::less<>> volumes;
  /// Number of lines by operation, for the operations that are not replayed.
  std::map<std::string, std::uint64_t, std::less<>> left_out;

  void skip_line() { holds_request = false; }
  void leave_out(std::string_view operation) {
    holds_request = false;
    ++left_out.try_emplace(std::string(operation), 0).first->second;
  }
  /// Returns a volume's number; nullopt if there are more than 65536 volumes.
  std::optional<std::uint16_t> volume(std::string_view name);
};

/// Parses one line. Sets TraceRequest::wait_ns to the time in the trace.
using LineParser = std::optional<ParseError> (*)(std::string_view line, TraceLines& lines,
                                                 TraceRequest& into);

struct TraceFormatRow {
  TraceFormat format;
  const char* name;    ///< for --format
  const char* fields;  ///< the fields of a line, as shown in messages
  const char* sort;    ///< command that sorts a trace by arrival; null for a closed loop
  bool has_titles;     ///< the first line may have column titles
  /// Returns true if a file with this first line must have this format. Null if the format cannot
  /// be recognised by the first line.
  bool (*recognises)(std::string_view line);
  LineParser parse;
  bool closed_loop() const { return sort == nullptr; }
};

std::span<const TraceFormatRow> trace_formats();
const TraceFormatRow& row_of(TraceFormat format);
std::optional<TraceFormat> trace_format_named(std::string_view name);
/// Returns "trace, closed, msr, ..."
std::string trace_format_names();
/// Returns the format for the extension .trace or .closed. Fails for other names.
Result<TraceFormat> trace_format_of(const std::string& path);
/// Returns the only format that a file with this beginning can have. Returns nullopt if no format
/// or several formats are possible.
std::optional<TraceFormat> recognise_trace(std::string_view beginning);

// ---- the parsers, one file per family

std::optional<ParseError> parse_disksim_open(std::string_view line, TraceLines& lines,
                                             TraceRequest& into);
std::optional<ParseError> parse_disksim_closed(std::string_view line, TraceLines& lines,
                                               TraceRequest& into);
std::optional<ParseError> parse_msr(std::string_view line, TraceLines& lines, TraceRequest& into);
bool is_msr(std::string_view line);
std::optional<ParseError> parse_spc(std::string_view line, TraceLines& lines, TraceRequest& into);
bool is_spc(std::string_view line);
std::optional<ParseError> parse_alibaba(std::string_view line, TraceLines& lines,
                                        TraceRequest& into);
bool is_alibaba(std::string_view line);
std::optional<ParseError> parse_tencent(std::string_view line, TraceLines& lines,
                                        TraceRequest& into);
std::optional<ParseError> parse_blkparse(std::string_view line, TraceLines& lines,
                                         TraceRequest& into);
bool is_blkparse(std::string_view line);
std::optional<ParseError> parse_fio2(std::string_view line, TraceLines& lines, TraceRequest& into);
bool is_fio2(std::string_view line);
std::optional<ParseError> parse_fio3(std::string_view line, TraceLines& lines, TraceRequest& into);
bool is_fio3(std::string_view line);

}  // namespace headcrash::replay

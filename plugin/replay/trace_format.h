#pragma once
// The formats of trace files: a row of one table each, and a function that parses a line.
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
// Arrivals count from the first one of the trace; DiskSim's do only if that is a day late, so that
// what its traces give stays the same. Volumes are numbered from 0 in the order in which they
// appear, save for DiskSim's, which are numbers of devices. Bytes become the blocks of 512 bytes
// that they touch.
//
// To add a format: a function in a file of its own, its row in trace_formats.cc, and a test.

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

/// What is wrong with a line, and what to do.
struct ParseError {
  const char* problem;
  const char* hint;
};

/// What parsers keep from line to line.
struct TraceLines {
  bool first = true;               ///< no line before had anything in it
  bool holds_request = true;       ///< set to false by a parser whose line is about something else
  TraceRequest* before = nullptr;  ///< the request of an earlier line; null at the beginning
  bool over = false;               ///< set by a parser: the rest of the file is a summary
  std::map<std::string, std::uint16_t, std::less<>> volumes;
  std::map<std::string, std::uint64_t, std::less<>>
      left_out;  ///< lines of operations that are not replayed

  void skip_line() { holds_request = false; }
  void leave_out(std::string_view operation) {
    holds_request = false;
    ++left_out.try_emplace(std::string(operation), 0).first->second;
  }
  /// Its number; null for the 65537th one.
  std::optional<std::uint16_t> volume(std::string_view name);
};

/// A time is put into TraceRequest::wait_ns as it is in the trace.
using LineParser = std::optional<ParseError> (*)(std::string_view line, TraceLines& lines,
                                                 TraceRequest& into);

struct TraceFormatRow {
  TraceFormat format;
  const char* name;    ///< of --format
  const char* fields;  ///< of a line, for people
  const char* sort;    ///< what sorts a trace by arrival; null: closed loop
  bool has_titles;     ///< the first line may name the columns
  /// Whether a first line can be of no other format; null: that cannot be told.
  bool (*recognises)(std::string_view line);
  LineParser parse;
  bool closed_loop() const { return sort == nullptr; }
};

std::span<const TraceFormatRow> trace_formats();
const TraceFormatRow& row_of(TraceFormat format);
std::optional<TraceFormat> trace_format_named(std::string_view name);
/// "trace, closed, msr, ..."
std::string trace_format_names();
/// By the ending of the name: .trace and .closed. Error: neither of the two.
Result<TraceFormat> trace_format_of(const std::string& path);
/// By the beginning of the file; null: no format is certain.
std::optional<TraceFormat> recognise_trace(std::string_view beginning);

// ---- the parsers, a file for each family

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

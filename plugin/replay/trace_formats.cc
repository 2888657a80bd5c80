// Defines the table of trace formats and recognises a file's format (trace_format.h).
#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/replay/trace_fields.h"

namespace headcrash::replay {
namespace {

constexpr const char* kByFirst = "sort the trace by arrival: sort -t, -s -k1,1n";

constexpr TraceFormatRow kFormats[] = {
    {TraceFormat::trace, "trace", "arrival_ms device lbn blocks flags",
     "sort the trace by arrival: sort -n", false, nullptr, parse_disksim_open},
    {TraceFormat::closed, "closed", "R|W hint lbn blocks measured_us think_us", nullptr, false,
     nullptr, parse_disksim_closed},
    {TraceFormat::msr, "msr", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
     kByFirst, true, is_msr, parse_msr},
    {TraceFormat::spc, "spc", "ASU,LBA,Size,Opcode,Timestamp",
     "sort the trace by arrival: sort -t, -s -k5,5n", true, is_spc, parse_spc},
    {TraceFormat::alibaba, "alibaba", "device_id,opcode,offset,length,timestamp",
     "sort the trace by arrival: sort -t, -s -k5,5n", true, is_alibaba, parse_alibaba},
    {TraceFormat::tencent, "tencent", "Timestamp,Offset,Size,IOType,VolumeID", kByFirst, true,
     nullptr, parse_tencent},
    {TraceFormat::blkparse, "blkparse", "dev cpu sequence time pid action rwbs sector + sectors",
     "sort the trace by arrival: sort -s -k4,4n", false, is_blkparse, parse_blkparse},
    {TraceFormat::fio2, "fio2", "FILE ACTION OFFSET LENGTH", nullptr, false, is_fio2, parse_fio2},
    {TraceFormat::fio3, "fio3", "TIMESTAMP FILE ACTION OFFSET LENGTH",
     "record the log with fio again", false, is_fio3, parse_fio3},
};

std::optional<TraceFormat> recognise_line(std::string_view line) {
  for (const TraceFormatRow& row : kFormats)
    if (row.recognises != nullptr && row.recognises(line)) return row.format;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint16_t> TraceLines::volume(std::string_view name) {
  if (const auto found = volumes.find(name); found != volumes.end()) return found->second;
  if (volumes.size() > 0xffff) return std::nullopt;
  const auto number = static_cast<std::uint16_t>(volumes.size());
  volumes.emplace(name, number);
  return number;
}

std::span<const TraceFormatRow> trace_formats() {
  return kFormats;
}

const TraceFormatRow& row_of(TraceFormat format) {
  const TraceFormatRow& row = kFormats[static_cast<std::size_t>(format)];
  invariant(row.format == format,
            "trace formats: the table must have the order of the enumeration");
  return row;
}

std::optional<TraceFormat> trace_format_named(std::string_view name) {
  for (const TraceFormatRow& row : kFormats)
    if (name == row.name) return row.format;
  return std::nullopt;
}

std::string trace_format_names() {
  std::string names;
  for (const TraceFormatRow& row : kFormats)
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

Result<TraceFormat> trace_format_of(const std::string& path) {
  if (path.ends_with(".trace")) return TraceFormat::trace;
  if (path.ends_with(".closed")) return TraceFormat::closed;
  return fail(path, "has neither the extension .trace nor .closed", "use --format");
}

/// Tries the first nonempty line and then the next one, because the first may consist of column
/// titles.
std::optional<TraceFormat> recognise_trace(std::string_view beginning) {
  constexpr int kLinesTried = 2;
  for (int tried = 0; tried < kLinesTried && !beginning.empty();) {
    const std::size_t end = beginning.find('\n');
    const std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(end == std::string_view::npos ? beginning.size() : end + 1);
    Words words(line);
    if (words.at_end() || words.next().starts_with('#')) continue;
    const auto format = recognise_line(line);
    if (format && (tried == 0 || row_of(*format).has_titles)) return format;
    ++tried;
  }
  return std::nullopt;
}

}  // namespace headcrash::replay

// Exports to the dm-log-writes format (dm_log_writes.h) in two passes. In the log, a flush is
// placed at its submission, where its outcome is not yet known. The first pass therefore finds the
// flushes that were acknowledged; the second pass writes the log.
#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "plugin/record/dm_log_format.h"
#include "plugin/record/dm_log_writes.h"
#include "plugin/record/event_format.h"
#include "plugin/record/log_file.h"

namespace headcrash::record {
namespace {

using model::kSectorBytes;

constexpr std::uint32_t kUnit = kSectorBytes;
constexpr std::size_t kMarkBytesMax = kUnit - sizeof(dm_log::Entry) - 1;
constexpr std::uint64_t kCopySectors =
    (16U << 20) / kSectorBytes;  ///< a larger write becomes several entries

using RequestIds = std::unordered_set<model::RequestId>;

/// Returns the device's flushes that were acknowledged as successful.
Result<RequestIds> flushes_done(const std::filesystem::path& path, model::DeviceId device) {
  TRY(auto reader, RecordingReader::open(path));
  RequestIds submitted;
  RequestIds done;
  for (;;) {
    TRY(auto event, reader.next(PayloadUse::skip));
    if (!event) return done;
    const Event& e = *event;
    if (e.device != device) continue;
    if (e.kind == Kind::submit && e.op == model::Op::flush) submitted.insert(e.request);
    if (e.kind == Kind::ack && submitted.erase(e.request) > 0 && e.detail == 0)
      done.insert(e.request);
  }
}

class Exporter {
 public:
  Exporter(const RecordingReader& from, LogFile& into, model::DeviceId device, RequestIds flushes)
      : from_(from), into_(into), device_(device), flushes_(std::move(flushes)) {
    write_unit(bytes_of(dm_log::Super{}));
  }

  Result<void> add(const Event& event) {
    if (event.kind == Kind::mark) add_mark(event);
    if (event.kind == Kind::opened) waiting_.clear();
    if (event.device != device_) return {};
    if (event.kind == Kind::submit && event.op == model::Op::flush &&
        flushes_.contains(event.request)) {
      ++summary.flushes;
      write_entry({.flags = dm_log::kFlush});
    }
    if (event.kind == Kind::submit && event.op != model::Op::flush && event.op != model::Op::read)
      waiting_.emplace(event.request, event);
    if (event.kind != Kind::ack) return {};
    const auto found = waiting_.find(event.request);
    if (found == waiting_.end()) return {};
    const Event request = found->second;
    waiting_.erase(found);
    if (event.detail == 0) return add_write(request);
    ++summary.unacknowledged;
    return {};
  }

  /// Writes the base contents. Always writes the last sector, from which readers of the log
  /// determine the size of the device.
  Result<void> add_base(const DmLogBase& base, std::uint64_t sectors) {
    const DmLogPut put = [this](std::uint64_t lba, std::span<const std::byte> bytes) {
      ++summary.writes;
      return write_data({.sector = lba, .sectors = bytes.size() / kSectorBytes}, bytes);
    };
    std::uint64_t end = 0;
    const auto all = base([&](std::uint64_t lba, std::span<const std::byte> bytes) {
      end = lba + bytes.size() / kSectorBytes;
      return put(lba, bytes);
    });
    if (!all) return all;
    const std::array<std::byte, kSectorBytes> zeroes = {};
    if (end < sectors) TRY(put(sectors - 1, zeroes));
    ++summary.flushes;
    write_entry({.flags = dm_log::kFlush});
    return {};
  }

  Result<void> finish() {
    summary.unacknowledged += waiting_.size();
    dm_log::Super super;
    super.entries = summary.entries;
    if (!into_.flush() || !into_.overwrite(0, bytes_of(super)))
      return tl::unexpected<Error>(*into_.error());
    TRY(into_.close());
    return {};
  }

  DmLogSummary summary;

 private:
  /// Appends one unit to the log: these bytes, padded with zeroes.
  void write_unit(std::span<const std::byte> first, std::span<const std::byte> second = {}) {
    std::array<std::byte, kUnit> unit = {};
    std::copy(second.begin(), second.end(), std::copy(first.begin(), first.end(), unit.begin()));
    into_.append(unit);
  }

  void write_entry(const dm_log::Entry& entry, std::span<const std::byte> text = {}) {
    ++summary.entries;
    write_unit(bytes_of(entry), text);
  }

  void add_mark(const Event& event) {
    ++summary.marks;
    const auto text = std::span(event.payload).first(std::min(event.payload.size(), kMarkBytesMax));
    if (text.size() < event.payload.size()) ++summary.marks_cut;
    write_entry({.flags = dm_log::kMark, .data_bytes = text.size()}, text);
  }

  Result<void> add_write(const Event& request) {
    const std::uint64_t fua = request.fua ? dm_log::kFua : 0;
    if (request.op == model::Op::trim) {
      ++summary.discards;
      write_entry(
          {.sector = request.lba, .sectors = request.sectors, .flags = dm_log::kDiscard | fua});
      return {};
    }
    if (request.op == model::Op::write && request.payload_bytes == 0)
      return fail("recording",
                  fmt::format("the write at offset {} was recorded without data", request.offset),
                  "make a recording that includes the data");
    ++summary.writes;  // counted once, even if the write is split into several entries
    for (std::uint64_t done = 0; done < request.sectors;) {
      const std::uint64_t run = std::min(request.sectors - done, kCopySectors);
      buffer_.assign(run * kSectorBytes, std::byte{0});
      if (request.op == model::Op::write) TRY(from_.read_bytes(request, done, buffer_));
      const auto put =
          write_data({.sector = request.lba + done, .sectors = run, .flags = fua}, buffer_);
      if (!put) return put;
      done += run;
    }
    return {};
  }

  Result<void> write_data(const dm_log::Entry& entry, std::span<const std::byte> bytes) {
    write_entry(entry);
    if (!into_.append({}, bytes)) return tl::unexpected<Error>(*into_.error());
    summary.data_bytes += bytes.size();
    return {};
  }

  const RecordingReader& from_;
  LogFile& into_;
  model::DeviceId device_;
  RequestIds flushes_;
  /// Requests that were submitted but are not yet acknowledged; without payloads.
  std::unordered_map<model::RequestId, Event> waiting_;
  std::vector<std::byte> buffer_;
};

Result<DmLogSummary> copy_events(RecordingReader& reader, Exporter& exporter) {
  for (;;) {
    TRY(auto event, reader.next(PayloadUse::skip));
    if (!event) break;
    TRY(exporter.add(*event));
  }
  TRY(exporter.finish());
  return exporter.summary;
}

}  // namespace

Result<DmLogSummary> export_dm_log_writes(const std::filesystem::path& from, model::DeviceId device,
                                          const std::filesystem::path& to, const DmLogBase& base) {
  TRY(auto reader, RecordingReader::open(from));
  if (device >= reader.header().devices.size())
    return fail(from,
                fmt::format("has {} devices, but device {} is requested",
                            reader.header().devices.size(), device),
                "`headcrash recording info` lists them");
  TRY(auto flushes, flushes_done(from, device));
  TRY(auto into, LogFile::create(to, LogFile::Content::exported));
  Exporter exporter(reader, *into, device, std::move(flushes));
  Result<void> begun;
  if (base) begun = exporter.add_base(base, reader.header().devices.at(device).sectors);
  Result<DmLogSummary> copied =
      begun ? copy_events(reader, exporter) : tl::unexpected(begun.error());
  if (copied) return copied;
  into.reset();
  std::error_code none;
  std::filesystem::remove(to, none);
  return copied;
}

}  // namespace headcrash::record

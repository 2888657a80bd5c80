// Import from dm-log-writes' format (dm_log_writes.h). Two passes: the first checks every entry and
// determines the size of the device, the second copies.
//
//   | super: 3 entries | entry | entry | entry | entry | entry | (zeroes, half an entry, the end)
//                        counted: all must be valid | uncounted, up to the first invalid one
//
// A writer counts its entries at flushes. If it was killed, the entries since the last flush are
// present but not counted. Before the first flush, QEMU has not even written the super block.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "plugin/media/host_reason.h"
#include "plugin/record/dm_log_format.h"
#include "plugin/record/dm_log_writes.h"
#include "plugin/record/event_format.h"
#include "plugin/record/log_file.h"

namespace headcrash::record {
namespace {

using model::kSectorBytes;

constexpr std::size_t kCopyBytes = 16 << 20;  ///< a larger write is split when it is copied
constexpr std::uint64_t kDeviceBytesMax = 1ULL << 50;
constexpr model::TimeNs kStepNs = 1000;
constexpr const char* kNotOneOfTheirs = "use a log of dm-log-writes or of QEMU's blklogwrites";

/// An open log, read entry by entry.
class DmLog {
 public:
  explicit DmLog(std::string path) : path_(std::move(path)) {}
  ~DmLog() {
    if (fd_ >= 0) close(fd_);
  }
  DmLog(const DmLog&) = delete;
  DmLog& operator=(const DmLog&) = delete;

  Result<void> open();
  void rewind() {
    offset_ = super_.sector_size;
    number_ = 0;
    closed_ = false;
  }
  /// Returns the next entry, or nullopt at the end of the log. The entry has been validated and
  /// converted to units of 512 bytes; its data begins at data_at(). If an entry that the super
  /// block counts is invalid, returns an error. Any other invalid entry ends the log.
  Result<std::optional<dm_log::Entry>> next();
  bool without_super() const { return without_super_; }
  /// Returns the number of entries read so far that the super block does not count.
  std::uint64_t uncounted() const { return number_ - std::min(number_, super_.entries); }
  std::uint64_t data_at() const { return data_at_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const {
    return read_exactly(fd_, path_, offset, into);
  }
  std::uint32_t mark_bytes_max() const {
    return super_.sector_size - static_cast<std::uint32_t>(sizeof(dm_log::Entry));
  }

 private:
  Result<void> read_super();
  std::optional<std::uint32_t> sector_size_of_entries() const;
  Result<dm_log::Entry> read_entry();
  tl::unexpected<Error> broken(const char* what) const {
    return fail(path_, fmt::format("entry {} at offset {} {}", number_, offset_, what),
                "the log is damaged, or was copied before its writer closed it");
  }

  std::string path_;
  int fd_ = -1;
  std::uint64_t file_bytes_ = 0;
  dm_log::Super super_;
  std::uint64_t offset_ = 0;  ///< offset of the next entry
  std::uint64_t number_ = 0;
  std::uint64_t data_at_ = 0;
  std::uint64_t next_offset_ = 0;
  bool without_super_ = false;
  /// The target's end mark has been read; any entries after it are from an earlier log.
  bool closed_ = false;
};

/// Determines the sector size of a log that has no super block. All bytes before the first entry
/// are zero, so the offset of that entry is the sector size.
std::optional<std::uint32_t> DmLog::sector_size_of_entries() const {
  std::vector<std::byte> bytes(std::min<std::uint64_t>(file_bytes_, 2 * dm_log::kSectorSizeMax));
  if (!read(0, bytes)) return std::nullopt;
  const auto first =
      std::find_if(bytes.begin(), bytes.end(), [](std::byte byte) { return byte != std::byte{0}; });
  const auto unit = static_cast<std::uint32_t>(first - bytes.begin()) / kSectorBytes * kSectorBytes;
  if (first == bytes.end() || unit < kSectorBytes || unit > dm_log::kSectorSizeMax)
    return std::nullopt;
  return unit;
}

Result<void> DmLog::open() {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (fd_ < 0 || fstat(fd_, &status) != 0)
    return fail(path_, "cannot be opened: " + media::host_reason(errno), kNotOneOfTheirs);
  if (!S_ISREG(status.st_mode))
    return fail(path_, "is not a regular file", "copy the log into a file (dd if=DEVICE of=FILE)");
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  TRY(read_super());
  rewind();
  return {};
}

Result<void> DmLog::read_super() {
  if (file_bytes_ < kSectorBytes || !read(0, writable_bytes_of(super_)))
    return fail(path_, "is not a dm-log-writes log", kNotOneOfTheirs);
  if (super_.magic != dm_log::kMagic) {
    const auto unit = sector_size_of_entries();
    if (!unit) return fail(path_, "is not a dm-log-writes log", kNotOneOfTheirs);
    super_ = {.sector_size = *unit};
    without_super_ = true;
    rewind();
    const auto first = next();
    if (first && *first) return {};
    return fail(path_, "is not a dm-log-writes log", kNotOneOfTheirs);
  }
  if (super_.version != dm_log::kVersion)
    return fail(path_,
                fmt::format("has version {}, but this program supports {}", super_.version,
                            dm_log::kVersion),
                kNotOneOfTheirs);
  if (super_.sector_size < kSectorBytes || super_.sector_size > dm_log::kSectorSizeMax ||
      super_.sector_size % kSectorBytes != 0)
    return fail(path_, fmt::format("has unsupported sectors of {} bytes", super_.sector_size),
                kNotOneOfTheirs);
  return {};
}

Result<std::optional<dm_log::Entry>> DmLog::next() {
  const bool counted = number_ < super_.entries;
  if (!counted && (closed_ || offset_ >= file_bytes_)) return std::nullopt;
  const auto entry = read_entry();
  if (!entry && counted) return forward_error(entry);
  const bool is_zero = entry && entry->sectors == 0 && entry->flags == 0 && entry->data_bytes == 0;
  if (!entry || (is_zero && !counted)) return std::nullopt;
  offset_ = next_offset_;
  ++number_;
  return *entry;
}

Result<dm_log::Entry> DmLog::read_entry() {
  const std::uint64_t unit = super_.sector_size;
  dm_log::Entry entry;
  if (offset_ > file_bytes_ || file_bytes_ - offset_ < sizeof(entry))
    return broken("is beyond the end of the file");
  TRY(read(offset_, writable_bytes_of(entry)));
  if ((entry.flags & ~dm_log::kAllFlags) != 0) return broken("has unknown flags");
  const bool mark = (entry.flags & dm_log::kMark) != 0;
  const bool discard = (entry.flags & dm_log::kDiscard) != 0;
  if (mark && (entry.sectors != 0 || entry.data_bytes > mark_bytes_max()))
    return broken("is not a valid mark");
  if (entry.sector > kDeviceBytesMax / unit ||
      entry.sectors > kDeviceBytesMax / unit - entry.sector)
    return broken("exceeds the size of any device");
  data_at_ = offset_ + (mark ? sizeof(entry) : unit);
  const std::uint64_t data = mark ? entry.data_bytes : discard ? 0 : entry.sectors * unit;
  if (data > 0 && (data_at_ > file_bytes_ || data > file_bytes_ - data_at_))
    return broken("has data beyond the end of the file");
  next_offset_ = offset_ + unit + (mark || discard ? 0 : entry.sectors * unit);
  closed_ = false;
  if (mark && entry.data_bytes >= dm_log::kEndMark.size()) {
    std::string text(dm_log::kEndMark.size(), '\0');
    TRY(read(data_at_, std::as_writable_bytes(std::span(text))));
    closed_ = text == dm_log::kEndMark;
  }
  entry.sector *= unit / kSectorBytes;
  entry.sectors *= unit / kSectorBytes;
  return entry;
}

/// Writes log entries as events of a recording.
class Importer {
 public:
  Importer(const DmLog& log, RecordingWriter& into) : log_(log), into_(into) {}

  Result<void> add(const dm_log::Entry& entry) {
    ++summary.entries;
    if ((entry.flags & dm_log::kMark) != 0) return add_mark(entry);
    if ((entry.flags & dm_log::kFlush) != 0) {
      ++summary.flushes;
      request({.op = model::Op::flush});
    }
    if ((entry.flags & dm_log::kDiscard) != 0) {
      ++summary.discards;
      return add_discard(entry);
    }
    if (entry.sectors == 0) return {};
    ++summary.writes;
    return add_write(entry);
  }

  DmLogSummary summary;

 private:
  void request(model::Request request) {
    request.id = ++last_id_;
    const model::TimeNs submitted_at = now_;
    into_.submitted(0, now_, request);
    now_ += kStepNs;
    into_.acknowledged(0, {.id = request.id, .submitted_at = submitted_at, .completed_at = now_});
    now_ += kStepNs;
  }

  Result<void> add_mark(const dm_log::Entry& entry) {
    ++summary.marks;
    std::string text(entry.data_bytes, '\0');
    TRY(log_.read(log_.data_at(), std::as_writable_bytes(std::span(text))));
    text.resize(std::min(text.size(), text.find('\0')));
    into_.marked(now_, text);
    return {};
  }

  Result<void> add_discard(const dm_log::Entry& entry) {
    constexpr std::uint64_t kRunMax = 1U << 31;
    for (std::uint64_t done = 0; done < entry.sectors;) {
      const std::uint64_t run = std::min(entry.sectors - done, kRunMax);
      request({.op = model::Op::trim,
               .lba = entry.sector + done,
               .sectors = static_cast<std::uint32_t>(run)});
      done += run;
    }
    return {};
  }

  Result<void> add_write(const dm_log::Entry& entry) {
    for (std::uint64_t done = 0; done < entry.sectors;) {
      const std::uint64_t run =
          std::min<std::uint64_t>(entry.sectors - done, kCopyBytes / kSectorBytes);
      buffer_.resize(run * kSectorBytes);
      TRY(log_.read(log_.data_at() + done * kSectorBytes, buffer_));
      request({.op = model::Op::write,
               .fua = (entry.flags & dm_log::kFua) != 0,
               .lba = entry.sector + done,
               .sectors = static_cast<std::uint32_t>(run),
               .data = buffer_});
      summary.data_bytes += buffer_.size();
      done += run;
    }
    return {};
  }

  const DmLog& log_;
  RecordingWriter& into_;
  model::RequestId last_id_ = 0;
  model::TimeNs now_ = 0;
  std::vector<std::byte> buffer_;
};

Result<DmLogSummary> copy(DmLog& log, RecordingWriter& into) {
  Importer importer(log, into);
  log.rewind();
  for (;;) {
    TRY(const auto entry, log.next());
    if (!entry) break;
    TRY(importer.add(*entry));
    if (into.error()) return tl::unexpected<Error>(*into.error());
  }
  TRY(into.close());
  importer.summary.uncounted = log.uncounted();
  importer.summary.without_super = log.without_super();
  return importer.summary;
}

}  // namespace

Result<DmLogSummary> import_dm_log_writes(const std::filesystem::path& from,
                                          const std::filesystem::path& to,
                                          std::uint64_t sectors_min) {
  DmLog log(from.string());
  TRY(log.open());
  std::uint64_t sectors = std::max<std::uint64_t>(sectors_min, 1);
  for (;;) {
    TRY(const auto entry, log.next());
    if (!entry) break;
    sectors = std::max(sectors, entry->sector + entry->sectors);
  }
  RecordingHeader header;
  header.devices.push_back({"imported", "unknown", sectors, 1, true});
  header.origin = "dm-log-writes";
  header.media = false;
  TRY(auto into, RecordingWriter::create(to, header));
  auto copied = copy(log, *into);
  if (copied) return copied;
  into.reset();
  std::error_code none;
  std::filesystem::remove(to, none);
  return copied;
}

}  // namespace headcrash::record

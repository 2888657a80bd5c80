#include "plugin/record/log_store.h"

#include <fmt/core.h>

#include <algorithm>

#include "plugin/base/invariant.h"
#include "plugin/media/range.h"
#include "plugin/record/log_file.h"

namespace headcrash::record {

using model::kSectorBytes;

namespace {

/// The first scan moves chunks with at least this many extents. Each further scan has a lower
/// limit.
constexpr std::size_t kFragmentedExtents = 32;
/// If no move reduces the index, scanning pauses until the index has grown by 1/kIndexBytesPerTry
/// of its limit.
constexpr std::size_t kIndexBytesPerTry = 64;

Result<void> same_devices(const std::filesystem::path& path, const RecordingHeader& found,
                          const RecordingHeader& asked) {
  constexpr const char* kHint =
      "use another name, or delete this file if you do not need its contents";
  if (!found.media) return fail(path, found.provenance() + " and has no MEDIA events", kHint);
  if (found.devices.size() != asked.devices.size())
    return fail(path,
                fmt::format("was recorded from {} devices, but the machine has {}",
                            found.devices.size(), asked.devices.size()),
                kHint);
  for (std::size_t i = 0; i < found.devices.size(); ++i) {
    const RecordedDevice& old = found.devices[i];
    const RecordedDevice& now = asked.devices[i];
    if (old.name != now.name || old.profile != now.profile || old.sectors != now.sectors ||
        old.medium != now.medium || old.physical_sector_sectors != now.physical_sector_sectors)
      return fail(
          path,
          fmt::format("device {} was {} ({}, {} sectors), but is now {} ({}, {} sectors)", i,
                      old.name, old.profile, old.sectors, now.name, now.profile, now.sectors),
          kHint);
  }
  return {};
}

std::vector<ExtentIndex> empty_indexes(const RecordingHeader& header) {
  std::vector<ExtentIndex> indexes;
  indexes.reserve(header.devices.size());
  for (const RecordedDevice& device : header.devices)
    indexes.emplace_back(device.medium ? device.sectors : 0);
  return indexes;
}

}  // namespace

struct LogStore::State {
  /// A contiguous write that a drive has made to its store but not yet reported to the observer.
  struct HeldRun {
    enum class Kind : std::uint8_t { none, bytes, zeroes } kind = Kind::none;
    model::DeviceId device = 0;
    std::uint64_t lba = 0;
    std::uint64_t sectors = 0;
    /// The drive owns these bytes. They are valid until the drive has reported the run.
    std::span<const std::byte> bytes;
  };

  LogStoreOptions options;
  std::unique_ptr<RecordingWriter> log;
  RecordingHeader header;
  std::vector<ExtentIndex> indexes;
  std::vector<std::unique_ptr<Medium>> media;
  HeldRun held;
  std::uint64_t events = 0;
  std::uint64_t last_checkpoint_at = 0;  ///< offset in the log
  std::uint64_t moved_bytes = 0;
  std::uint64_t events_read = 0;
  std::size_t move_again_at = 0;  ///< index size in bytes at which the next scan moves chunks
  std::size_t hand_device = 0;    ///< device at which the search for fragmented chunks continues
  std::uint64_t hand_chunk = 0;

  Result<RecordingWriter::Resume> read_log(const std::filesystem::path& path);
  Result<void> read_events(RecordingReader& reader, RecordingWriter::Resume& resume,
                           const std::filesystem::path& path);
  bool has(model::DeviceId device, std::uint64_t lba, std::uint64_t sectors) const;

  void append_held();
  void expect_nothing_held();
  void write_media(model::DeviceId device, model::TimeNs at, const model::MediaWrite& run,
                   bool zeroes);
  std::size_t index_bytes() const;
  void bound_the_index();
  void move_chunk(model::DeviceId device, std::uint64_t chunk);
  void move_run(model::DeviceId device, std::uint64_t lba, std::uint64_t sectors);
  void checkpoint_when_due();
  void write_checkpoint();
};

/// The part of the log that serves as one device's medium.
class LogStore::Medium final : public model::SectorStore {
 public:
  Medium(State& state, model::DeviceId device, std::string name)
      : state_(state), device_(device), name_(std::move(name)) {}

  std::uint64_t sectors() const override { return state_.indexes[device_].sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override;
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override;
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override;

 private:
  Result<void> hold_back(State::HeldRun::Kind kind, std::uint64_t lba, std::uint64_t sectors,
                         std::span<const std::byte> bytes);

  State& state_;
  model::DeviceId device_;
  std::string name_;
};

Result<void> LogStore::Medium::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(media::check_range(name_, sectors(), lba, into.size()));
  state_.expect_nothing_held();
  Result<void> result;
  std::uint64_t next = lba;  // sectors before `next` are filled
  const auto fill_to = [&](std::uint64_t end) {
    std::fill_n(into.begin() + static_cast<std::ptrdiff_t>((next - lba) * kSectorBytes),
                (end - next) * kSectorBytes, std::byte{0});
  };
  const std::uint64_t end = lba + into.size() / kSectorBytes;
  state_.indexes[device_].visit(
      lba, end - lba, [&](std::uint64_t from, std::uint64_t sectors, ExtentLocation where) {
        fill_to(from);
        next = from + sectors;
        const auto part = into.subspan((from - lba) * kSectorBytes, sectors * kSectorBytes);
        if (where.unknown()) {
          if (result)
            result = fail(name_,
                          fmt::format("the bytes of sectors {} to {} were not recorded", from,
                                      from + sectors - 1),
                          "use another file, because this file was recorded without data");
        } else if (where.offset() == 0) {
          std::fill(part.begin(), part.end(), std::byte{0});
        } else if (result) {
          result = state_.log->read(where.offset(), part);
        }
      });
  fill_to(end);
  return result;
}

Result<void> LogStore::Medium::hold_back(State::HeldRun::Kind kind, std::uint64_t lba,
                                         std::uint64_t sectors, std::span<const std::byte> bytes) {
  TRY(media::check_range(name_, this->sectors(), lba, sectors * kSectorBytes));
  state_.append_held();
  if (state_.log->error()) return tl::unexpected<Error>(*state_.log->error());
  if (sectors > 0) state_.held = {kind, device_, lba, sectors, bytes};
  return {};
}

Result<void> LogStore::Medium::write(std::uint64_t lba, std::span<const std::byte> data) {
  TRY(media::check_range(name_, sectors(), lba, data.size()));
  return hold_back(State::HeldRun::Kind::bytes, lba, data.size() / kSectorBytes, data);
}

Result<void> LogStore::Medium::write_zeroes(std::uint64_t lba, std::uint64_t count) {
  return hold_back(State::HeldRun::Kind::zeroes, lba, count, {});
}

bool LogStore::State::has(model::DeviceId device, std::uint64_t lba, std::uint64_t sectors) const {
  return device < indexes.size() && lba <= indexes[device].sectors() &&
         sectors <= indexes[device].sectors() - lba;
}

// ---- opening

Result<void> LogStore::State::read_events(RecordingReader& reader, RecordingWriter::Resume& resume,
                                          const std::filesystem::path& path) {
  for (;;) {
    TRY(auto event, reader.next());
    if (!event) break;
    const Event& e = *event;
    ++resume.events;
    ++events_read;
    resume.last_at = std::max(resume.last_at, e.at);
    resume.last_request = std::max(resume.last_request, e.request);
    if (e.kind != Kind::media || (e.device < indexes.size() && !header.devices[e.device].medium))
      continue;
    if (!has(e.device, e.lba, e.sectors))
      return fail(path,
                  fmt::format("the MEDIA event at offset {} extends beyond the end of its device",
                              e.offset),
                  "the recording is damaged: restore it, or record into another file");
    apply_media(indexes[e.device], e.lba, e.sectors, media_bytes(e));
  }
  if (reader.tail() == Tail::damaged) return tl::unexpected<Error>(*reader.tail_error());
  resume.bytes = reader.whole_bytes();
  return {};
}

Result<RecordingWriter::Resume> LogStore::State::read_log(const std::filesystem::path& path) {
  TRY(auto reader, RecordingReader::open(path));
  TRY(same_devices(path, reader.header(), header));
  RecordingWriter::Resume resume;
  resume.checkpoint_generation = reader.checkpoint_generation();
  TRY(auto payload, reader.skip_to_checkpoint());
  if (payload) {
    if (const auto checkpoint = decode_checkpoint(*payload, reader.whole_bytes(), indexes)) {
      resume.events = checkpoint->events;
      resume.last_at = checkpoint->last_at;
      resume.last_request = checkpoint->last_request;
      last_checkpoint_at = reader.whole_bytes();
    } else {  // reads all events, because the checkpoint is not valid
      indexes = empty_indexes(header);
      TRY(reader, RecordingReader::open(path));
    }
  }
  TRY(read_events(reader, resume, path));
  return resume;
}

Result<std::unique_ptr<LogStore>> LogStore::open(const std::filesystem::path& path,
                                                 const RecordingHeader& header,
                                                 const LogStoreOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  state->header = header;
  state->indexes = empty_indexes(header);
  std::error_code none;
  Result<std::unique_ptr<RecordingWriter>> log;
  if (std::filesystem::exists(path, none)) {
    // Locks the log before reading it. Otherwise, events that a terminating server is still
    // appending could be truncated.
    TRY(auto file, LogFile::open(path));
    TRY(auto resume, state->read_log(path));
    log = RecordingWriter::resume(std::move(file), resume);
    state->events = resume.events + 1;  // OPENED
  } else {
    log = RecordingWriter::create(path, header);
  }
  if (!log) return forward_error(log);
  state->log = std::move(*log);
  for (std::size_t i = 0; i < header.devices.size(); ++i)
    state->media.push_back(
        header.devices[i].medium
            ? std::make_unique<Medium>(*state, static_cast<model::DeviceId>(i),
                                       path.string() + ": " + header.devices[i].name)
            : nullptr);
  return std::unique_ptr<LogStore>(new LogStore(std::move(state)));
}

LogStore::LogStore(std::unique_ptr<State> state) : state_(std::move(state)) {}

LogStore::~LogStore() {
  state_->expect_nothing_held();
  state_->write_checkpoint();
}

// ---- the held run

void LogStore::State::write_media(model::DeviceId device, model::TimeNs at,
                                  const model::MediaWrite& run, bool zeroes) {
  const auto bytes = log->write_media(device, at, run, zeroes);
  if (!bytes) return;
  ++events;
  if (has(device, run.lba, run.sectors)) apply_media(indexes[device], run.lba, run.sectors, *bytes);
}

/// Appends `held` as a MEDIA event without a source request. Called if the drive has not reported
/// this write to the observer.
void LogStore::State::append_held() {
  if (held.kind == HeldRun::Kind::none) return;
  const HeldRun run = std::exchange(held, {});
  const std::uint64_t sectors_max =
      (64U << 20) / kSectorBytes;  // well below the maximum size of an event
  for (std::uint64_t done = 0; done < run.sectors;) {
    const std::uint64_t count = std::min(run.sectors - done, sectors_max);
    const auto bytes = run.bytes.empty()
                           ? run.bytes
                           : run.bytes.subspan(done * kSectorBytes, count * kSectorBytes);
    write_media(
        run.device, log->now(),
        {.lba = run.lba + done, .sectors = static_cast<std::uint32_t>(count), .bytes = bytes},
        run.kind == HeldRun::Kind::zeroes);
    done += count;
  }
}

void LogStore::State::expect_nothing_held() {
  invariant(held.kind != HeldRun::Kind::bytes,
            "a drive must report each store write to the observer immediately");
  append_held();
}

void LogStore::media_written(model::DeviceId device, model::TimeNs at,
                             const model::MediaWrite& media) {
  State& s = *state_;
  const bool same_run =
      s.held.device == device && s.held.lba == media.lba && s.held.sectors == media.sectors;
  const bool zeroes = same_run && s.held.kind == State::HeldRun::Kind::zeroes;
  if (same_run) {
    s.held = {};
  } else {
    s.append_held();
  }
  s.write_media(device, at, media, zeroes);
  s.bound_the_index();
  s.checkpoint_when_due();
}

// ---- other events

void LogStore::submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) {
  state_->expect_nothing_held();
  state_->log->submitted(device, at, request);
  ++state_->events;
}

void LogStore::acknowledged(model::DeviceId device, const model::Completion& completion) {
  state_->expect_nothing_held();
  state_->log->acknowledged(device, completion);
  ++state_->events;
}

void LogStore::incident(model::DeviceId device, model::TimeNs at, std::string_view text) {
  // A write may be held at this point: a fault can fire after the drive has stored a write and
  // before the drive reports it.
  state_->log->incident(device, at, text);
  ++state_->events;
}

void LogStore::marked(model::TimeNs at, std::string_view text) {
  state_->expect_nothing_held();
  state_->log->marked(at, text);
  ++state_->events;
}

void LogStore::power_changed(model::TimeNs at, model::PowerState power) {
  state_->expect_nothing_held();
  state_->log->power_changed(at, power);
  ++state_->events;
}

// ---- the limit of the index

std::size_t LogStore::State::index_bytes() const {
  std::size_t bytes = 0;
  for (const ExtentIndex& index : indexes) bytes += index.memory_bytes();
  return bytes;
}

/// Moves fragmented chunks until the index is within its limit. If a full scan finds too few
/// fragmented chunks, also moves chunks with fewer extents. If no move reduces the index, the next
/// scan waits until the index has grown.
void LogStore::State::bound_the_index() {
  if (index_bytes() <= std::max(options.index_bytes_max, move_again_at)) return;
  for (std::size_t fragmented = kFragmentedExtents; fragmented >= 2; fragmented /= 4) {
    for (std::size_t turns = 0; turns <= indexes.size();) {
      if (index_bytes() <= options.index_bytes_max || log->error()) {
        move_again_at = 0;
        return;
      }
      hand_chunk = indexes[hand_device].find_fragmented(hand_chunk, fragmented);
      if (hand_chunk != ExtentIndex::kNoChunk) {
        move_chunk(static_cast<model::DeviceId>(hand_device), hand_chunk++);
        continue;
      }
      hand_chunk = 0;
      hand_device = (hand_device + 1) % indexes.size();
      ++turns;
    }
  }
  move_again_at = index_bytes() + options.index_bytes_max / kIndexBytesPerTry;
}

/// Moves the plain runs of a chunk, that is, all runs except those flagged as torn or unreadable.
/// Holes inside a plain run are written as zeroes.
void LogStore::State::move_chunk(model::DeviceId device, std::uint64_t chunk) {
  struct Run {
    std::uint64_t lba, end;
    std::size_t extents;
  };
  std::vector<Run> runs;
  bool joins = false;
  const std::uint64_t base = chunk * ExtentIndex::kChunkSectors;
  const std::uint64_t count =
      std::min(ExtentIndex::kChunkSectors, indexes[device].sectors() - base);
  indexes[device].visit(base, count,
                        [&](std::uint64_t lba, std::uint64_t sectors, ExtentLocation where) {
                          if (where.plain() && joins) {
                            runs.back().end = lba + sectors;
                            ++runs.back().extents;
                          } else if (where.plain()) {
                            runs.push_back({lba, lba + sectors, 1});
                          }
                          joins = where.plain();
                        });
  for (const Run& run : runs)
    if (run.extents > 1) move_run(device, run.lba, run.end - run.lba);
}

void LogStore::State::move_run(model::DeviceId device, std::uint64_t lba, std::uint64_t sectors) {
  std::vector<std::byte> data(sectors * kSectorBytes);
  if (auto read = media[device]->read(lba, data); !read) return log->fail_with(read.error());
  const auto moved = log->write_moved(device, lba, data);
  if (!moved) return;
  ++events;
  moved_bytes += data.size();
  apply_media(indexes[device], lba, static_cast<std::uint32_t>(sectors), *moved);
}

// ---- checkpoints

void LogStore::State::checkpoint_when_due() {
  const std::uint64_t grown = log->bytes() - last_checkpoint_at;
  if (grown >= options.checkpoint_log_bytes && grown >= 8 * index_bytes()) write_checkpoint();
}

void LogStore::State::write_checkpoint() {
  const auto payload = encode_checkpoint({events, log->last_at(), log->last_request()}, indexes);
  if (payload) log->write_checkpoint(*payload);
  last_checkpoint_at = log->bytes();
}

// ---- accessors

model::SectorStore* LogStore::store(model::DeviceId device) {
  return state_->media.at(device).get();
}
Result<void> LogStore::flush() {
  return state_->log->flush();
}
const std::optional<Error>& LogStore::error() const {
  return state_->log->error();
}
std::size_t LogStore::index_bytes() const {
  return state_->index_bytes();
}
std::uint64_t LogStore::log_bytes() const {
  return state_->log->bytes();
}
std::uint64_t LogStore::moved_bytes() const {
  return state_->moved_bytes;
}
std::uint64_t LogStore::events_read() const {
  return state_->events_read;
}
const ExtentIndex& LogStore::index(model::DeviceId device) const {
  return state_->indexes.at(device);
}

}  // namespace headcrash::record

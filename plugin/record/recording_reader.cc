// Reads recordings (recording.h, event.h). Before memory is allocated, every length is checked
// against the format's limits and the remaining size of the file. A reference must point to bytes
// before its event. Any invalid event ends the readable part.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "plugin/base/invariant.h"
#include "plugin/base/zeroes.h"
#include "plugin/media/host_reason.h"
#include "plugin/record/event_format.h"
#include "plugin/record/log_file.h"
#include "plugin/record/payload_index.h"
#include "plugin/record/recording.h"

namespace headcrash::record {
namespace {

constexpr std::size_t kReadBytes = 256 << 10;
/// read size after a skipped payload; usually enough for three event headers
constexpr std::size_t kReadAfterSkipBytes = 4 << 10;
constexpr const char* kNotOneOfOurs = "use a file written by `headcrash serve --record` or record=";

bool plausible_media(const EventHeader& header, std::uint64_t event_at,
                     std::uint64_t first_event_at) {
  const std::uint64_t data_bytes = std::uint64_t{header.sectors} * model::kSectorBytes;
  if (header.detail > static_cast<std::uint32_t>(model::MediaWrite::Outcome::corrupted) ||
      (header.flags & ~(kFlagBytesMask | kFlagMoved)) != 0)
    return false;
  const auto bytes = static_cast<Bytes>(header.flags & kFlagBytesMask);
  if (header.payload_bytes != (bytes == Bytes::carried ? data_bytes : 0)) return false;
  return bytes != Bytes::referred ||
         (header.bytes_at >= first_event_at && header.bytes_at < event_at &&
          data_bytes <= event_at - header.bytes_at);
}

bool plausible(const EventHeader& header, std::uint64_t event_at, std::uint64_t first_event_at) {
  if (header.at < 0 || header.at > kTimeMax || header.request > kRequestIdMax) return false;
  if (header.kind == kCheckpointKind) return true;
  const std::uint64_t data_bytes = std::uint64_t{header.sectors} * model::kSectorBytes;
  const auto op = static_cast<model::Op>(header.flags & kFlagOpMask);
  switch (header.kind) {
    case Kind::submit:
      return op <= model::Op::write_zeroes && (header.flags & ~(kFlagOpMask | kFlagFua)) == 0 &&
             (header.payload_bytes == 0 ||
              (op == model::Op::write && header.payload_bytes == data_bytes));
    case Kind::ack:
      return header.payload_bytes == 0 &&
             header.detail <= static_cast<std::uint32_t>(model::Status::device_failed);
    case Kind::media:
      return plausible_media(header, event_at, first_event_at);
    case Kind::mark:
    case Kind::fault:
      return true;
    case Kind::power:
      return header.payload_bytes == 0 && header.detail <= 1;
    case Kind::opened:
      return header.payload_bytes == 0;
  }
  return false;
}

Event event_of(const EventHeader& header, std::uint64_t event_at) {
  Event event;
  event.kind = header.kind;
  event.device = header.device;
  event.request = header.request;
  event.at = header.at;
  event.lba = header.lba;
  event.sectors = header.sectors;
  event.detail = header.detail;
  event.offset = event_at;
  event.checksum = header.header_crc;
  event.payload_bytes = header.payload_bytes;
  if (header.payload_bytes != 0) event.bytes_at = event_at + kEventHeaderBytes;
  if (header.kind == Kind::submit) {
    event.op = static_cast<model::Op>(header.flags & kFlagOpMask);
    event.fua = (header.flags & kFlagFua) != 0;
  }
  if (header.kind == Kind::media) {
    event.bytes = static_cast<Bytes>(header.flags & kFlagBytesMask);
    event.moved = (header.flags & kFlagMoved) != 0;
    if (event.bytes == Bytes::referred) event.bytes_at = header.bytes_at;
  }
  return event;
}

}  // namespace

struct RecordingReader::State {
  std::string path;
  int fd = -1;
  std::uint64_t file_bytes = 0;
  std::uint64_t first_event_at = 0;
  std::uint64_t offset = 0;       ///< file offset of the next unread byte
  std::uint64_t whole_bytes = 0;  ///< end of the last complete event
  bool ended = false;
  Tail tail = Tail::whole;
  RecordingHeader header;
  std::array<CheckpointSlot, 2> slots;
  std::vector<std::byte> buffer;
  std::uint64_t buffer_at = 0;  ///< file offset of the first byte in the buffer
  std::size_t read_bytes = kReadBytes;
  PayloadIndex payloads;  ///< payloads of the events read so far

  ~State() {
    if (fd >= 0) close(fd);
  }
  std::uint64_t remaining() const { return file_bytes - offset; }

  /// Reads the next bytes. REQUIRES: at least that many bytes remain in the file.
  Result<void> take(std::span<std::byte> into);
  void skip_bytes(std::uint64_t bytes);
  Result<std::optional<Event>> next_of_any_kind(PayloadUse use);
  std::optional<std::uint64_t> good_slot(const CheckpointSlot& slot) const;
};

Result<void> RecordingReader::State::take(std::span<std::byte> into) {
  while (!into.empty()) {
    if (offset >= buffer_at && offset - buffer_at < buffer.size()) {
      const std::size_t start = offset - buffer_at;
      const std::size_t run = std::min(into.size(), buffer.size() - start);
      std::memcpy(into.data(), buffer.data() + start, run);
      offset += run;
      into = into.subspan(run);
      continue;
    }
    if (into.size() >= kReadBytes) {  // a large payload bypasses the buffer
      TRY(read_exactly(fd, path, offset, into));
      offset += into.size();
      return {};
    }
    buffer.resize(std::min<std::uint64_t>(std::max(read_bytes, into.size()), remaining()));
    buffer_at = offset;
    if (auto got = read_exactly(fd, path, offset, buffer); !got) {
      buffer.clear();
      return got;
    }
    read_bytes = kReadBytes;
  }
  return {};
}

void RecordingReader::State::skip_bytes(std::uint64_t bytes) {
  offset += bytes;
  if (bytes > kReadAfterSkipBytes) read_bytes = kReadAfterSkipBytes;
}

Result<RecordingReader> RecordingReader::open(const std::filesystem::path& path) {
  auto state = std::make_unique<State>();
  state->path = path.string();
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (state->fd < 0 || fstat(state->fd, &status) != 0)
    return fail(path, "cannot be opened: " + media::host_reason(errno), kNotOneOfOurs);
  if (!S_ISREG(status.st_mode)) return fail(path, "is not a regular file", kNotOneOfOurs);
  state->file_bytes = static_cast<std::uint64_t>(status.st_size);

  std::array<unsigned char, kMagic.size()> magic = {};
  std::array<std::uint32_t, 2> sizes = {};
  if (state->remaining() < magic.size() || !state->take(writable_bytes_of(magic)) ||
      !std::equal(magic.begin(), magic.begin() + 5, kMagic.begin()))
    return fail(path, "is not a headcrash recording", kNotOneOfOurs);
  if (magic != kMagic)
    return fail(path,
                fmt::format("has format version {}, but this program supports {}", magic.back(),
                            kMagic.back()),
                "use the program that wrote it, or record again");
  if (state->file_bytes < kTextAt || !state->take(writable_bytes_of(sizes)) ||
      !state->take(writable_bytes_of(state->slots)) || sizes[0] > kHeaderTextBytesMax ||
      padded(sizes[0]) > state->remaining())
    return fail(path, "the header is damaged", kNotOneOfOurs);
  std::string text(padded(sizes[0]), '\0');
  if (!state->take(std::as_writable_bytes(std::span(text))))
    return fail(path, "the header cannot be read", "check its file system");
  const bool padding = base::all_zero(std::as_bytes(std::span(text)).subspan(sizes[0]));
  text.resize(sizes[0]);
  if (!padding || crc32c(std::as_bytes(std::span(text))) != sizes[1])
    return fail(path, "the header is damaged", kNotOneOfOurs);
  auto header = parse_header_text(text);
  if (!header)
    return fail(path, "the header lacks a key or has an invalid value",
                "use the program that wrote it");
  state->header = std::move(*header);
  state->first_event_at = state->whole_bytes = state->offset;
  return RecordingReader(std::move(state));
}

RecordingReader::RecordingReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingReader::RecordingReader(RecordingReader&&) noexcept = default;
RecordingReader& RecordingReader::operator=(RecordingReader&&) noexcept = default;
RecordingReader::~RecordingReader() = default;

const RecordingHeader& RecordingReader::header() const {
  return state_->header;
}
std::uint64_t RecordingReader::truncated_bytes() const {
  return state_->file_bytes - state_->whole_bytes;
}
std::uint64_t RecordingReader::whole_bytes() const {
  return state_->whole_bytes;
}
Tail RecordingReader::tail() const {
  return state_->tail;
}

std::optional<Error> RecordingReader::tail_error() const {
  const State& s = *state_;
  if (s.tail == Tail::whole) return std::nullopt;
  const bool incomplete = s.tail == Tail::incomplete;
  return Error{
      s.path,
      fmt::format("the event at offset {} {}; the last {} bytes are ignored", s.whole_bytes,
                  incomplete ? "is incomplete" : "is damaged", truncated_bytes()),
      incomplete
          ? "the server was killed or the disk was full; earlier events are intact"
          : fmt::format("restore the file, or keep the events before it: truncate -s {} FILE",
                        s.whole_bytes)};
}

Result<std::optional<Event>> RecordingReader::State::next_of_any_kind(PayloadUse use) {
  if (ended || remaining() == 0) {
    ended = true;
    return std::nullopt;
  }
  ended = true;  // false again once the event is complete
  tail = Tail::incomplete;
  const std::uint64_t event_at = offset;
  EventHeader head;
  if (remaining() < sizeof(head)) return std::nullopt;
  TRY(take(writable_bytes_of(head)));
  const bool sound = head.header_crc == crc_of(head) && head.payload_bytes <= kPayloadBytesMax &&
                     plausible(head, event_at, first_event_at);
  if (!sound) {
    tail = Tail::damaged;
    return std::nullopt;
  }
  const std::uint64_t payload_bytes = padded(head.payload_bytes);
  if (remaining() < payload_bytes) return std::nullopt;
  Event event = event_of(head, event_at);
  if (use == PayloadUse::load || head.kind == Kind::mark || head.kind == Kind::fault) {
    event.payload.resize(payload_bytes);
    TRY(take(event.payload));
    const bool padding = base::all_zero(std::span(event.payload).subspan(head.payload_bytes));
    event.payload.resize(head.payload_bytes);
    if (!padding || crc32c(event.payload) != head.payload_crc) {
      tail = Tail::damaged;
      return std::nullopt;
    }
  } else {
    skip_bytes(payload_bytes);
  }
  if (head.payload_bytes != 0 && head.kind != kCheckpointKind)
    payloads.add({event_at + kEventHeaderBytes, head.payload_bytes, head.payload_crc},
                 !event.payload.empty());
  whole_bytes = offset;
  ended = false;
  tail = Tail::whole;
  return event;
}

Result<std::optional<Event>> RecordingReader::next(PayloadUse use) {
  for (;;) {
    auto event = state_->next_of_any_kind(use);
    if (!event || !*event || (*event)->kind != kCheckpointKind) return event;
  }
}

Result<void> RecordingReader::read_bytes(const Event& event, std::uint64_t skip,
                                         std::span<std::byte> into) const {
  invariant(event.bytes_at != 0, "bytes must be read only from events that contain bytes");
  return read_at(event.bytes_at + skip * model::kSectorBytes, into);
}

Result<void> RecordingReader::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  return state_->payloads.read(state_->fd, state_->path, offset, into);
}

std::optional<std::uint64_t> RecordingReader::State::good_slot(const CheckpointSlot& slot) const {
  if (slot.generation == 0 || slot.crc != crc_of(slot) || slot.offset < first_event_at ||
      slot.offset > file_bytes || slot.end > file_bytes || slot.end < slot.offset)
    return std::nullopt;
  return slot.offset;
}

std::uint64_t RecordingReader::checkpoint_generation() const {
  return std::max(state_->slots[0].generation, state_->slots[1].generation);
}

Result<std::optional<std::vector<std::byte>>> RecordingReader::skip_to_checkpoint() {
  State& s = *state_;
  const std::uint64_t start = s.offset;
  std::array<CheckpointSlot, 2> slots = s.slots;
  if (slots[0].generation < slots[1].generation) std::swap(slots[0], slots[1]);
  for (const CheckpointSlot& slot : slots) {
    const auto offset = s.good_slot(slot);
    if (!offset) continue;
    s.offset = s.whole_bytes = *offset;
    TRY(auto event, s.next_of_any_kind(PayloadUse::load));
    if (event && event->kind == kCheckpointKind) return std::move(event->payload);
    s.ended = false;
    s.tail = Tail::whole;
  }
  s.offset = s.whole_bytes = start;
  return std::nullopt;
}

}  // namespace headcrash::record

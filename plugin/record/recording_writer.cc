// Appends events to a recording (recording.h, event.h).
//
// The payload of a write is appended with its SUBMIT. The source ring keeps the payload's location,
// and MEDIA events of the same request refer to that location. If the ring no longer has the
// request, or if the bytes changed before they reached the medium, the MEDIA event carries the
// bytes itself.
#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plugin/model/core/device.h"
#include "plugin/record/event_format.h"
#include "plugin/record/log_file.h"
#include "plugin/record/recording.h"

namespace headcrash::record {

// Maps the latest requests to the locations of their bytes in the log, so that a MEDIA event can
// refer to the bytes instead of repeating them.
//
// A fixed-size ring indexed by request id (ids ascend). An entry cannot simply be kept until its
// write reaches the medium: if a newer write replaces the data in the drive's cache, the older
// write never reaches the medium. If a request's entry has been overwritten, the MEDIA event
// carries the bytes.

class SourceRing {
 public:
  /// Exceeds 16384, the number of 4 KiB writes that a cache of 64 MB can hold. The entries take 5
  /// MiB.
  static constexpr std::size_t kRequests = 1 << 17;

  struct Source {
    model::RequestId id = 0;
    std::uint64_t bytes_at = 0;  ///< 0 if there are no bytes
    std::uint64_t lba = 0;
    std::uint32_t sectors = 0;
    model::DeviceId device = 0;
    model::Op op = model::Op::read;

    bool covers(std::uint64_t first, std::uint32_t count) const {
      return first >= lba && count <= sectors && first - lba <= sectors - count;
    }
  };

  SourceRing() : sources_(kRequests) {}
  void add(const Source& source) { sources_[source.id % kRequests] = source; }
  const Source* find(model::DeviceId device, model::RequestId id) const {
    const Source& source = sources_[id % kRequests];
    return id != 0 && source.id == id && source.device == device ? &source : nullptr;
  }

 private:
  std::vector<Source> sources_;
};

namespace {
constexpr std::size_t kDurableRequestsMax = 4096;
}  // namespace

struct RecordingWriter::State {
  std::unique_ptr<LogFile> file;
  SourceRing sources;
  /// True if the payload of at least one write was recorded, so the recording contains data and not
  /// only timestamps.
  bool has_data = false;
  /// The latest flushes and FUA writes in flight, at most kDurableRequestsMax. If there are more,
  /// the oldest one is dropped, and its acknowledgement does not write the log's buffer to the
  /// kernel.
  std::vector<model::RequestId> durable_requests;
  model::TimeNs time_base = 0;
  model::RequestId request_base = 0;
  model::TimeNs last_at = 0;
  model::RequestId last_request = 0;
  std::uint64_t generation = 0;

  /// Returns the offset of the event's payload; nullopt if the log has failed.
  std::optional<std::uint64_t> append_event(EventHeader header, std::span<const std::byte> payload);
};

std::optional<std::uint64_t> RecordingWriter::State::append_event(
    EventHeader header, std::span<const std::byte> payload) {
  if (file->error()) return std::nullopt;
  if (payload.size() > kPayloadBytesMax) {
    file->fail_with(
        {file->path(), "an event is larger than a recording can hold", "use smaller requests"});
    return std::nullopt;
  }
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.payload_crc = crc32c(payload);
  header.at += time_base;
  last_at = std::max(last_at, header.at);
  if (header.request != 0) {
    header.request += request_base;
    last_request = std::max(last_request, header.request);
  }
  header.header_crc = crc_of(header);
  const std::uint64_t payload_at = file->size() + sizeof(header);
  if (!file->append(bytes_of(header), payload)) return std::nullopt;
  return payload_at;
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::filesystem::path& path,
                                                                 const RecordingHeader& header) {
  const std::string text = header_text(header);
  if (text.size() > kHeaderTextBytesMax)
    return fail(path, "the description of the devices is too long", "use shorter device names");
  TRY(auto file, LogFile::create(path));
  const auto text_bytes = std::as_bytes(std::span(text));
  const std::array<std::uint32_t, 2> sizes = {static_cast<std::uint32_t>(text.size()),
                                              crc32c(text_bytes)};
  const std::array<CheckpointSlot, 2> slots = {};
  file->append(bytes_of(kMagic), bytes_of(sizes));
  file->append(bytes_of(slots), text_bytes);
  if (!file->flush()) {  // removes the file, because a recording without its header is useless
    std::error_code none;
    std::filesystem::remove(path, none);
    return tl::unexpected<Error>(*file->error());
  }
  auto state = std::make_unique<State>();
  state->file = std::move(file);
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(state)));
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::resume(std::unique_ptr<LogFile> file,
                                                                 const Resume& resume) {
  if (file->size() != resume.bytes) TRY(file->truncate(resume.bytes));
  auto state = std::make_unique<State>();
  state->file = std::move(file);
  state->time_base = state->last_at = resume.last_at;
  state->request_base = state->last_request = resume.last_request;
  state->generation = resume.checkpoint_generation;
  state->append_event({.kind = Kind::opened}, {});
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(state)));
}

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingWriter::~RecordingWriter() = default;

void RecordingWriter::submitted(model::DeviceId device, model::TimeNs at,
                                const model::Request& request) {
  State& s = *state_;
  const auto flags = static_cast<unsigned>(request.op) | (request.fua ? kFlagFua : 0U);
  const auto data = request.op == model::Op::write ? request.data : std::span<const std::byte>();
  if (request.op == model::Op::flush || request.fua) {
    if (s.durable_requests.size() == kDurableRequestsMax)
      s.durable_requests.erase(s.durable_requests.begin());
    s.durable_requests.push_back(request.id);
  }
  const auto payload_at = s.append_event({.kind = Kind::submit,
                                          .flags = static_cast<std::uint8_t>(flags),
                                          .device = device,
                                          .request = request.id,
                                          .at = at,
                                          .lba = request.lba,
                                          .sectors = request.sectors},
                                         data);
  if (!payload_at || request.op == model::Op::read || request.op == model::Op::flush) return;
  s.has_data |= !data.empty();
  s.sources.add({request.id, data.empty() ? 0 : *payload_at, request.lba, request.sectors, device,
                 request.op});
}

void RecordingWriter::acknowledged(model::DeviceId device, const model::Completion& completion) {
  State& s = *state_;
  s.append_event({.kind = Kind::ack,
                  .device = device,
                  .request = completion.id,
                  .at = completion.completed_at,
                  .detail = static_cast<std::uint32_t>(completion.status)},
                 {});
  const auto durable =
      std::find(s.durable_requests.begin(), s.durable_requests.end(), completion.id);
  if (durable == s.durable_requests.end()) return;
  s.durable_requests.erase(durable);
  s.file->flush();
}

std::optional<MediaBytes> RecordingWriter::write_media(model::DeviceId device, model::TimeNs at,
                                                       const model::MediaWrite& media,
                                                       bool zeroes) {
  State& s = *state_;
  using Outcome = model::MediaWrite::Outcome;
  const bool as_sent = media.outcome == Outcome::written;
  const SourceRing::Source* source = s.sources.find(device, media.source);
  if (source != nullptr && !source->covers(media.lba, media.sectors)) source = nullptr;

  Bytes bytes = Bytes::none;
  std::uint64_t bytes_at = 0;
  if (as_sent && source != nullptr && source->bytes_at != 0) {
    bytes = Bytes::referred;
    bytes_at = source->bytes_at + (media.lba - source->lba) * model::kSectorBytes;
  } else if (!media.bytes.empty()) {
    bytes = Bytes::carried;
  } else if (zeroes || (as_sent && source != nullptr && source->op != model::Op::write) ||
             (as_sent && source == nullptr && s.has_data)) {
    bytes = Bytes::zeroes;
  }
  const auto payload_at =
      s.append_event({.kind = Kind::media,
                      .flags = static_cast<std::uint8_t>(bytes),
                      .device = device,
                      .request = media.source,
                      .at = at,
                      .lba = media.lba,
                      .sectors = media.sectors,
                      .detail = static_cast<std::uint32_t>(media.outcome),
                      .bytes_at = bytes_at},
                     bytes == Bytes::carried ? media.bytes : std::span<const std::byte>());
  if (!payload_at) return std::nullopt;
  return MediaBytes{bytes, media.outcome, bytes == Bytes::carried ? *payload_at : bytes_at};
}

void RecordingWriter::media_written(model::DeviceId device, model::TimeNs at,
                                    const model::MediaWrite& media) {
  write_media(device, at, media, false);
}

std::optional<MediaBytes> RecordingWriter::write_moved(model::DeviceId device, std::uint64_t lba,
                                                       std::span<const std::byte> data) {
  State& s = *state_;
  const auto flags = static_cast<std::uint8_t>(Bytes::carried) | kFlagMoved;
  const auto payload_at =
      s.append_event({.kind = Kind::media,
                      .flags = static_cast<std::uint8_t>(flags),
                      .device = device,
                      .at = now(),
                      .lba = lba,
                      .sectors = static_cast<std::uint32_t>(data.size() / model::kSectorBytes)},
                     data);
  if (!payload_at) return std::nullopt;
  return MediaBytes{Bytes::carried, model::MediaWrite::Outcome::written, *payload_at};
}

void RecordingWriter::write_checkpoint(std::span<const std::byte> media) {
  State& s = *state_;
  const std::uint64_t offset = s.file->size();
  if (!s.append_event({.kind = kCheckpointKind, .at = now()}, media)) return;
  if (!s.file->flush()) return;
  CheckpointSlot slot{.offset = offset, .generation = ++s.generation, .end = s.file->size()};
  slot.crc = crc_of(slot);
  s.file->overwrite(kSlotsAt + s.generation % 2 * sizeof(slot), bytes_of(slot));
}

void RecordingWriter::incident(model::DeviceId device, model::TimeNs at, std::string_view text) {
  state_->append_event({.kind = Kind::fault, .device = device, .at = at},
                       std::as_bytes(std::span(text)));
}

void RecordingWriter::marked(model::TimeNs at, std::string_view text) {
  state_->append_event({.kind = Kind::mark, .at = at}, std::as_bytes(std::span(text)));
}

void RecordingWriter::power_changed(model::TimeNs at, model::PowerState state) {
  state_->append_event(
      {.kind = Kind::power, .at = at, .detail = state == model::PowerState::on ? 1U : 0U}, {});
  state_->file->flush();
}

Result<void> RecordingWriter::flush() {
  state_->file->flush();
  if (error()) return tl::unexpected<Error>(*error());
  return {};
}

Result<void> RecordingWriter::close() {
  return state_->file->close();
}

const std::optional<Error>& RecordingWriter::error() const {
  return state_->file->error();
}
std::uint64_t RecordingWriter::bytes() const {
  return state_->file->size();
}
Result<void> RecordingWriter::read(std::uint64_t offset, std::span<std::byte> into) const {
  return state_->file->read(offset, into);
}
void RecordingWriter::fail_with(Error error) {
  state_->file->fail_with(std::move(error));
}
model::TimeNs RecordingWriter::last_at() const {
  return state_->last_at;
}
model::TimeNs RecordingWriter::now() const {
  return state_->last_at - state_->time_base;
}
model::RequestId RecordingWriter::last_request() const {
  return state_->last_request;
}

}  // namespace headcrash::record

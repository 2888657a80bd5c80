// Appends events to a recording (recording.h, event.h). Small events gather in a buffer; a payload that does
// not fit goes from the caller's memory to the kernel without a second copy. A power change empties the
// buffer, because that is when people look. After the first host error nothing more is written: the file ends
// in a broken event at worst, which readers can tell.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plugin/record/crc32c.h"
#include "plugin/record/event_format.h"
#include "plugin/record/recording.h"

namespace headcrash::record {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

std::string header_text(const RecordingHeader& header) {
  nlohmann::json devices = nlohmann::json::array();
  for (const RecordedDevice& device : header.devices)
    devices.push_back({{"name", device.name},
                       {"profile", device.profile},
                       {"sectors", device.sectors},
                       {"physical_sector_sectors", device.physical_sector_sectors}});
  const nlohmann::json text = {{"seed", header.seed}, {"devices", devices}};
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

struct RecordingWriter::State {
  std::string path;
  int fd = -1;
  std::vector<std::byte> buffer;
  std::optional<Error> error;

  ~State() {
    if (fd >= 0) close(fd);
  }
  void to_kernel(std::span<const std::byte> bytes);
  void empty_buffer();
  void append(std::span<const std::byte> bytes);
  void append_event(EventHeader header, std::span<const std::byte> payload);
};

void RecordingWriter::State::to_kernel(std::span<const std::byte> bytes) {
  while (!bytes.empty() && !error) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      error = Error{path, "writing the recording failed: " + std::generic_category().message(errno),
                    "give the recording a file system with room and run again"};
    }
  }
}

void RecordingWriter::State::empty_buffer() {
  to_kernel(buffer);
  buffer.clear();
}

void RecordingWriter::State::append(std::span<const std::byte> bytes) {
  const bool past_the_buffer = bytes.size() > kBufferBytes / 4;
  if (past_the_buffer || bytes.size() > kBufferBytes - buffer.size()) empty_buffer();
  if (past_the_buffer) return to_kernel(bytes);
  buffer.insert(buffer.end(), bytes.begin(), bytes.end());
}

void RecordingWriter::State::append_event(EventHeader header, std::span<const std::byte> payload) {
  if (error) return;
  if (payload.size() > kPayloadBytesMax) {
    error = Error{path, "an event is larger than a recording can hold", "use smaller requests"};
    return;
  }
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  const auto head = encode(header);
  const std::uint32_t crc = crc32c(payload, crc32c(head));
  append(head);
  append(payload);
  append(std::as_bytes(std::span(&crc, 1)));
}

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const std::filesystem::path& path,
                                                                 const RecordingHeader& header) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST)
    return fail(path, "exists already", "delete it or give the recording another name");
  if (fd < 0)
    return fail(path, "cannot be made: " + std::generic_category().message(errno),
                "check the folder and its permissions");
  auto state = std::make_unique<State>();
  state->path = path.string();
  state->fd = fd;
  state->buffer.reserve(kBufferBytes);
  const std::string text = header_text(header);
  const auto text_bytes = std::as_bytes(std::span(text));
  const std::array<std::uint32_t, 2> sizes = {static_cast<std::uint32_t>(text.size()), crc32c(text_bytes)};
  state->append(std::as_bytes(std::span(kMagic)));
  state->append(std::as_bytes(std::span(sizes)));
  state->append(text_bytes);
  state->empty_buffer();
  if (state->error) return tl::unexpected<Error>(*state->error);
  return std::unique_ptr<RecordingWriter>(new RecordingWriter(std::move(state)));
}

RecordingWriter::RecordingWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordingWriter::~RecordingWriter() {
  state_->empty_buffer();
}

void RecordingWriter::submitted(model::DeviceId device, model::TimeNs at, const model::Request& request) {
  const auto flags = static_cast<unsigned>(request.op) | (request.fua ? kFlagFua : 0U);
  state_->append_event({.kind = Kind::submit,
                        .flags = static_cast<std::uint8_t>(flags),
                        .device = device,
                        .request = request.id,
                        .at = at,
                        .lba = request.lba,
                        .sectors = request.sectors},
                       request.op == model::Op::write ? request.data : std::span<const std::byte>());
}

void RecordingWriter::acknowledged(model::DeviceId device, const model::Completion& completion) {
  state_->append_event({.kind = Kind::ack,
                        .device = device,
                        .request = completion.id,
                        .at = completion.completed_at,
                        .detail = static_cast<std::uint32_t>(completion.status)},
                       {});
}

void RecordingWriter::media_written(model::DeviceId device, model::TimeNs at,
                                    const model::MediaWrite& media) {
  const bool torn = media.outcome != model::MediaWrite::Outcome::written;
  state_->append_event({.kind = Kind::media,
                        .device = device,
                        .request = media.source,
                        .at = at,
                        .lba = media.lba,
                        .sectors = media.sectors,
                        .detail = static_cast<std::uint32_t>(media.outcome)},
                       torn ? media.bytes : std::span<const std::byte>());
}

void RecordingWriter::incident(model::DeviceId device, model::TimeNs at, std::string_view text) {
  state_->append_event({.kind = Kind::fault, .device = device, .at = at}, std::as_bytes(std::span(text)));
}

void RecordingWriter::marked(model::TimeNs at, std::string_view text) {
  state_->append_event({.kind = Kind::mark, .at = at}, std::as_bytes(std::span(text)));
}

void RecordingWriter::power_changed(model::TimeNs at, model::PowerState state) {
  state_->append_event({.kind = Kind::power, .at = at, .detail = state == model::PowerState::on ? 1U : 0U},
                       {});
  state_->empty_buffer();
}

Result<void> RecordingWriter::flush() {
  state_->empty_buffer();
  if (state_->error) return tl::unexpected<Error>(*state_->error);
  return {};
}

const std::optional<Error>& RecordingWriter::error() const {
  return state_->error;
}

}  // namespace headcrash::record

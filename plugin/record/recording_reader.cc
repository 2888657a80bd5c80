// Reads recordings (recording.h, event.h). Every length is checked against the limits of the format and
// against what is left of the file before memory is taken for it; an event that is broken in any way ends the
// readable part.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "plugin/record/crc32c.h"
#include "plugin/record/event_format.h"
#include "plugin/record/recording.h"

namespace headcrash::record {
namespace {

using nlohmann::json;

constexpr std::size_t kReadBytes = 256 << 10;

bool plausible(const EventHeader& header) {
  const std::uint64_t data_bytes = std::uint64_t{header.sectors} * model::kSectorBytes;
  const auto op = static_cast<model::Op>(header.flags & kFlagOpMask);
  switch (header.kind) {
    case Kind::submit:
      return op <= model::Op::write_zeroes && (header.flags & ~(kFlagOpMask | kFlagFua)) == 0 &&
             (header.payload_bytes == 0 || (op == model::Op::write && header.payload_bytes == data_bytes));
    case Kind::ack:
      return header.payload_bytes == 0 &&
             header.detail <= static_cast<std::uint32_t>(model::Status::store_error);
    case Kind::media:
      return header.detail <= 1 && (header.payload_bytes == 0 || header.payload_bytes == data_bytes);
    case Kind::mark:
    case Kind::fault:
      return true;
    case Kind::power:
      return header.payload_bytes == 0 && header.detail <= 1;
  }
  return false;
}

template <typename Integer>
bool take(const json& object, const char* key, Integer& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_unsigned()) return false;
  const auto wide = found->get<std::uint64_t>();
  value = static_cast<Integer>(wide);
  return value == wide;
}

bool take(const json& object, const char* key, std::string& value) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return false;
  value = found->get<std::string>();
  return true;
}

std::optional<RecordingHeader> parse_header(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("devices") || !object["devices"].is_array())
    return std::nullopt;
  RecordingHeader header;
  if (!take(object, "seed", header.seed)) return std::nullopt;
  for (const json& entry : object["devices"]) {
    RecordedDevice device;
    if (!entry.is_object() || !take(entry, "name", device.name) || !take(entry, "profile", device.profile) ||
        !take(entry, "sectors", device.sectors) ||
        !take(entry, "physical_sector_sectors", device.physical_sector_sectors))
      return std::nullopt;
    header.devices.push_back(std::move(device));
  }
  return header;
}

}  // namespace

struct RecordingReader::State {
  std::string path;
  int fd = -1;
  std::uint64_t file_bytes = 0;
  std::uint64_t offset = 0;       ///< of the next unread byte
  std::uint64_t whole_bytes = 0;  ///< up to the end of the last whole event
  bool ended = false;
  std::optional<Error> error;
  RecordingHeader header;
  std::vector<std::byte> buffer;
  std::size_t buffer_at = 0;

  ~State() {
    if (fd >= 0) close(fd);
  }
  std::uint64_t remaining() const { return file_bytes - offset; }

  /// Fills `into` from the file; false at a host error or when the file has shrunk.
  bool take(std::span<std::byte> into);
  bool take_from_kernel(std::span<std::byte> into, std::size_t& got);
};

bool RecordingReader::State::take_from_kernel(std::span<std::byte> into, std::size_t& got) {
  got = 0;
  while (got < into.size()) {
    const ssize_t n = ::read(fd, into.data() + got, into.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = Error{path, "reading failed: " + std::generic_category().message(errno), ""};
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  return !error;
}

bool RecordingReader::State::take(std::span<std::byte> into) {
  while (!into.empty()) {
    const std::size_t run = std::min(into.size(), buffer.size() - buffer_at);
    if (run > 0) {
      std::memcpy(into.data(), buffer.data() + buffer_at, run);
      buffer_at += run;
      offset += run;
      into = into.subspan(run);
      continue;
    }
    std::size_t got = 0;
    buffer.resize(kReadBytes);
    const bool readable = take_from_kernel(buffer, got);
    buffer.resize(got);
    buffer_at = 0;
    if (!readable || got == 0) return false;
  }
  return true;
}

Result<RecordingReader> RecordingReader::open(const std::filesystem::path& path) {
  constexpr const char* kRemedy = "give a file that was written with record=";
  auto state = std::make_unique<State>();
  state->path = path.string();
  state->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (state->fd < 0 || fstat(state->fd, &status) != 0)
    return fail(path, "cannot be opened: " + std::generic_category().message(errno), kRemedy);
  if (!S_ISREG(status.st_mode)) return fail(path, "is not a regular file", kRemedy);
  state->file_bytes = static_cast<std::uint64_t>(status.st_size);

  std::array<unsigned char, kMagic.size()> magic = {};
  std::array<std::uint32_t, 2> sizes = {};
  if (!state->take(std::as_writable_bytes(std::span(magic))) ||
      !std::equal(magic.begin(), magic.begin() + 5, kMagic.begin()))
    return fail(path, "is not a headcrash recording", kRemedy);
  if (magic != kMagic)
    return fail(path, "has a format version that this program does not know",
                "use the program that wrote it");
  std::string text;
  if (!state->take(std::as_writable_bytes(std::span(sizes))) || sizes[0] > kHeaderTextBytesMax ||
      sizes[0] > state->remaining())
    return fail(path, "the header is broken", kRemedy);
  text.resize(sizes[0]);
  if (!state->take(std::as_writable_bytes(std::span(text))) ||
      crc32c(std::as_bytes(std::span(text))) != sizes[1])
    return fail(path, "the header is broken", kRemedy);
  auto header = parse_header(text);
  if (!header) return fail(path, "the header lacks a key", "use the program that wrote it");
  state->header = std::move(*header);
  state->whole_bytes = state->offset;
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

Result<std::optional<Event>> RecordingReader::next() {
  State& state = *state_;
  if (state.ended) return std::nullopt;
  state.ended = true;  // until a whole event has been seen
  std::array<std::byte, kEventHeaderBytes> head;
  if (state.remaining() < head.size() + kChecksumBytes) return std::nullopt;
  if (!state.take(head))
    return state.error ? Result<std::optional<Event>>(tl::unexpected(*state.error)) : std::nullopt;
  const EventHeader header = decode(head);
  if (header.payload_bytes > kPayloadBytesMax || state.remaining() < header.payload_bytes + kChecksumBytes ||
      !plausible(header))
    return std::nullopt;
  Event event;
  event.payload.resize(header.payload_bytes);
  std::uint32_t crc = 0;
  if (!state.take(event.payload) || !state.take(std::as_writable_bytes(std::span(&crc, 1))))
    return state.error ? Result<std::optional<Event>>(tl::unexpected(*state.error)) : std::nullopt;
  if (crc != crc32c(event.payload, crc32c(head))) return std::nullopt;
  event.kind = header.kind;
  event.device = header.device;
  event.request = header.request;
  event.at = header.at;
  event.lba = header.lba;
  event.sectors = header.sectors;
  event.detail = header.detail;
  if (header.kind == Kind::submit) {
    event.op = static_cast<model::Op>(header.flags & kFlagOpMask);
    event.fua = (header.flags & kFlagFua) != 0;
  }
  state.whole_bytes = state.offset;
  state.ended = false;
  return event;
}

}  // namespace headcrash::record

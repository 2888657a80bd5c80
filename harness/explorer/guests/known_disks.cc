// Reads the recording and the previous contents of its disks (known_disks.h).
#include "harness/explorer/guests/known_disks.h"

#include <algorithm>

#include "plugin/states/state_image.h"

namespace headcrash::explorer {
namespace {

/// Maximum number of bytes to read from each write. A longer write is identified by its beginning.
constexpr std::size_t kDescribedBytes = 256 << 10;

using states::RecordedWrite;
using states::RunHistory;
using Image = std::shared_ptr<const states::StateImage>;

Image image_at_end(const RunHistory& run, model::DeviceId device) {
  auto made = run.image({.device = device, .event = run.events()}, device);
  return made ? std::make_shared<const states::StateImage>(std::move(*made)) : nullptr;
}

/// Returns the disk's contents before the recording; null if unknown. For an array, these are the
/// contents that the host had written to the array.
Image image_before(const RunHistory& run, model::DeviceId device) {
  if (auto image = run.base_image(device)) return image;
  if (!run.header().base || run.header().devices[device].medium) return nullptr;
  const auto base = RunHistory::load(run.path().parent_path() / run.header().base->recording);
  return base ? image_at_end(**base, device) : nullptr;
}

ReadSectors reader_of(Image image, std::string path) {
  return [image = std::move(image), path = std::move(path)](
             std::uint64_t lba, std::span<std::byte> into) -> Result<void> {
    if (!image || lba + into.size() / model::kSectorBytes > image->sectors())
      return fail(path, "does not contain the requested sectors");
    return image->read(lba, into);
  };
}

Result<void> tell(ExtHistory& history, const RunHistory& run, model::DeviceId device,
                  const record::RecordingReader& reader) {
  for (const RecordedWrite& write : run.writes(device))
    history.will_write(write.lba, write.sectors);
  for (const RecordedWrite& write : run.writes(device)) {
    if (write.op != model::Op::write) {
      history.zero(write.lba, write.sectors);
    } else if (write.bytes_at != 0) {
      TRY(const auto data, described_bytes(reader, write.bytes_at, write.sectors));
      history.write(write.submitted_event, write.lba, data);
    }
  }
  return {};
}

}  // namespace

Result<std::vector<std::byte>> described_bytes(const record::RecordingReader& reader,
                                               std::uint64_t bytes_at, std::uint32_t sectors) {
  std::vector<std::byte> bytes(
      std::min<std::size_t>(std::size_t{sectors} * model::kSectorBytes, kDescribedBytes));
  TRY(reader.read_at(bytes_at, bytes));
  return bytes;
}

Result<KnownDisks> KnownDisks::read(const RunHistory& run, std::string_view type,
                                    const std::vector<model::DeviceId>& devices) {
  TRY(const auto reader, record::RecordingReader::open(run.path()));
  KnownDisks known;
  for (const model::DeviceId device : devices) {
    const Image before = image_before(run, device);
    // If the contents before the recording are unknown, assume that the disk was formatted during
    // the recording, and read the layout from the final contents.
    Disk disk{
        DiskMap::read(std::string(type),
                      reader_of(before ? before : image_at_end(run, device), run.path().string())),
        std::nullopt};
    if (disk.map.ext()) {
      disk.history.emplace(*disk.map.ext(), reader_of(before, run.path().string()));
      TRY(tell(*disk.history, run, device, reader));
    }
    known.disks_.emplace(device, std::move(disk));
  }
  return known;
}

KnownDisk KnownDisks::at(model::DeviceId device, std::uint64_t submitted_event) const {
  const Disk& disk = disks_.at(device);
  return {&disk.map, disk.history ? &*disk.history : nullptr, submitted_event};
}

std::string KnownDisks::type() const {
  for (const auto& [device, disk] : disks_)
    if (!disk.map.type().empty()) return disk.map.type();
  return {};
}

}  // namespace headcrash::explorer

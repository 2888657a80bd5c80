#include "plugin/record/media_image.h"

#include <fmt/core.h>

#include <algorithm>

namespace headcrash::record {
namespace {

using model::kSectorBytes;

/// Checks that the recording has this device, and that the device's medium fits into a store of
/// `sectors` sectors.
Result<void> check_device(const std::filesystem::path& path, const RecordingHeader& header,
                          model::DeviceId device, std::uint64_t sectors) {
  if (device >= header.devices.size())
    return fail(
        path,
        fmt::format("has {} devices, but device {} is requested", header.devices.size(), device),
        "`headcrash recording info` lists them");
  if (!header.media)
    return fail(path, header.provenance() + " and has no MEDIA events",
                "use a state that is based on writes (w...)");
  if (header.devices[device].sectors > sectors)
    return fail(path,
                fmt::format("the device has {} sectors, but the image has {}",
                            header.devices[device].sectors, sectors),
                "use a larger image");
  return {};
}

/// Returns the medium's index after all events up to the given point.
Result<ExtentIndex> follow(RecordingReader& reader, const std::filesystem::path& path,
                           model::DeviceId device, const Until& until, MediaImage& image) {
  const std::uint64_t sectors = reader.header().devices[device].sectors;
  ExtentIndex index(sectors);
  for (std::uint64_t events = 0; !until.events || events < *until.events; ++events) {
    TRY(auto event, reader.next(PayloadUse::skip));
    if (!event || (until.at && event->at > *until.at)) break;
    const Event& e = *event;
    image.at = e.at;
    if (e.kind != Kind::media || e.device != device) continue;
    if (e.lba > sectors || e.sectors > sectors - e.lba)
      return fail(path,
                  fmt::format("the MEDIA event at offset {} extends beyond the device's {} sectors",
                              e.offset, sectors),
                  "the recording is damaged: restore it");
    if (!e.moved) ++image.media_events;
    apply_media(index, e.lba, e.sectors, media_bytes(e));
  }
  return index;
}

Result<void> copy(const RecordingReader& reader, std::uint64_t lba, std::uint64_t count,
                  ExtentLocation where, model::SectorStore& into) {
  if (where.unknown())
    return fail("recording", fmt::format("has no data for sector {}", lba),
                "make a recording that includes the data");
  if (where.offset() == 0) {
    if (where.unreadable()) return {};
    return into.write_zeroes(lba, count);
  }
  std::vector<std::byte> bytes(count * kSectorBytes);  // at most one index chunk: 1 MiB
  TRY(reader.read_at(where.offset(), bytes));
  return into.write(lba, bytes);
}

}  // namespace

Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  const Until& until, model::SectorStore& into) {
  TRY(auto reader, RecordingReader::open(recording));
  TRY(check_device(recording, reader.header(), device, into.sectors()));
  MediaImage image;
  TRY(const auto index, follow(reader, recording, device, until, image));
  image.truncated_bytes = reader.tail() == Tail::whole ? 0 : reader.truncated_bytes();
  Result<void> copied;
  index.visit(0, index.sectors(),
              [&](std::uint64_t lba, std::uint64_t count, ExtentLocation where) {
                if (!copied) return;
                image.sectors += count;
                if (where.torn()) image.torn_sectors += count;
                if (where.unreadable()) image.unreadable_sectors += count;
                copied = copy(reader, lba, count, where, into);
              });
  TRY(copied);
  return image;
}

Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  std::optional<model::TimeNs> until, model::SectorStore& into) {
  return rebuild_medium(recording, device, Until{.at = until}, into);
}

}  // namespace headcrash::record

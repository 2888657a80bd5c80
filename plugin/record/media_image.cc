// Rebuilds a medium from a recording (media_image.h).
#include "plugin/record/media_image.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <map>

namespace headcrash::record {
namespace {

/// The event that a run of sectors has its bytes from: the SUBMIT of a request, or a torn MEDIA event by its
/// ordinal.
struct Origin {
  model::RequestId request = 0;
  std::uint64_t torn_event = 0;  ///< counted from 1; 0: not torn
  bool operator==(const Origin&) const = default;
};

/// Which origin each sector has: runs that do not overlap, by first sector.
class SectorOrigins {
 public:
  void assign(std::uint64_t lba, std::uint64_t count, const Origin& origin) {
    if (count == 0) return;
    const std::uint64_t end = lba + count;
    split(lba);
    split(end);
    runs_.erase(runs_.lower_bound(lba), runs_.lower_bound(end));
    runs_.emplace(lba, Run{end, origin});
  }

  /// Calls `visit(first, end)` for the parts of [lba, lba+count) that come from `origin`.
  template <typename Visit>
  Result<void> for_each(std::uint64_t lba, std::uint64_t count, const Origin& origin, Visit visit) const {
    auto run = runs_.upper_bound(lba);
    if (run != runs_.begin()) --run;
    for (; run != runs_.end() && run->first < lba + count; ++run) {
      const std::uint64_t first = std::max(lba, run->first);
      const std::uint64_t end = std::min(lba + count, run->second.end);
      if (first >= end || run->second.origin != origin) continue;
      if (auto visited = visit(first, end); !visited) return visited;
    }
    return {};
  }

  void count(MediaImage& image) const {
    for (const auto& [first, run] : runs_) {
      image.sectors += run.end - first;
      if (run.origin.torn_event != 0) image.torn_sectors += run.end - first;
    }
  }

 private:
  struct Run {
    std::uint64_t end;
    Origin origin;
  };

  /// Makes `at` a border between runs.
  void split(std::uint64_t at) {
    auto run = runs_.upper_bound(at);
    if (run == runs_.begin()) return;
    --run;
    if (run->first == at || run->second.end <= at) return;
    runs_.emplace(at, run->second);
    run->second.end = at;
  }

  std::map<std::uint64_t, Run> runs_;
};

/// One walk over the device's events up to the instant. `visit` gets the event and the ordinal of a MEDIA
/// event.
Result<MediaImage> walk(const std::filesystem::path& path, model::DeviceId device,
                        std::optional<model::TimeNs> until, std::uint64_t sectors,
                        const std::function<Result<void>(const Event&, std::uint64_t)>& visit) {
  auto reader = RecordingReader::open(path);
  if (!reader) return pass_on(reader);
  if (device >= reader->header().devices.size())
    return fail(
        path, fmt::format("has {} devices, number {} was asked for", reader->header().devices.size(), device),
        "see the header of the recording");
  if (reader->header().devices[device].sectors > sectors)
    return fail(path,
                fmt::format("the device has {} sectors, the image only {}",
                            reader->header().devices[device].sectors, sectors),
                "give a larger image");
  MediaImage image;
  for (;;) {
    auto event = reader->next();
    if (!event) return pass_on(event);
    if (!*event || (until && (*event)->at > *until)) break;
    image.at = (*event)->at;
    if ((*event)->device != device || ((*event)->kind != Kind::media && (*event)->kind != Kind::submit))
      continue;
    if ((*event)->lba > sectors || (*event)->sectors > sectors - (*event)->lba) {
      if ((*event)->kind == Kind::submit) continue;  // refused by the device as out of range
      return fail(path, fmt::format("a MEDIA event reaches beyond sector {}", sectors),
                  "the recording is damaged");
    }
    if ((*event)->kind == Kind::media) ++image.media_events;
    if (auto visited = visit(**event, image.media_events); !visited) return pass_on(visited);
  }
  image.truncated_bytes = reader->truncated_bytes();
  return image;
}

bool torn(const Event& event) {
  return event.kind == Kind::media &&
         event.detail == static_cast<std::uint32_t>(model::MediaWrite::Outcome::torn);
}

}  // namespace

Result<MediaImage> rebuild_medium(const std::filesystem::path& recording, model::DeviceId device,
                                  std::optional<model::TimeNs> until, model::SectorStore& into) {
  SectorOrigins origins;
  auto image = walk(recording, device, until, into.sectors(),
                    [&](const Event& event, std::uint64_t ordinal) -> Result<void> {
                      if (event.kind == Kind::media)
                        origins.assign(event.lba, event.sectors,
                                       torn(event) ? Origin{0, ordinal} : Origin{event.request, 0});
                      return {};
                    });
  if (!image) return image;
  origins.count(*image);

  std::uint64_t covered = 0;
  auto copied = walk(
      recording, device, until, into.sectors(),
      [&](const Event& event, std::uint64_t ordinal) -> Result<void> {
        if (event.kind == Kind::media && !torn(event)) return {};
        const Origin origin = torn(event) ? Origin{0, ordinal} : Origin{event.request, 0};
        const bool zeroes = event.op == model::Op::write_zeroes || event.op == model::Op::trim;
        return origins.for_each(
            event.lba, event.sectors, origin, [&](std::uint64_t first, std::uint64_t end) -> Result<void> {
              covered += end - first;
              if (zeroes) return into.write_zeroes(first, end - first);
              if (event.payload.empty())
                return fail(recording, "was made without data", "record a run that moves bytes");
              return into.write(first, std::span(event.payload)
                                           .subspan((first - event.lba) * model::kSectorBytes,
                                                    (end - first) * model::kSectorBytes));
            });
      });
  if (!copied) return copied;
  if (covered != image->sectors)
    return fail(recording,
                fmt::format("{} sectors on the medium come from no recorded write", image->sectors - covered),
                "the recording is damaged");
  return image;
}

}  // namespace headcrash::record

#include "plugin/record/state.h"

#include <fmt/core.h>

#include <algorithm>

#include "plugin/media/prior_bytes.h"
#include "plugin/media/range.h"
#include "plugin/record/used_disk.h"

namespace headcrash::record {

using model::kSectorBytes;

Result<void> MediumState::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(media::check_range("medium", sectors(), lba, into.size()));
  std::fill(into.begin(), into.end(), std::byte{0});
  Result<void> result;
  index_.visit(
      lba, into.size() / kSectorBytes,
      [&](std::uint64_t from, std::uint64_t count, ExtentLocation where) {
        if (!result) return;
        if (is_prior(where)) {
          media::read_prior_bytes(from,
                                  into.subspan((from - lba) * kSectorBytes, count * kSectorBytes));
        } else if (where.unknown()) {
          result = fail("medium", fmt::format("the bytes of sector {} were not recorded", from),
                        "make a recording that includes the data");
        } else if (where.offset() != 0) {
          result = bytes_->read(where.offset(),
                                into.subspan((from - lba) * kSectorBytes, count * kSectorBytes));
        }
      });
  return result;
}

std::optional<std::uint64_t> MediumState::first_unreadable(std::uint64_t lba,
                                                           std::uint64_t sectors) const {
  std::optional<std::uint64_t> first;
  index_.visit(lba, sectors, [&](std::uint64_t from, std::uint64_t, ExtentLocation where) {
    if (!first && where.unreadable()) first = from;
  });
  return first;
}

Result<std::shared_ptr<const Timeline>> Timeline::load(const std::filesystem::path& recording,
                                                       model::DeviceId device) {
  return load(recording, device, Options{});
}

Result<std::shared_ptr<const Timeline>> Timeline::load(const std::filesystem::path& recording,
                                                       model::DeviceId device,
                                                       const Options& options) {
  TRY(auto reader, RecordingReader::open(recording));
  const RecordingHeader& header = reader.header();
  if (device >= header.devices.size())
    return fail(
        recording,
        fmt::format("has {} devices, but device {} is requested", header.devices.size(), device),
        "`headcrash recording info` lists them");
  if (!header.media)
    return fail(recording, header.provenance() + " and has no MEDIA events",
                "use a state that is based on writes (w...)");
  const std::uint64_t sectors = header.devices[device].sectors;
  auto line = std::make_shared<Timeline>();
  for (;; ++line->events_) {
    TRY(auto event, reader.next(PayloadUse::skip));
    if (!event) break;
    const Event& e = *event;
    if (e.kind != Kind::media || e.device != device) continue;
    if (e.lba > sectors || e.sectors > sectors - e.lba)
      return fail(recording,
                  fmt::format("the MEDIA event at offset {} extends beyond the device's {} sectors",
                              e.offset, sectors),
                  "the recording is damaged: restore it");
    line->steps_.push_back({line->events_, e.at, e.lba, e.sectors, media_bytes(e)});
  }
  if (line->steps_.empty() && !header.devices[device].medium)
    return fail(recording, fmt::format("{} has no medium", header.devices[device].name),
                "use a device below it");
  line->tail_error_ = reader.tail_error();
  line->bytes_ = std::make_shared<RecordingBytes>(std::move(reader));
  line->between_ =
      std::max(options.media_events_between, line->steps_.size() / options.kept_max + 1);
  ExtentIndex index(sectors);
  for (std::size_t i = 0; i < line->steps_.size(); ++i) {
    if (i % line->between_ == 0) line->kept_.push_back(index);
    const Step& step = line->steps_[i];
    apply_media(index, step.lba, step.sectors, step.bytes);
  }
  if (line->kept_.empty()) line->kept_.push_back(index);
  return line;
}

MediumState Timeline::after_steps(std::size_t steps) const {
  const std::size_t nearest = std::min(steps / between_, kept_.size() - 1);
  ExtentIndex index = kept_[nearest];
  for (std::size_t i = nearest * between_; i < steps; ++i)
    apply_media(index, steps_[i].lba, steps_[i].sectors, steps_[i].bytes);
  return {bytes_, std::move(index)};
}

MediumState Timeline::at_event(std::uint64_t events) const {
  const auto end = std::partition_point(steps_.begin(), steps_.end(),
                                        [&](const Step& step) { return step.event < events; });
  return after_steps(static_cast<std::size_t>(end - steps_.begin()));
}

MediumState Timeline::at_time(model::TimeNs at) const {
  const auto end = std::partition_point(steps_.begin(), steps_.end(),
                                        [&](const Step& step) { return step.at <= at; });
  return after_steps(static_cast<std::size_t>(end - steps_.begin()));
}

}  // namespace headcrash::record

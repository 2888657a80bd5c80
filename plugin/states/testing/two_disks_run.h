#pragma once
// For tests: a recorded random run of two disks on one power cord, and a reference that computes
// each crash state of the run by following every event and every sector. The seed determines the
// whole run.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/record/recording.h"
#include "plugin/states/crash_state.h"

namespace headcrash::states {

using Sectors = std::vector<std::byte>;
using Disks = std::array<Sectors, 2>;  ///< hd0, log

inline constexpr std::uint64_t kDiskSectors = 8;

inline record::RecordingHeader two_disks(bool media) {
  record::RecordingHeader header{
      .seed = 1, .devices = {{"hd0", "t", kDiskSectors, 1}, {"log", "t", kDiskSectors, 2}}};
  header.media = media;
  return header;
}

/// Records a random history of requests to two disks, and computes independently which bytes each
/// crash state must contain.
class TwoDisks {
 public:
  TwoDisks(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t steps,
           bool media = false)
      : random_(seed), media_(media) {
    auto writer = record::RecordingWriter::create(path, two_disks(media));
    EXPECT_TRUE(writer) << writer.error().message();
    writer_ = std::move(*writer);
    for (std::uint64_t i = 0; i < steps; ++i) step();
    writer_.reset();
  }

  struct Event {
    enum class Kind : std::uint8_t { write, flush, ack, media, mark } kind = Kind::mark;
    model::DeviceId device = 0;
    model::RequestId request = 0;
    bool fua = false;
    std::uint64_t lba = 0, sectors = 0;
    std::byte value = {};
  };
  const std::vector<Event>& events() const { return events_; }

  std::optional<std::uint64_t> acked(model::RequestId request, std::uint64_t before) const {
    for (std::uint64_t i = 0; i < before; ++i)
      if (events_[i].kind == Event::Kind::ack && events_[i].request == request) return i;
    return std::nullopt;
  }
  bool durable(const Event& write, std::uint64_t cut, std::optional<model::RequestId> lies) const {
    const auto done = acked(write.request, cut);
    if (!done) return false;
    if (write.fua && (!lies || write.request < *lies)) return true;
    for (std::uint64_t i = *done + 1; i < cut; ++i) {
      const Event& flush = events_[i];
      if (flush.kind == Event::Kind::flush && flush.device == write.device &&
          acked(flush.request, cut) && (!lies || flush.request < *lies))
        return true;
    }
    return false;
  }
  std::vector<model::RequestId> unflushed(std::uint64_t cut,
                                          std::optional<model::RequestId> lies = {}) const {
    std::vector<model::RequestId> found;
    for (std::uint64_t i = 0; i < cut; ++i)
      if (events_[i].kind == Event::Kind::write && !durable(events_[i], cut, lies))
        found.push_back(events_[i].request);
    return found;
  }

  Disks images(const CrashState& state) const {
    if (state.base == CrashState::Base::physical) return media_after(state.event);
    Disks disks = {blank(), blank()};
    for (std::uint64_t i = 0; i < state.event; ++i) {
      const Event& write = events_[i];
      if (write.kind != Event::Kind::write) continue;
      std::uint64_t first = 0, count = write.sectors;
      if (!durable(write, state.event, state.lies_from)) {
        const bool listed = std::count(state.listed.begin(), state.listed.end(), write.request) > 0;
        if (listed == state.keep_others) count = 0;
        for (const TornWrite& torn : state.torn)
          if (torn.request == write.request) {
            first = torn.first;
            count = torn.count;
          }
      }
      fill(disks.at(write.device), write.lba + first, count, write.value);
    }
    return disks;
  }
  Disks media_after(std::uint64_t cut) const {
    Disks disks = {blank(), blank()};
    for (std::uint64_t i = 0; i < cut; ++i)
      if (const Event& one = events_[i]; one.kind == Event::Kind::media)
        fill(disks.at(one.device), one.lba, one.sectors, one.value);
    return disks;
  }

 private:
  static Sectors blank() { return Sectors(kDiskSectors * model::kSectorBytes); }
  static void fill(Sectors& disk, std::uint64_t lba, std::uint64_t sectors, std::byte value) {
    std::fill_n(disk.begin() + static_cast<std::ptrdiff_t>(lba * model::kSectorBytes),
                sectors * model::kSectorBytes, value);
  }

  void step() {
    const std::uint64_t dice = random_.below(20);
    Event event{.device = static_cast<model::DeviceId>(random_.below(2))};
    if (dice == 0) {
      writer_->marked(0, "persisted " + std::to_string(last_));
    } else if (dice < 4) {
      event.kind = Event::Kind::flush;
      event.request = ++last_;
      writer_->submitted(event.device, 0, {.id = event.request, .op = model::Op::flush});
      in_flight_.push_back(event);
    } else if (dice < 10) {
      event = some_write(event.device);
      in_flight_.push_back(event);
      cached_.push_back(event);
    } else if (dice < 17) {
      if (in_flight_.empty()) return;
      event = taken(in_flight_);
      event.kind = Event::Kind::ack;
      writer_->acknowledged(event.device, {.id = event.request});
    } else {
      if (!media_ || cached_.empty()) return;
      event = taken(cached_);
      event.kind = Event::Kind::media;
      const Sectors data(event.sectors * model::kSectorBytes, event.value);
      writer_->media_written(event.device, 0,
                             {event.request, event.lba, static_cast<std::uint32_t>(event.sectors),
                              model::MediaWrite::Outcome::written, data});
    }
    events_.push_back(event);
  }
  Event some_write(model::DeviceId device) {
    Event write{.kind = Event::Kind::write, .device = device, .request = ++last_};
    write.fua = random_.below(8) == 0;
    write.lba = random_.below(kDiskSectors);
    write.sectors = 1 + random_.below(std::min<std::uint64_t>(kDiskSectors - write.lba, 4));
    // Uses the same few values most of the time, so that different states can have equal contents.
    write.value =
        static_cast<std::byte>(random_.below(3) == 0 ? random_.below(256) : random_.below(2));
    const Sectors data(write.sectors * model::kSectorBytes, write.value);
    writer_->submitted(device, 0,
                       {.id = write.request,
                        .op = model::Op::write,
                        .fua = write.fua,
                        .lba = write.lba,
                        .sectors = static_cast<std::uint32_t>(write.sectors),
                        .data = data});
    return write;
  }
  Event taken(std::vector<Event>& from) {
    const auto which = from.begin() + static_cast<std::ptrdiff_t>(random_.below(from.size()));
    const Event event = *which;
    from.erase(which);
    return event;
  }

  Random random_;
  bool media_;
  std::unique_ptr<record::RecordingWriter> writer_;
  std::vector<Event> events_, in_flight_, cached_;
  model::RequestId last_ = 0;
};

}  // namespace headcrash::states

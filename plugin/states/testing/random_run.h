#pragma once
// For tests: a recorded random run of one small drive, and a reference that computes each crash
// state of the run by following every event and every sector. The seed determines the whole run.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/base/testing/temporary_folder.h"
#include "plugin/record/recording.h"
#include "plugin/states/crash_state.h"
#include "plugin/states/state_image.h"

namespace headcrash::states {

using Bytes = std::vector<std::byte>;

struct RandomRunOptions {
  std::uint64_t sectors = 24;
  std::uint64_t steps = 60;
  bool media = true;  ///< if true, the run records MEDIA events and cuts the power
  std::uint32_t physical_sector_sectors = 1;
  /// if true, requests are acknowledged in order and at once, as in an imported log
  bool in_order = false;
  std::optional<record::RecordingHeader::Base> base;
  Bytes before;  ///< contents of `base`; empty for zeroes
};

/// An event in the reference model.
struct RunEvent {
  enum class Kind : std::uint8_t { submit, ack, media, mark, off, on } kind = Kind::mark;
  model::RequestId request = 0;
  model::Op op = model::Op::write;
  bool fua = false, ok = true;
  std::uint64_t lba = 0, sectors = 0;
  Bytes data;  ///< contents after the submitted write, trim or write_zeroes
};

class RandomRun {
 public:
  RandomRun(const std::filesystem::path& path, std::uint64_t seed, RandomRunOptions options)
      : options_(std::move(options)), random_(seed) {
    record::RecordingHeader header;
    header.seed = seed;
    header.devices = {{"hd0", "test", options_.sectors, options_.physical_sector_sectors, true}};
    header.media = options_.media;
    header.base = options_.base;
    auto writer = record::RecordingWriter::create(path, header);
    EXPECT_TRUE(writer) << writer.error().message();
    writer_ = std::move(*writer);
    medium_ =
        options_.before.empty() ? Bytes(options_.sectors * model::kSectorBytes) : options_.before;
    before_ = medium_;
    for (std::uint64_t i = 0; i < options_.steps; ++i) step();
    writer_.reset();
  }

  const std::vector<RunEvent>& all_events() const { return all_events_; }
  std::uint64_t events() const { return all_events_.size(); }
  const RandomRunOptions& options() const { return options_; }

  /// Returns the medium's contents after N events.
  Bytes physical(std::uint64_t events) const {
    return events == 0 ? before_ : snapshots_[events - 1];
  }

  /// Returns the first event of the power cycle that contains a cut.
  std::uint64_t power_cycle(std::uint64_t event) const {
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < event; ++i)
      if (all_events_[i].kind == RunEvent::Kind::off) begin = i + 1;
    return begin;
  }

  std::optional<std::uint64_t> acked(model::RequestId request) const {
    const auto found = acked_.find(request);
    return found == acked_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Implements the definition of durability directly, by examining every flush.
  bool durable(std::uint64_t submitted, std::uint64_t event,
               std::optional<model::RequestId> lies) const {
    const RunEvent& write = all_events_[submitted];
    const auto done = acked(write.request);
    if (!done || *done >= event) return false;
    if (write.fua && (!lies || write.request < *lies)) return true;
    for (std::uint64_t i = 0; i < event; ++i) {
      const RunEvent& flush = all_events_[i];
      if (flush.kind != RunEvent::Kind::submit || flush.op != model::Op::flush) continue;
      const auto flushed = acked(flush.request);
      if (flushed && *flushed < event && *done < i && (!lies || flush.request < *lies)) return true;
    }
    return false;
  }

  std::vector<model::RequestId> unflushed(std::uint64_t event,
                                          std::optional<model::RequestId> lies = {}) const {
    std::vector<model::RequestId> found;
    for (std::uint64_t i = power_cycle(event); i < event; ++i)
      if (is_write(all_events_[i]) && !durable(i, event, lies))
        found.push_back(all_events_[i].request);
    return found;
  }

  Bytes image(const CrashState& state) const {
    if (state.base == CrashState::Base::physical) return physical(state.event);
    if (state.base == CrashState::Base::members) {
      for (const auto& [device, event] : state.stopped)
        if (device == 0) return physical(event);
      return physical(state.event);
    }
    Bytes bytes = physical(power_cycle(state.event));
    for (std::uint64_t i = power_cycle(state.event); i < state.event; ++i) {
      const RunEvent& write = all_events_[i];
      if (!is_write(write)) continue;
      std::uint64_t first = 0;
      std::uint64_t count = write.sectors;
      if (!durable(i, state.event, state.lies_from)) {
        const bool listed = std::count(state.listed.begin(), state.listed.end(), write.request) > 0;
        if (listed == state.keep_others) count = 0;
        for (const TornWrite& torn : state.torn) {
          if (torn.request != write.request) continue;
          first = torn.first;
          count = torn.count;
        }
      }
      std::copy_n(
          write.data.begin() + static_cast<std::ptrdiff_t>(first * model::kSectorBytes),
          count * model::kSectorBytes,
          bytes.begin() + static_cast<std::ptrdiff_t>((write.lba + first) * model::kSectorBytes));
    }
    return bytes;
  }

  static bool is_write(const RunEvent& one) {
    return one.kind == RunEvent::Kind::submit && one.op != model::Op::flush;
  }

 private:
  void note(RunEvent happening) {
    if (happening.kind == RunEvent::Kind::ack && happening.ok)
      acked_.try_emplace(happening.request, all_events_.size());
    all_events_.push_back(std::move(happening));
    snapshots_.push_back(medium_);
  }

  void step() {
    now_ += 10;
    const std::uint64_t dice = random_.below(40);
    if (dice == 0) return mark();
    if (dice == 1 && options_.media) return power_cut();
    if (dice < 6) return submit_flush();
    if (dice < 22) return submit_write();
    if (dice < 32) return acknowledge();
    destage();
  }

  void mark() {
    writer_->marked(now_, "persisted " + std::to_string(last_request_));
    note({.kind = RunEvent::Kind::mark});
  }

  void submit_flush() {
    const model::Request request{.id = ++last_request_, .op = model::Op::flush};
    writer_->submitted(0, now_, request);
    note({.kind = RunEvent::Kind::submit, .request = request.id, .op = request.op});
    in_flight_.push_back(request.id);
    if (options_.in_order) acknowledge();
  }

  void submit_write() {
    RunEvent write{.kind = RunEvent::Kind::submit, .request = ++last_request_};
    const std::uint64_t dice = random_.below(12);
    write.op = dice == 0 ? model::Op::trim : dice == 1 ? model::Op::write_zeroes : model::Op::write;
    write.fua = write.op != model::Op::trim && random_.below(8) == 0;
    write.lba = random_.below(options_.sectors);
    write.sectors = 1 + random_.below(std::min<std::uint64_t>(options_.sectors - write.lba, 6));
    write.data.resize(write.sectors * model::kSectorBytes);
    if (write.op == model::Op::write) {
      // Uses only a few distinct bytes most of the time, so that different states can have equal
      // contents.
      for (std::uint64_t i = 0; i < write.sectors; ++i)
        std::fill_n(
            write.data.begin() + static_cast<std::ptrdiff_t>(i * model::kSectorBytes),
            model::kSectorBytes,
            static_cast<std::byte>(random_.below(3) == 0 ? random_.below(256) : random_.below(2)));
    }
    model::Request request{.id = write.request, .op = write.op, .fua = write.fua, .lba = write.lba};
    request.sectors = static_cast<std::uint32_t>(write.sectors);
    if (write.op == model::Op::write) request.data = write.data;
    writer_->submitted(0, now_, request);
    in_flight_.push_back(write.request);
    cached_[write.request] = write;
    note(std::move(write));
    if (options_.in_order) acknowledge();
  }

  void acknowledge() {
    if (in_flight_.empty()) return;
    const std::size_t which = options_.in_order ? 0 : random_.below(in_flight_.size());
    const model::RequestId request = in_flight_[which];
    in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(which));
    const bool ok = options_.in_order || random_.below(12) != 0;
    writer_->acknowledged(0, {.id = request,
                              .status = ok ? model::Status::ok : model::Status::medium_error,
                              .submitted_at = now_,
                              .completed_at = now_});
    note({.kind = RunEvent::Kind::ack, .request = request, .ok = ok});
  }

  void destage() {
    if (!options_.media || cached_.empty()) return;
    auto chosen = cached_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(random_.below(cached_.size())));
    const RunEvent write = chosen->second;
    cached_.erase(chosen);
    std::copy(write.data.begin(), write.data.end(),
              medium_.begin() + static_cast<std::ptrdiff_t>(write.lba * model::kSectorBytes));
    writer_->media_written(0, now_,
                           {write.request, write.lba, static_cast<std::uint32_t>(write.sectors),
                            model::MediaWrite::Outcome::written,
                            write.op == model::Op::write ? std::span<const std::byte>(write.data)
                                                         : std::span<const std::byte>()});
    note({.kind = RunEvent::Kind::media, .request = write.request});
  }

  void power_cut() {
    cached_.clear();
    writer_->power_changed(now_, model::PowerState::off);
    note({.kind = RunEvent::Kind::off});
    writer_->power_changed(now_, model::PowerState::on);
    note({.kind = RunEvent::Kind::on});
    for (const model::RequestId request : in_flight_) {
      writer_->acknowledged(0, {.id = request, .status = model::Status::power_lost});
      note({.kind = RunEvent::Kind::ack, .request = request, .ok = false});
    }
    in_flight_.clear();
  }

  RandomRunOptions options_;
  Random random_;
  std::unique_ptr<record::RecordingWriter> writer_;
  Bytes medium_, before_;
  std::vector<Bytes> snapshots_;
  std::vector<RunEvent> all_events_;
  /// For each request: the first event that acknowledges it as successful.
  std::map<model::RequestId, std::uint64_t> acked_;
  std::vector<model::RequestId> in_flight_;
  std::map<model::RequestId, RunEvent> cached_;
  model::RequestId last_request_ = 0;
  model::TimeNs now_ = 0;
};

inline Bytes all_of(const StateImage& image) {
  Bytes bytes(image.sectors() * model::kSectorBytes);
  const auto read = image.read(0, bytes);
  EXPECT_TRUE(read) << read.error().message();
  return bytes;
}

/// Returns a random valid state of a run.
inline CrashState random_state_of(const RandomRun& run, Random& random) {
  CrashState state;
  state.event = random.below(run.events() + 1);
  if (random.below(4) == 0) state.lies_from = random.below(40);
  state.keep_others = random.below(2) == 0;
  for (const model::RequestId request : run.unflushed(state.event, state.lies_from)) {
    const std::uint64_t dice = random.below(6);
    if (dice < 2) state.listed.push_back(request);
    if (dice != 2) continue;
    for (const RunEvent& one : run.all_events()) {
      if (one.request != request || one.kind != RunEvent::Kind::submit) continue;
      const auto first = random.below(one.sectors);
      state.torn.push_back({request, static_cast<std::uint32_t>(first),
                            static_cast<std::uint32_t>(1 + random.below(one.sectors - first))});
    }
  }
  return state;
}

}  // namespace headcrash::states

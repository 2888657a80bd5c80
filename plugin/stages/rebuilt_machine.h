#pragma once
// An array (or a cache over one) rebuilt over the media that a power cut left. Clients see the
// array after its recovery at power-on.
//
//   hd0    array  <- clients                a model::Machine without a clock: a request is complete
//   hd0.0  drive  <- overlay over hd0.0     when its events have run
//   hd0.1  drive  <- overlay over hd0.1
//
// A battery-backed cache keeps its contents unless its battery is dead (a fault). The contents are
// written back at power-on: for a cache over a drive, before the array starts; for a cache over an
// array, after the array has begun to serve requests. Volatile caches start empty; shut_down()
// writes them back.

#include <memory>

#include "plugin/model/core/null_observer.h"
#include "plugin/profiles/build.h"
#include "plugin/record/event.h"
#include "plugin/stages/content.h"
#include "plugin/stages/plain_media.h"

namespace headcrash::stages {

/// Plans the devices of a stack that has `sectors` sectors; hd0 is the array. Fails if the profile
/// is unknown or does not support this size.
Result<profiles::Plan> plan_machine(const std::string& profile, std::uint64_t sectors);

/// Returns the devices in the form used in a recording's header.
std::vector<record::RecordedDevice> recorded_devices(const profiles::Plan& plan);

/// Fails if the recording's devices differ from those of the plan.
Result<void> check_fit(const profiles::Plan& plan, const std::string& profile,
                       const std::vector<record::RecordedDevice>& recorded,
                       const std::string& recording);

/// The state of the hardware at power-on.
struct PowerOn {
  const std::vector<Medium>& media;   ///< one for each leaf of the plan, in order
  const std::vector<Medium>& caches;  ///< contents of the battery-backed caches
  const std::vector<model::FaultSpec>& faults;
};

class RebuiltMachine final : public StageContent {
 public:
  /// `recording` may be null; otherwise it must outlive this object. The recording also receives
  /// the media events. Fails if the hardware cannot start, if an array refuses to start (the error
  /// contains ErrorKind::does_not_start), or if a fault names an unknown device.
  static Result<std::unique_ptr<RebuiltMachine>> create(profiles::Plan plan, const PowerOn& with,
                                                        std::uint64_t overlay_bytes_max,
                                                        StageRecording* recording);

  const std::vector<DiskInfo>& disk_infos() const override { return disk_infos_; }
  int serve(std::size_t disk_index, model::Request& request) override;
  int acknowledge(std::size_t disk_index, const model::Request& request, int error) override;
  void mark(std::string_view text) override { built_.machine->mark(text); }
  void shut_down() override;
  std::optional<std::string> error() const override;
  media::WrittenMap::Run written(std::size_t disk_index, std::uint64_t lba,
                                 std::uint64_t limit) override;
  std::uint64_t overlay_bytes() const override;
  /// Computes the digest by reading the whole disk through the array.
  Result<std::uint64_t> digest() override;

 private:
  RebuiltMachine(profiles::Plan plan, StageRecording* recording)
      : plan_(std::move(plan)), recording_(recording) {}
  Result<void> check_started() const;
  Result<void> write_back(const PowerOn& with, bool to_drives);
  Result<void> write_back_range(const Medium& cache, model::DeviceId below, std::uint64_t lba,
                                std::uint64_t sectors);
  model::Status run(std::size_t disk_index, const model::Request& request);

  profiles::Plan plan_;
  StageRecording* recording_;
  model::NullObserver null_observer_;
  /// An overlay that records whether it has ever been full. The array cannot report this, because
  /// its drives report only that a write failed.
  class MemberStore : public model::SectorStore {
   public:
    MemberStore(const states::StateImage& image, std::uint64_t overlay_bytes_max)
        : overlay_(image, overlay_bytes_max) {}
    std::uint64_t sectors() const override { return overlay_.sectors(); }
    Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
      return overlay_.read(lba, into);
    }
    Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
      return noted(overlay_.write(lba, data));
    }
    Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
      return noted(overlay_.write_zeroes(lba, count));
    }
    bool is_full() const { return full_; }
    /// Marks the sectors that are unreadable in the crash state, except those that have been
    /// overwritten in this store.
    void mark_unreadable(model::DeviceFaults& faults) const;
    std::uint64_t overlay_bytes() const { return overlay_.overlay_bytes(); }

   private:
    Result<void> noted(Result<void> done) {
      full_ |= !done.has_value();
      return done;
    }
    states::OverlayStore overlay_;
    bool full_ = false;
  };
  std::vector<std::unique_ptr<MemberStore>> stores_;  ///< by id; null for devices without a medium
  profiles::BuiltMachine built_;
  std::vector<DiskInfo> disk_infos_;
  /// Name of a device that did not answer a request. If this is set, the machine must not run
  /// again.
  std::optional<std::string> unanswered_;
};

}  // namespace headcrash::stages

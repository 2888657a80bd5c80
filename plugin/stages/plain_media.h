#pragma once
// The media of a crash state as disks, each under an overlay.
//
//   write -> SUBMIT -> overlay         ACK once all requests that have arrived are submitted
//   read  -> overlay, else the state   EIO for unreadable sectors until they are rewritten

#include <memory>

#include "plugin/stages/content.h"
#include "plugin/stages/stage_recording.h"
#include "plugin/states/state_image.h"

namespace headcrash::stages {

/// One medium of a crash state.
struct Medium {
  std::string name;
  model::DeviceId device = 0;  ///< id of the device in the state's recording
  states::StateImage image;
  std::uint64_t digest = 0;
};

states::StateImage blank_image(std::uint64_t sectors);

class PlainMedia final : public StageContent {
 public:
  /// `media` must not be empty. The size of each medium's overlay is limited to
  /// `overlay_bytes_max`. `recording` may be null; otherwise it must outlive this object. For
  /// `used_disk`, see record/used_disk.h.
  PlainMedia(std::vector<Medium> media, std::uint64_t overlay_bytes_max, StageRecording* recording,
             bool used_disk = false);

  const std::vector<DiskInfo>& disk_infos() const override { return disk_infos_; }
  int serve(std::size_t disk_index, model::Request& request) override;
  int acknowledge(std::size_t disk_index, const model::Request& request, int error) override;
  void mark(std::string_view text) override;
  void shut_down() override {}
  media::WrittenMap::Run written(std::size_t disk_index, std::uint64_t lba,
                                 std::uint64_t limit) override;
  std::uint64_t overlay_bytes() const override;
  Result<std::uint64_t> digest() override;

 private:
  struct Disk {
    Disk(Medium medium, std::uint64_t overlay_bytes_max)
        : device(medium.device),
          image(std::move(medium.image)),
          store(image, overlay_bytes_max, medium.digest) {}
    /// Returns the map of written parts. The map is created at the first write or query, because
    /// most states need none.
    media::WrittenMap& written();

    model::DeviceId device;
    states::StateImage image;
    states::OverlayStore store;
    std::unique_ptr<media::WrittenMap> written_map;
    bool image_in_map = false;
  };
  static int read(const Disk& disk, const model::Request& request);
  int write(Disk& disk, const model::Request& request) const;
  bool recorded() const { return recording_ != nullptr && recording_->is_open(); }

  std::vector<DiskInfo> disk_infos_;
  std::vector<std::unique_ptr<Disk>> disks_;
  StageRecording* recording_;
  bool used_disk_;
};

}  // namespace headcrash::stages

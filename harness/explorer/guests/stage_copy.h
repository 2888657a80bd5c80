#pragma once
// Transfers data between a stage and the host's private copies of its state (sparse_file.h),
// without the guest.
//
//   copy      stage --> anonymous file   if only the kernel can replay the log (xfs, btrfs, f2fs),
//                                        the host's check needs the result of the mount
//   change    anonymous file --> stage   if fsck does the recovery (ext2, minix), the guest needs
//                                        the result of the host's fsck
//
// The host's programs are about ten times as fast as those of the emulated guest. During a
// transfer, the stage must not be mounted. The guest must not have read the parts that a change
// overwrites.

#include <filesystem>
#include <memory>
#include <string>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

class StageCopier {
 public:
  /// Connects to the server. A state must be loaded into the stage.
  static Result<StageCopier> connect(const std::filesystem::path& socket,
                                     const std::string& export_name);
  StageCopier(StageCopier&&) noexcept;
  StageCopier& operator=(StageCopier&&) noexcept;
  ~StageCopier();

  /// Returns a sparse copy of the stage. Regions that are known to be zeroes remain holes.
  Result<base::Descriptor> copy();
  /// Writes the changes in `copy` to the stage. `copy` must have been made from the whole `image`
  /// (Unwritten::as_on_the_disk), and the stage must still hold `image`. After an error, the stage
  /// holds a mixture of `image` and `copy`.
  Result<void> change(const states::StateImage& image, const base::Descriptor& copy);

 private:
  struct Connection;
  explicit StageCopier(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace headcrash::explorer

#pragma once
// Transfers data between a stage and the host's private copies of its state (sparse_file.h),
// without the guest.
//
//   copy      stage --> anonymous file   if only the kernel can replay (xfs, btrfs, f2fs), the
//                                        check needs the result of the guest's mount
//   change    anonymous file --> stage   if recovery is an fsck (ext2, minix), the guest needs the
//                                        result of the host's fsck
//
// The host's programs are about ten times as fast as the emulated guest's. The stage must not be
// mounted during a transfer, and the guest must not have read the changed parts.

#include <filesystem>
#include <memory>
#include <string>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

class StageCopier {
 public:
  /// Connects to the server. The stage must hold a state.
  static Result<StageCopier> connect(const std::filesystem::path& socket,
                                     const std::string& export_name);
  StageCopier(StageCopier&&) noexcept;
  StageCopier& operator=(StageCopier&&) noexcept;
  ~StageCopier();

  /// Returns a sparse copy of the stage. Regions known to be zeroes remain holes.
  Result<base::Descriptor> copy();
  /// Writes the changes in `copy` to the stage. `copy` must be a copy of the whole `image`
  /// (Unwritten::as_on_the_disk), and the stage must still hold `image`. After an error, the stage
  /// holds a mixture of both.
  Result<void> change(const states::StateImage& image, const base::Descriptor& copy);

 private:
  struct Connection;
  explicit StageCopier(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace headcrash::explorer

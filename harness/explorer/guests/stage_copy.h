#pragma once
// Between a stage and the host's private copies of its state (sparse_file.h), past the guest.
//
//   copy      stage --> anonymous file   where only the kernel can replay (xfs, btrfs, f2fs), the check has
//                                        to look at what the guest's mount has left
//   change    anonymous file --> stage   where recovery is an fsck (ext2, minix), the guest looks at what the
//                                        host's has left
//
// The host's programs are some ten times as fast as the emulated guest's. Nothing of the stage may
// be mounted meanwhile, and the guest may not have read what changes.

#include <filesystem>
#include <memory>
#include <string>

#include "plugin/base/descriptor.h"
#include "plugin/base/result.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

class StageCopier {
 public:
  /// Connects at once; the stage must have a state.
  static Result<StageCopier> connect(const std::filesystem::path& socket,
                                     const std::string& export_name);
  StageCopier(StageCopier&&) noexcept;
  StageCopier& operator=(StageCopier&&) noexcept;
  ~StageCopier();

  /// Sparse: what is not known to be zeroes is read.
  Result<base::Descriptor> copy();
  /// `copy` was made of all of `image` (Unwritten::as_on_the_disk), which the stage still holds.
  /// After an error it holds some of both.
  Result<void> change(const states::StateImage& image, const base::Descriptor& copy);

 private:
  struct Connection;
  explicit StageCopier(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace headcrash::explorer

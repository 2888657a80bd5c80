#pragma once
// What a stage holds now, copied into an anonymous file: the state with everything that its recovery wrote.
//
// Where only the kernel can replay (xfs, btrfs, f2fs), the check has to look at what the guest's mount has
// left; the host does that some ten times faster than the emulated guest. Nothing of the stage may be mounted
// meanwhile.

#include <filesystem>
#include <memory>
#include <string>

#include "harness/process/descriptor.h"
#include "plugin/model/result.h"

namespace headcrash::lab {

class StageCopier {
 public:
  /// Connects at once; the stage must have a state.
  static Result<StageCopier> connect(const std::filesystem::path& socket, const std::string& export_name);
  StageCopier(StageCopier&&) noexcept;
  StageCopier& operator=(StageCopier&&) noexcept;
  ~StageCopier();

  /// Sparse: what is not known to be zeroes is read.
  Result<process::Descriptor> copy();

 private:
  struct Connection;
  explicit StageCopier(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace headcrash::lab

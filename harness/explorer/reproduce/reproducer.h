#pragma once
// Writes a failure to a directory that can be shared: the image left by the power cut, and a shell
// script that shows the failure with standard tools, without headcrash.
//
//   TARGET/crash.raw       a sparse file (or crash.qcow2)
//          reproduce.sh    does nothing without --yes, because it mounts a damaged image
//                          (reproduce.sh in this source directory is its constant part)
//          workload.sh     repeats the failure from mkfs on, with other tools (workload_script.h);
//                          omitted if no tool can execute one of the operations
//          account.txt     description of the failure (harness/explorer/explain/failure_text.h)

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fs-adapters/linux/adapter.h"
#include "harness/oracle/verdict.h"
#include "harness/workload/operation.h"
#include "plugin/states/state_image.h"

namespace headcrash::explorer {

enum class ImageFormat : std::uint8_t { raw, qcow2 };

struct ReproducerOf {
  const adapters::LinuxAdapter* filesystem = nullptr;
  std::string state;
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::vector<workload::Operation> operations;
  std::string account;
  // The following members are used only for workload.sh.
  std::vector<workload::FailedOperation> failed_operations;
  /// The last persistence point that was reported before the cut.
  std::optional<std::size_t> persisted;
  /// False if the power was cut before the first mount was complete.
  bool mounted = true;
  std::uint64_t disk_bytes = 0;
  std::string uuid;  ///< for mkfs
};

struct Reproducer {
  std::filesystem::path image, script, account;
  std::filesystem::path workload;  ///< empty if workload.sh could not be written
  std::string no_workload;         ///< the reason why `workload` is empty
  std::uint64_t image_bytes = 0;   ///< space that the image occupies on the host
};

/// Writes a reproducer to a new directory. On failure, removes the directory. Fails if the
/// directory exists, if the file system uses two devices or is mounted by a command, if the disk is
/// full, or if qemu-img is missing.
Result<Reproducer> write_reproducer(const ReproducerOf& of, const states::StateImage& image,
                                    const std::filesystem::path& folder, ImageFormat format);

Result<std::string> reproducer_script(const ReproducerOf& of, const std::string& image_name);

/// Fails if write_reproducer() would fail for every state of this file system.
Result<void> can_be_reproduced(const adapters::LinuxAdapter& filesystem);

/// Writes the image to a sparse file: regions that were never written remain holes.
Result<void> write_raw_image(const states::StateImage& image, const std::filesystem::path& path);

}  // namespace headcrash::explorer

#pragma once
// A failure to share: the image left by the power cut, and a shell script that shows the failure
// with standard tools, without headcrash.
//
//   FOLDER/crash.raw       sparse (or crash.qcow2)
//          reproduce.sh    does nothing without --yes, because it mounts a damaged image
//                          (reproduce.sh in this folder is its constant part)
//          workload.sh     the same from mkfs on, with other tools: workload_script.h; omitted if
//                          no tool executes one of the operations
//          account.txt     harness/explorer/explain/failure_text.h

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
  std::string state;  ///< name of the state
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::vector<workload::Operation> operations;
  std::string account;
  // The following are for workload.sh.
  std::vector<workload::FailedOperation> failed_operations;
  std::optional<std::size_t> persisted;  ///< last persistence point before the cut
  bool mounted = true;  ///< false if the cut is in the first mount, before operation 0
  std::uint64_t disk_bytes = 0;
  std::string uuid;  ///< for mkfs
};

struct Reproducer {
  std::filesystem::path image, script, account;
  std::filesystem::path workload;  ///< empty if it could not be written
  std::string no_workload;         ///< the reason if `workload` is empty
  std::uint64_t image_bytes = 0;   ///< allocated on the host
};

/// Creates the folder, which must not exist. On failure, nothing remains. Fails for a file system
/// on two devices or one mounted by a command, for a full disk, and without qemu-img.
Result<Reproducer> write_reproducer(const ReproducerOf& of, const states::StateImage& image,
                                    const std::filesystem::path& folder, ImageFormat format);

Result<std::string> reproducer_script(const ReproducerOf& of, const std::string& image_name);

/// Returns the first error of write_reproducer() that depends only on the file system.
Result<void> can_be_reproduced(const adapters::LinuxAdapter& filesystem);

/// Writes an image with holes where nothing is known to have been written.
Result<void> write_raw_image(const states::StateImage& image, const std::filesystem::path& path);

}  // namespace headcrash::explorer

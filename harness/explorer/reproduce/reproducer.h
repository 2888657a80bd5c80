#pragma once
// A failure to give away: the image that the power cut left, and a shell script that shows the
// failure with plain tools, without headcrash.
//
//   FOLDER/crash.raw       sparse (or crash.qcow2)
//          reproduce.sh    refuses to do anything without --yes: it mounts a damaged image (reproduce.sh in
//                          this folder is its constant part)
//          workload.sh     the same from mkfs on, with other tools: workload_script.h; not where it has
//                          operations that no tool does
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
  std::string state;  ///< its name
  oracle::Judgement judgement;
  std::vector<oracle::Finding> findings;
  std::vector<workload::Operation> operations;
  std::string account;
  // Of workload.sh.
  std::vector<workload::FailedOperation> failed_operations;
  std::optional<std::size_t>
      persisted;        ///< the last operation before the cut that made something persistent
  bool mounted = true;  ///< false: the cut is in the first mount, before operation 0
  std::uint64_t disk_bytes = 0;
  std::string uuid;  ///< for mkfs
};

struct Reproducer {
  std::filesystem::path image, script, account;
  std::filesystem::path workload;  ///< empty where it could not be written, and then
  std::string no_workload;         ///< why not
  std::uint64_t image_bytes = 0;   ///< allocated on the host
};

/// The folder is made and must not exist: either all is in it at the end or nothing is there.
/// Errors: a file system that lies on two devices or is mounted by a command; a full disk; no
/// qemu-img.
Result<Reproducer> write_reproducer(const ReproducerOf& of, const states::StateImage& image,
                                    const std::filesystem::path& folder, ImageFormat format);

Result<std::string> reproducer_script(const ReproducerOf& of, const std::string& image_name);

/// Errors: the first that write_reproducer would have by the file system alone.
Result<void> can_be_reproduced(const adapters::LinuxAdapter& filesystem);

/// Holes where nothing is known to have been written.
Result<void> write_raw_image(const states::StateImage& image, const std::filesystem::path& path);

}  // namespace headcrash::explorer

#pragma once
// The three systems that chapter 6 compares, on its machine: Sprite LFS, SunOS FFS, Sprite OFS.
//
//   processor   sun4_260.h
//   memory      32 MB, of which 8 MB are kernel and processes and 24 MB file cache: our estimate; the dissertation
//               prints the 32 MB alone
//   drive       wren-iv, without a write cache; one request at a time; C-LOOK in the driver
//   blocks      4 KiB in Sprite, 8 KiB in SunOS (section 6.2); segments of 1 MB in chapter 6's benchmarks
//   requests    "the others perform individual disk operations for each block" (6.2.1.2): what is adjacent is
//               concatenated up to one block; a region of the log is one request

#include <fmt/format.h>

#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "harness/papers/cells.h"
#include "harness/papers/rosenblum92/sun4_260.h"

namespace headcrash::experiment::rosenblum92 {

inline constexpr std::uint64_t kMegabyte = 1 << 20;

/// The machine without a file system.
ModelledMachineOptions sun4_machine();

/// An LFS with what a part changes about it.
struct LfsSetup {
  std::string name = "Sprite LFS";
  lfs::MkfsOptions mkfs = {.segment_bytes = 1 << 20};
  lfs::MountOptions mount = {};
  ModelledMachineOptions machine = sun4_machine();  ///< `system` and `mkfs` are not used

  Setup setup() const;
  Result<std::unique_ptr<ModelledMachine>> start() const {
    return ModelledMachine::start(setup().machine);
  }
};
/// What such a machine has mounted.
lfs::FileSystem& mounted_lfs(ModelledMachine& machine);

/// One of the others, on our ufs.
struct UfsSetup {
  std::string name;
  ufs::SchemeVariant scheme;
  std::uint32_t block_bytes = 8192, fragment_bytes = 1024;
  std::uint32_t bytes_per_inode = 8192;
  ModelledMachineOptions machine = sun4_machine();  ///< `system` and `mkfs` are not used

  Setup setup() const;
};
/// SunOS 4.0.3: inodes and directories are written at once and waited for; a block is left out
/// behind each of a file's (skip-sector allocation, footnote to section 5.1; in SunOS the default
/// was a gap of 4 ms, one block here); cylinder groups of 16 cylinders.
UfsSetup sunos();
/// SunOS 4.1, which "groups write requests": no gap, and the driver concatenates up to 56 KiB.
UfsSetup sunos_clustered();
/// Sprite OFS: nothing waits but for the inode of what is removed; a file's blocks on successive
/// disk blocks.
UfsSetup sprite_ofs();

/// All costs of the processor divided by `times`.
template <typename AnySetup>
AnySetup on_faster_processor(AnySetup setup, double times) {
  setup.machine.costs = scaled_costs(setup.machine.costs, 1 / times);
  setup.name += fmt::format(", processor x{:g}", times);
  return setup;
}

/// Runs the body as a user of the machine; a VfsResult of its own is the caller's.
void run_as_user(ModelledMachine& machine, std::function<void()> body);

}  // namespace headcrash::experiment::rosenblum92

#pragma once
// The three systems compared in chapter 6, on its machine: Sprite LFS, SunOS FFS, Sprite OFS.
//
//   processor   sun4_260.h
//   memory      32 MB. By our estimate, 8 MB of this are for kernel and processes, and 24 MB are
//               file cache; the dissertation prints only the 32 MB
//   drive       wren-iv, without a write cache; one request at a time; C-LOOK in the driver
//   blocks      4 KiB in Sprite, 8 KiB in SunOS (section 6.2); segments of 1 MB in chapter 6's
//               benchmarks
//   requests    "the others perform individual disk operations for each block" (6.2.1.2): adjacent
//               sectors are concatenated up to one block; a region of the log is one request

#include <fmt/format.h>

#include "fs-adapters/lfs/file_system.h"
#include "fs-adapters/lfs/mkfs.h"
#include "fs-adapters/ufs/schemes/scheme_variants.h"
#include "harness/papers/cells.h"
#include "harness/papers/rosenblum92/sun4_260.h"

namespace headcrash::experiment::rosenblum92 {

inline constexpr std::uint64_t kMegabyte = 1 << 20;

/// Returns the options of the machine, without `system` and `mkfs`.
ModelledMachineOptions sun4_machine();

/// The name, options and machine of an LFS. The defaults are those of chapter 6.
struct LfsSetup {
  std::string name = "Sprite LFS";
  lfs::MkfsOptions mkfs = {.segment_bytes = 1 << 20};
  lfs::MountOptions mount = {};
  ModelledMachineOptions machine = sun4_machine();  ///< the members `system` and `mkfs` are ignored

  Setup setup() const;
  Result<std::unique_ptr<ModelledMachine>> start() const {
    return ModelledMachine::start(setup().machine);
  }
};
/// Returns the LFS that is mounted on a machine started from an LfsSetup.
lfs::FileSystem& mounted_lfs(ModelledMachine& machine);

/// SunOS FFS or Sprite OFS, modelled by our ufs.
struct UfsSetup {
  std::string name;
  ufs::SchemeVariant scheme;
  std::uint32_t block_bytes = 8192, fragment_bytes = 1024;
  std::uint32_t bytes_per_inode = 8192;
  ModelledMachineOptions machine = sun4_machine();  ///< the members `system` and `mkfs` are ignored

  Setup setup() const;
};
/// SunOS 4.0.3. Inodes and directories are written synchronously. One block is skipped after each
/// block of a file (skip-sector allocation, footnote to section 5.1). The default gap in SunOS was
/// 4 ms, which is one block here. Cylinder groups have 16 cylinders.
UfsSetup sunos();
/// SunOS 4.1, which "groups write requests". Files have no gaps, and the driver concatenates up to
/// 56 KiB.
UfsSetup sunos_clustered();
/// Sprite OFS. The only synchronous writes are those of the inodes of removed files. Each file has
/// consecutive disk blocks.
UfsSetup sprite_ofs();

/// Returns the setup with all processor costs divided by `times`.
template <typename AnySetup>
AnySetup on_faster_processor(AnySetup setup, double times) {
  setup.machine.costs = scaled_costs(setup.machine.costs, 1 / times);
  setup.name += fmt::format(", processor x{:g}", times);
  return setup;
}

/// Runs the body as a user of the machine. The body must handle the errors in VfsResults.
void run_as_user(ModelledMachine& machine, std::function<void()> body);

}  // namespace headcrash::experiment::rosenblum92

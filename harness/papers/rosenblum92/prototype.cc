// Configures the systems of chapter 6 (prototype.h).
#include "harness/papers/rosenblum92/prototype.h"

#include <fmt/format.h>

#include "fs-adapters/lfs/under_test.h"
#include "fs-adapters/ufs/under_test.h"
#include "plugin/base/invariant.h"

namespace headcrash::experiment::rosenblum92 {

ModelledMachineOptions sun4_machine() {
  ModelledMachineOptions machine;
  machine.profile = "wren-iv";
  machine.size_bytes = 300 * kMegabyte;
  machine.cache_bytes = 24 * kMegabyte;
  machine.concatenated_sectors = 8;
  machine.costs = kSun4;
  return machine;
}

lfs::FileSystem& mounted_lfs(ModelledMachine& machine) {
  return dynamic_cast<lfs::FileSystem&>(machine.vfs());
}

namespace {

ufs::SchemeVariant variant(const char* name) {
  auto found = ufs::find_scheme_variant(name);
  invariant(found.has_value(), "the schemes of the peer file systems must exist in ufs");
  return *std::move(found);
}

}  // namespace

Setup UfsSetup::setup() const {
  constexpr std::uint64_t kGroupBytes =
      16ULL * 9 * 46 * model::kSectorBytes;  // 16 cylinders of the wren-iv
  Setup made{.name = name, .machine = machine};
  made.machine.system = ufs::system_of(scheme);
  made.machine.mkfs = {{"block-size", fmt::format("{}", block_bytes)},
                       {"fragment-size", fmt::format("{}", fragment_bytes)},
                       {"bytes-per-inode", fmt::format("{}", bytes_per_inode)},
                       {"group-size", fmt::format("{}", kGroupBytes / block_bytes * block_bytes)}};
  return made;
}

UfsSetup sunos() {
  UfsSetup setup{.name = "SunOS", .scheme = variant("conventional")};
  setup.scheme.mount.options.last_write = ufs::LastWrite::synchronous;
  setup.scheme.mount.allocation.gap_blocks = 1;
  setup.machine.concatenated_sectors = setup.block_bytes / model::kSectorBytes;
  return setup;
}

UfsSetup sunos_clustered() {
  constexpr std::uint32_t kClusterBytes = 56 << 10;  // a maxcontig of 7 blocks of 8 KiB
  UfsSetup setup = sunos();
  setup.name = "SunOS, clustered";
  setup.scheme.mount.allocation.gap_blocks = 0;
  setup.machine.concatenated_sectors = kClusterBytes / model::kSectorBytes;
  return setup;
}

UfsSetup sprite_ofs() {
  UfsSetup setup{.name = "Sprite OFS", .scheme = variant("no-order"), .block_bytes = 4096};
  setup.scheme.mount.options.removed_inode = ufs::LastWrite::synchronous;
  setup.scheme.mount.allocation.placement = ufs::Placement::spread;
  return setup;
}

void run_as_user(ModelledMachine& machine, std::function<void()> body) {
  os::Account account{.name = "user"};
  machine.system().run_as(account, std::move(body));
}

Setup LfsSetup::setup() const {
  Setup made{.name = name, .machine = machine};
  made.machine.system = lfs::system_of(name, mount);
  made.machine.mkfs = {{"block-size", fmt::format("{}", mkfs.block_bytes)},
                       {"segment-size", fmt::format("{}", mkfs.segment_bytes)},
                       {"align", fmt::format("{}", mkfs.align_bytes)},
                       {"checksums", mkfs.checksums ? "1" : "0"}};
  return made;
}

}  // namespace headcrash::experiment::rosenblum92

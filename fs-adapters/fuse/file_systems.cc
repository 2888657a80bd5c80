// The table (file_systems.h), and what is said to each of them.
#include "fs-adapters/fuse/file_systems.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fs-adapters/ufs/file_system.h"

namespace headcrash::fuse {
namespace {

constexpr std::string_view kUfsWords =
    "  scheme=NAME      no-order, conventional, flag, chains, soft-updates (default)\n"
    "  flag=NAME        meaning of the ordering flag: full, back, part, ignore\n"
    "  nr, cb           reads bypass ordered writes; writes send a copy of the block\n"
    "  init             allocation initialization of data blocks\n"
    "  last-write=HOW   delayed, async, sync\n"
    "  dealloc=HOW      of scheme=chains: tracked, barrier\n"
    "  force            although it was not unmounted and no fsck has seen it\n";

struct UfsScheme {
  std::string name;
  ufs::SchemeKind kind;
};

const std::vector<UfsScheme>& ufs_schemes() {
  static const std::vector<UfsScheme> schemes{{"no-order", ufs::SchemeKind::no_order},
                                              {"conventional", ufs::SchemeKind::conventional},
                                              {"flag", ufs::SchemeKind::scheduler_flag},
                                              {"chains", ufs::SchemeKind::scheduler_chains},
                                              {"soft-updates", ufs::SchemeKind::soft_updates}};
  return schemes;
}

Result<MountedFileSystem> mount_ufs(RealMachine& machine, const ufs::MountOptions& how) {
  auto mounted = ufs::FileSystem::mount(
      {machine.executor, machine.cpu, machine.queue, machine.cache, machine.syncer}, how);
  if (!mounted) return pass_on(mounted);
  ufs::FileSystem* const file_system = mounted->get();
  return MountedFileSystem{.vfs = std::move(*mounted),
                           .unmount = [file_system] { return file_system->unmount(); }};
}

Result<MountPlan> plan_ufs(MountOptions& options) {
  MountPlan plan;
  ufs::MountOptions how{.scheme = ufs::SchemeKind::soft_updates};
  std::vector<std::string> names;
  for (const UfsScheme& scheme : ufs_schemes()) names.push_back(scheme.name);
  const std::array<std::string, 4> flags{"full", "back", "part", "ignore"};
  constexpr std::array kFlags{os::FlagMeaning::full, os::FlagMeaning::back, os::FlagMeaning::part,
                              os::FlagMeaning::ignore};
  const std::array<std::string, 3> writes{"delayed", "async", "sync"};
  const std::array<std::string, 2> deallocations{"tracked", "barrier"};
  constexpr std::size_t kSoftUpdates = 4;
  std::size_t scheme = kSoftUpdates, write = 0, deallocation = 0;
  std::size_t flag = kFlags.size() - 1;
  for (const auto& taken :
       {options.take_choice("scheme", names, scheme), options.take_choice("flag", flags, flag),
        options.take_flag("nr", plan.machine.queue.reads_bypass),
        options.take_flag("cb", plan.machine.cache.block_copy),
        options.take_flag("init", how.options.allocation_initialization),
        options.take_choice("last-write", writes, write),
        options.take_choice("dealloc", deallocations, deallocation),
        options.take_flag("force", how.although_not_clean)}) {
    if (!taken) return pass_on(taken);
  }
  how.scheme = ufs_schemes()[scheme].kind;
  how.options.last_write = static_cast<ufs::LastWrite>(write);
  how.options.deallocation = static_cast<ufs::Deallocation>(deallocation);
  plan.machine.queue.flag = kFlags.at(flag);
  plan.mount = [how](RealMachine& machine) { return mount_ufs(machine, how); };
  return plan;
}

constexpr std::array kKnown{KnownFileSystem{.type = "ufs", .words = kUfsWords, .plan = plan_ufs}};

}  // namespace

std::span<const KnownFileSystem> known_file_systems() {
  return kKnown;
}

Result<const KnownFileSystem*> file_system_of_program(std::string_view program) {
  constexpr std::string_view kPrefix = "mount.headcrash-";
  const std::string_view name = program.substr(program.rfind('/') + 1);
  std::string names;
  for (const KnownFileSystem& known : kKnown) {
    if (name.starts_with(kPrefix) && name.substr(kPrefix.size()) == known.type) return &known;
    names += (names.empty() ? "" : ", ") + std::string(kPrefix) + std::string(known.type);
  }
  return fail(std::string(name), "mounts no file system that is known", "call it " + names);
}

}  // namespace headcrash::fuse

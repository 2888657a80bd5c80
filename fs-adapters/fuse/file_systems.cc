// The table (file_systems.h), and what is said to each of them.
#include "fs-adapters/fuse/file_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fs-adapters/ufs/scheme_variants.h"

namespace headcrash::fuse {
namespace {

constexpr std::string_view kUsualScheme = "soft-updates";

std::string ufs_words() {
  std::string words = fmt::format(
      "  force            although it was not unmounted and no fsck has seen it\n"
      "  scheme=NAME      how updates are ordered ({}):\n",
      kUsualScheme);
  for (const ufs::SchemeVariant& variant : ufs::scheme_variants())
    words += fmt::format("    {:<20} {}{}\n", variant.name, variant.title,
                         variant.control ? " (keeps no order: a control)" : "");
  return words;
}

Result<MountedFileSystem> mount_ufs(os::System& system, const ufs::MountOptions& how) {
  auto mounted = ufs::FileSystem::mount(system, how);
  if (!mounted) return pass_on(mounted);
  ufs::FileSystem* const file_system = mounted->get();
  return MountedFileSystem{.vfs = std::move(*mounted),
                           .unmount = [file_system] { return file_system->unmount(); }};
}

Result<MountPlan> plan_ufs(MountOptions& options) {
  const std::vector<ufs::SchemeVariant> variants = ufs::scheme_variants();
  std::vector<std::string> names;
  names.reserve(variants.size());
  for (const ufs::SchemeVariant& variant : variants) names.push_back(variant.name);
  auto chosen = static_cast<std::size_t>(std::ranges::find(names, kUsualScheme) - names.begin());
  if (auto taken = options.take_choice("scheme", names, chosen); !taken) return pass_on(taken);
  const ufs::SchemeVariant& variant = variants.at(chosen);
  ufs::MountOptions how = variant.mount;
  if (auto taken = options.take_flag("force", how.although_not_clean); !taken) return pass_on(taken);
  MountPlan plan;
  plan.machine.system.queue = variant.queue;
  plan.machine.system.cache.block_copy = variant.block_copy;
  plan.mount = [how](os::System& system) { return mount_ufs(system, how); };
  return plan;
}

constexpr std::array kKnown{KnownFileSystem{.type = "ufs", .words = ufs_words, .plan = plan_ufs}};

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

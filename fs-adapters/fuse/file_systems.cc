// Programs, types and mount options (file_systems.h).
#include "fs-adapters/fuse/file_systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fs-adapters/registry.h"
#include "fs-adapters/substrate/os/update_policy.h"

namespace headcrash::fuse {

std::string mount_words(const adapters::FileSystemType& type) {
  std::string words = fmt::format(
      "  force            mounts a file system that was neither cleanly unmounted nor checked\n"
      "  scheme=NAME      variant to mount (default: {}), one of:\n",
      type.usual_system());
  for (const auto& system : type.systems())
    words += fmt::format("    {:<20} {}{}\n", system->name(), system->description().title,
                         system->control() ? " (a negative control: breaks its promises)" : "");
  if (type.may_have_log_device())
    words += "  log=DEVICE       device of an external log (see mkfs --external-journal)\n";
  if (type.has_snapshots()) words += "  snapshot=NAME    snapshot to mount read-only\n";
  return words + "  flush=WHEN       auto (if the device has a volatile cache), always or never\n";
}

Result<MountPlan> plan_mount(const adapters::FileSystemType& type, MountOptions& options) {
  std::vector<std::string> names;
  for (const auto& system : type.systems()) names.push_back(system->name());
  auto chosen =
      static_cast<std::size_t>(std::ranges::find(names, type.usual_system()) - names.begin());
  TRY(options.take_choice("scheme", names, chosen));
  const adapters::SystemUnderTest& system = *type.systems()[chosen];
  adapters::MountSettings settings;
  TRY(options.take_flag("force", settings.force));
  if (type.has_snapshots()) TRY(options.take("snapshot", settings.snapshot));
  MountPlan plan;
  plan.devices = system.description().devices;
  if (type.may_have_log_device()) TRY(options.take("log", plan.machine.log));
  if (plan.devices > 1 && plan.machine.log.empty())
    return fail("-o scheme=" + system.name(), "needs a device for its log", "add log=DEVICE");
  const std::vector<std::string> whens{"auto", "always", "never"};
  auto flush = static_cast<std::size_t>(Flushes::where_needed);
  TRY(options.take_choice("flush", whens, flush));
  plan.machine.flushes = static_cast<Flushes>(flush);
  plan.machine.flushes_itself = system.description().flushes;
  settings.flushes = plan.machine.flushes != Flushes::never;
  plan.machine.system.queue = system.description().queue;
  plan.machine.system.cache.block_copy = system.description().block_copy;
  if (system.description().syncer) plan.machine.system.syncer = *system.description().syncer;
  plan.mount = [&system, settings](os::System& mounted_on) {
    return system.mount(mounted_on, settings);
  };
  return plan;
}

Result<void> take_update_policy(MountOptions& options, MachineOptions& machine) {
  std::string text;
  if (auto taken = options.take("update", text); !taken || text.empty()) return taken;
  TRY(const auto policy, os::parse_update_policy(text, machine.system.cache.bytes, "-o update"));
  machine.system.syncer = policy;
  return {};
}

Result<const adapters::FileSystemType*> type_of_program(std::string_view program,
                                                        std::string_view prefix) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  std::string names;
  for (const adapters::FileSystemType* const type : adapters::file_system_types()) {
    if (name.starts_with(prefix) && name.substr(prefix.size()) == type->name()) return type;
    names += fmt::format("{}{}{}", names.empty() ? "" : ", ", prefix, type->name());
  }
  return fail(std::string(name), "unknown program name", "rename it to " + names);
}

}  // namespace headcrash::fuse

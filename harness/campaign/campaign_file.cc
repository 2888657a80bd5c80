// Parses campaign files and plans their trials (campaign_file.h).
#include "harness/campaign/campaign_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "harness/run/guest_kind.h"
#include "harness/run/text_hash.h"
#include "harness/workload/catalogue.h"
#include "headcrash_campaign_embedded.h"
#include "plugin/base/named_file.h"
#include "plugin/base/strict_table.h"
#include "plugin/model/core/store.h"
#include "plugin/model/faults/faults.h"
#include "plugin/profiles/clock_text.h"
#include "plugin/profiles/profile.h"
#include "plugin/profiles/stack.h"

namespace headcrash::campaign {
namespace {

using base::StrictTable;

using model::kSectorBytes;

constexpr int kDeepestBase = 4;

Result<void> check_size(const StrictTable& device, const Campaign& campaign) {
  if (campaign.size_bytes > 0 && campaign.size_bytes % kSectorBytes == 0) return {};
  return fail(device.subject("size"),
              fmt::format("{} bytes are not a whole number of sectors", campaign.size_bytes),
              "use a multiple of 512, for example \"320M\"");
}

Result<void> check_profiles(const StrictTable& device, const Campaign& campaign) {
  TRY(check_size(device, campaign));
  std::set<std::string> names;
  for (const std::string& profile : campaign.profiles) {
    const Result<profiles::ProfileSummary> summary = profiles::summarise_profile(profile);
    if (!summary) {
      const Error& error = summary.error();
      return fail(device.subject("profiles") + ": " + error.subject, error.problem, error.hint);
    }
    if (campaign.size_bytes / kSectorBytes > summary->capacity_sectors) {
      return fail(device.subject("size"),
                  fmt::format("{} holds only {} MiB", profile,
                              summary->capacity_sectors * kSectorBytes >> 20),
                  "use a smaller size");
    }
    const std::string name = std::filesystem::path(profile).stem();
    if (!names.insert(name).second) {
      return fail(device.subject("profiles"),
                  fmt::format("two profiles have the name \"{}\"", name),
                  "rename one of the files");
    }
  }
  return {};
}

/// Parses the [device] table of a campaign that explores crash states. Such a campaign records on a
/// stage, not on a drive. The table specifies the size of the stage and, optionally, arrays on top
/// of it.
Result<void> read_stage(const StrictTable& root, Campaign& campaign,
                        ExplorationDefaults& defaults) {
  TRY(const auto table, root.table("device"));
  if (!table) return {};
  for (const std::string& key :
       profiles::with_device_options({"log-profile", "clock", "setup-clock"})) {
    if (table->has(key)) {
      return fail(
          table->subject(key),
          "cannot be combined with [explore], which records workloads on a disk without this "
          "setting",
          "omit it, or omit [explore] to test single power cuts");
    }
  }
  for (const auto& read :
       {table->only({"size", "prefill", "profiles", "faults", "faults-after-cut"}),
        parse_prefill(*table, defaults.cell.prefill), table->take_size("size", campaign.size_bytes),
        table->take("profiles", defaults.devices), parse_faults(*table, defaults.cell.machine)}) {
    if (!read) return read;
  }
  return check_size(*table, campaign);
}

Result<void> read_device(const StrictTable& root, Campaign& campaign) {
  TRY(const auto table, root.table("device"));
  if (!table || !table->has("profiles")) {
    return fail(root.subject("device.profiles"), "is missing",
                "use profiles = [\"hp-c2447\"] under [device]");
  }
  const StrictTable& device = *table;
  TRY(device.only(profiles::with_device_options(
      {"profiles", "log-profile", "size", "faults", "clock", "setup-clock"})));
  for (const auto& read :
       {device.take("profiles", campaign.profiles), device.take_size("size", campaign.size_bytes),
        device.take("log-profile", campaign.log_profile), device.take("faults", campaign.faults),
        device.take("clock", campaign.clock),
        profiles::read_device_options(device, campaign.device_options)}) {
    if (!read) return read;
  }
  TRY(check_profiles(device, campaign));
  if (device.has("log-profile")) {
    if (const auto summary = profiles::summarise_profile(campaign.log_profile); !summary) {
      const Error& error = summary.error();
      return fail(device.subject("log-profile") + ": " + error.subject, error.problem, error.hint);
    }
  }
  for (const std::string& fault : campaign.faults) {
    if (const auto parsed = model::parse_fault(fault); !parsed)
      return fail(device.subject("faults"), parsed.error().message());
  }
  TRY(profiles::parse_clock(campaign.clock, device.subject("clock")));
  return profiles::take_clock(device, "setup-clock", campaign.setup_clock);
}

Result<void> read_workload(const StrictTable& root, Campaign& campaign) {
  TRY(const auto table, root.table("workload"));
  if (!table) return {};
  if (table->has("application")) {
    return fail(
        table->subject("application"), "requires a campaign that explores crash states",
        "add [explore]; the application's `verify` then checks each crash state of its run");
  }
  TRY(table->only({"name", "rounds", "fill"}));
  for (const auto& read : {table->take("name", campaign.workload),
                           table->take("rounds", campaign.rounds, {.least = 4, .most = 100'000}),
                           table->take_size("fill", campaign.fill_bytes)}) {
    if (!read) return read;
  }
  if (campaign.fill_bytes >= campaign.size_bytes) {
    return fail(table->subject("fill"), "exceeds the size of the device",
                "leave a few MiB for the workload");
  }
  const auto list = workload::make_workload(
      {.name = campaign.workload, .rounds = static_cast<std::uint32_t>(campaign.rounds)});
  if (!list) return fail(table->subject("name"), list.error().message());
  return {};
}

Result<void> read_cut(const StrictTable& root, Campaign& campaign) {
  TRY(const auto table, root.table("cut"));
  if (!table) return {};
  TRY(table->only({"after-persistence-ms", "after-unmount", "start-s"}));
  TRY(table->take("after-unmount", campaign.cut_after_unmount));
  if (campaign.cut_after_unmount && table->has("after-persistence-ms"))
    return fail(table->subject("after-unmount"), "cannot be combined with 'after-persistence-ms'",
                "omit one of them");
  std::vector<double> range{campaign.cut_earliest_ms, campaign.cut_latest_ms};
  TRY(table->take("after-persistence-ms", range));
  if (range.size() != 2 || range[0] < 0 || range[1] < range[0] || range[1] > 60'000) {
    return fail(table->subject("after-persistence-ms"),
                "must be two ascending numbers of milliseconds from 0 to 60000",
                "use after-persistence-ms = [0, 50]");
  }
  TRY(table->take("start-s", campaign.start_s, {.least = 0, .most = 3600}));
  if (campaign.start_s > 0 && campaign.clock == "off")
    return fail(table->subject("start-s"), "needs a running clock", "use device.clock = \"real\"");
  campaign.cut_earliest_ms = range[0];
  campaign.cut_latest_ms = range[1];
  return {};
}

Result<void> read_guest(const StrictTable& root, Campaign& campaign) {
  TRY(const auto table, root.table("guest"));
  if (!table) return {};
  TRY(table->only({"kind", "memory-mib", "step-timeout-s", "write-cache"}));
  TRY(run::parse_guest_kind(*table, campaign.virtual_time));
  if (table->has("write-cache") && !root.has("explore")) {
    return fail(table->subject("write-cache"),
                "applies only to campaigns that explore crash states",
                "use device.write-cache to set the drive's own cache, or add [explore]");
  }
  TRY(table->take("memory-mib", campaign.memory_mib, {.least = 128, .most = 65'536}));
  return table->take("step-timeout-s", campaign.step_timeout_s, {.least = 1, .most = 86'400});
}

Result<void> read_filesystems(const StrictTable& root, Campaign& campaign) {
  std::vector<std::string> names, kernels;
  TRY(root.take("filesystems", names));
  TRY(root.take("kernels", kernels));
  if (names.empty() && root.has("controls")) return {};
  if (names.empty())
    return fail(root.subject("filesystems"), "is missing", "use filesystems = [\"ext4\"]");
  for (const std::string& name : adapters::under_kernels(names, kernels)) {
    TRY(auto adapter,
        load_filesystem(root, root.subject("filesystems"), name, campaign.size_bytes));
    for (const auto& other : campaign.filesystems) {
      if (other.name == adapter.name)
        return fail(root.subject("filesystems"), fmt::format("\"{}\" is listed twice", name));
    }
    campaign.filesystems.push_back(std::move(adapter));
  }
  return {};
}

Result<void> read_cuts(const StrictTable& root, Campaign& campaign) {
  if (root.has("controls")) {
    return fail(root.subject("controls"), "require an [explore] table",
                "add [explore], or name the controls in `filesystems`");
  }
  if (root.has("workloads")) {
    return fail(root.subject("workloads"), "require an [explore] table",
                "add [explore], or put the operations into a file: workload.name = \"mine.txt\"");
  }
  for (const auto& read : {root.take("trials", campaign.trials, {.least = 1, .most = 1'000'000}),
                           read_device(root, campaign), read_workload(root, campaign),
                           read_cut(root, campaign), read_filesystems(root, campaign)}) {
    if (!read) return read;
  }
  for (const adapters::LinuxAdapter& each : campaign.filesystems)
    if (each.stack)
      return fail(
          root.subject("filesystems"),
          fmt::format(
              "{} is on a stack of disks; only campaigns that explore crash states support stacks",
              each.name),
          "add [explore], or omit the stack");
  for (const adapters::LinuxAdapter& each : campaign.filesystems)
    if (!each.first_mount_options.empty())
      return fail(
          root.subject("filesystems"),
          fmt::format(
              "{} is mounted twice after a cut; only campaigns that explore crash states support "
              "this",
              each.name),
          "add [explore], or omit the variant");
  return {};
}

Result<void> read_explored(const StrictTable& root, Campaign& campaign) {
  if (root.has("cut")) {
    return fail(root.subject("cut"),
                "cannot be combined with [explore], which cuts the power at every point",
                "omit it, or omit [explore] to test single power cuts");
  }
  ExplorationDefaults defaults;
  ExploredCell& cell = defaults.cell;
  TRY(auto own, read_own_workloads(root));
  defaults.workloads = std::move(own);
  for (const auto& read : {parse_trials(root, cell.trials), read_stage(root, campaign, defaults),
                           read_filesystems(root, campaign)}) {
    if (!read) return read;
  }
  if (const auto guest = root.table("guest"); guest && *guest) {
    TRY(parse_write_cache(**guest, cell.write_through));
  }
  if (const auto table = root.table("workload"); table && *table) {
    TRY((*table)->only({"name", "rounds", "operations", "application"}));
    for (const auto& read : {(*table)->take("name", cell.workload),
                             (*table)->take("rounds", cell.rounds, {.least = 4, .most = 100'000}),
                             (*table)->take("operations", cell.operations)}) {
      if (!read) return read;
    }
    TRY(auto applications, parse_applications(**table));
    defaults.applications = std::move(applications);
    if (!defaults.applications.empty()) set_application(defaults.applications.front(), cell);
    apply_own_workload(defaults.workloads, cell);
    TRY(check_workload(**table, "name", cell));
  }
  defaults.size_bytes = campaign.size_bytes;
  campaign.workload = cell.workload;
  TRY(auto exploration, read_exploration(root, defaults, campaign.filesystems));
  campaign.explore = std::move(exploration);
  return {};
}

/// Returns the workload's name in the form that is used in a trial's key, where '/' separates the
/// parts.
std::string key_name(const std::string& workload) {
  if (workload.ends_with(".txt")) return std::filesystem::path(workload).stem();
  std::string name = workload;
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

/// Loads a campaign. If the file has a `base`, merges the base into the text, so that the database
/// stores the complete campaign.
Result<base::NamedFile> find_campaign(const std::string& name_or_path, int depth) {
  auto found = base::find_named_file("campaign", name_or_path, base::built_in(embedded_files()));
  if (!found) return found;
  TRY(const auto own, StrictTable::parse(found->text, found->file));
  std::string base;
  TRY(own.take("base", base));
  if (base.empty()) return found;
  if (depth >= kDeepestBase)
    return fail(own.subject("base"), "is circular or nested too deeply",
                fmt::format("remove `base` from one of the files; it may link at most {} files",
                            kDeepestBase));
  const auto below = find_campaign(base::named_in(found->folder, base), depth + 1);
  if (!below) {
    const Error& error = below.error();
    // naming every file of the chain would make the error too long
    if (depth > 0) return forward_error(below);
    return fail(own.subject("base") + ": " + error.subject, error.problem, error.hint);
  }
  TRY(const auto lower, StrictTable::parse(below->text, below->file));
  found->text = own.over(lower).without("base").text();
  return found;
}

}  // namespace

Result<Campaign> parse_campaign(const std::string& text, const std::string& file_name) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  TRY(root.only({"title", "takes", "seed", "trials", "filesystems", "kernels", "device", "workload",
                 "workloads", "cut", "guest", "explore", "controls", "known"}));
  Campaign campaign{.name = std::filesystem::path(file_name).stem(),
                    .text = text,
                    .size_bytes = std::uint64_t{512} << 20};
  std::int64_t seed = 1;
  for (const auto& read :
       {root.take("title", campaign.title), root.take("takes", campaign.takes),
        root.take("seed", seed, {.least = 0, .most = INT64_MAX}), read_guest(root, campaign)}) {
    TRY(read);
  }
  campaign.seed = static_cast<std::uint64_t>(seed);
  if (campaign.title.empty()) campaign.title = campaign.name;
  TRY(root.has("explore") ? read_explored(root, campaign) : read_cuts(root, campaign));
  if (campaign.virtual_time && campaign.start_s > 0)
    return fail(
        root.subject("cut.start-s"),
        "has no effect in virtual time, because no time passes between power-on and recovery",
        "omit it, or use guest.kind = \"qemu\"");
  if (campaign.virtual_time) campaign.clock = run::kVirtualClock;
  return campaign;
}

Result<Campaign> load_campaign(const std::string& name_or_path,
                               const std::vector<std::string>& kernels, const std::string& guest) {
  TRY(auto found, find_campaign(name_or_path, 0));
  TRY(const auto text,
      run::with_guests(found.text, found.file, {.kernels = kernels, .kind = guest, .charge = {}}));
  return parse_campaign(text, found.file);
}

std::vector<CampaignSummary> built_in_campaigns() {
  std::vector<CampaignSummary> summaries;
  for (const EmbeddedFile& file : embedded_files()) {
    const Result<Campaign> campaign = load_campaign(std::filesystem::path(file.name).stem());
    if (!campaign) continue;
    const TrialPlans plans(*campaign);
    summaries.push_back(
        {campaign->name, campaign->title, campaign->takes, plans.size(), plans.states_most()});
  }
  return summaries;
}

TrialPlans::TrialPlans(const Campaign& campaign) : campaign_(campaign) {
  if (campaign.explore) {
    // includes the controls, which come first
    for (const ExploredCell& cell : campaign.explore->cells)
      places_.push_back({&cell.filesystem, "stage", &cell, workloads_of(cell, campaign.seed)});
  } else {
    for (const std::string& profile : campaign.profiles) {
      for (const adapters::LinuxAdapter& filesystem : campaign.filesystems)
        places_.push_back(
            {.filesystem = &filesystem,
             .profile = profile,
             .workloads = {.count = static_cast<std::uint64_t>(campaign.trials), .sample = {}}});
    }
  }
  for (std::uint64_t turn = 0;;) {
    Round round{.first_index = size_, .first_turn = turn, .places = {}};
    std::uint64_t end = UINT64_MAX;
    for (const Place& place : places_) {
      if (turn >= place.workloads.count) continue;
      round.places.push_back(&place);
      end = std::min(end, place.workloads.count);
    }
    if (round.places.empty()) break;
    size_ += (end - turn) * round.places.size();
    turn = end;
    rounds_.push_back(std::move(round));
  }
}

TrialPlan TrialPlans::operator[](std::size_t index) const {
  const auto after = std::ranges::upper_bound(rounds_, index, {}, &Round::first_index);
  const Round& round = *std::prev(after);
  const std::size_t within = index - round.first_index;
  return plan(*round.places[within % round.places.size()],
              round.first_turn + within / round.places.size());
}

TrialPlan TrialPlans::plan(const Place& place, std::uint64_t turn) const {
  TrialPlan plan{
      .filesystem = place.filesystem, .profile = place.profile, .number = turn, .cell = place.cell};
  if (place.cell == nullptr) {
    plan.key = fmt::format("{}/{}/{}/{}", place.filesystem->name,
                           std::filesystem::path(place.profile).stem().string(),
                           key_name(campaign_.workload), turn + 1);
  } else {
    plan.workload = place.cell->workload;
    if (place.workloads.numbered) plan.workload += fmt::format("/{}", place.workloads.number(turn));
    plan.key = fmt::format("{}/stage/{}", cell_name(*place.cell),
                           place.workloads.numbered ? plan.workload : key_name(plan.workload));
    if (!place.workloads.numbered && place.workloads.count > 1)
      plan.key += fmt::format("/{}", turn + 1);
  }
  // SQLite's integers are signed, so the seed has only 63 bits.
  plan.seed = run::hash_text(plan.key, campaign_.seed) >> 1;
  return plan;
}

std::uint64_t TrialPlans::states_most() const {
  std::uint64_t states = 0;
  for (const Place& place : places_) {
    if (place.cell != nullptr)
      states += place.workloads.count * static_cast<std::uint64_t>(place.cell->budget);
  }
  return states;
}

std::optional<TrialPlan> TrialPlans::find(const std::string& key) const {
  for (std::size_t i = 0; i < size_; ++i) {
    if (TrialPlan plan = (*this)[i]; plan.key == key) return plan;
  }
  return std::nullopt;
}

std::vector<const adapters::LinuxAdapter*> filesystems_of(const Campaign& campaign) {
  std::vector<const adapters::LinuxAdapter*> filesystems;
  filesystems.reserve(campaign.filesystems.size());
  for (const adapters::LinuxAdapter& each : campaign.filesystems) filesystems.push_back(&each);
  if (!campaign.explore) return filesystems;
  for (const ExploredCell& cell : campaign.explore->cells)
    if (cell.control ||
        std::ranges::none_of(filesystems, [&cell](const adapters::LinuxAdapter* other) {
          return other->name == cell.filesystem.name;
        }))
      filesystems.push_back(&cell.filesystem);
  return filesystems;
}

std::map<std::string, adapters::GuestParts> guests_of(const Campaign& campaign) {
  std::map<std::string, adapters::GuestParts> parts;
  if (!campaign.explore) {
    for (const adapters::LinuxAdapter& each : campaign.filesystems)
      parts.emplace(guest_of(each), each.guest);
    return parts;
  }
  for (const ExploredCell& cell : campaign.explore->cells)
    parts.emplace(guest_of(cell.filesystem), cell.filesystem.guest);
  return parts;
}

std::string guest_of(const adapters::LinuxAdapter& filesystem) {
  return fmt::format("{} {} {} {}", filesystem.name, fmt::join(filesystem.guest.packages, " "),
                     fmt::join(filesystem.guest.application_tools, " "), filesystem.guest.rootfs);
}

std::string campaign_digest(const Campaign& campaign) {
  std::string shape = campaign.name + "\n" + campaign.text;
  for (const adapters::LinuxAdapter* filesystem : filesystems_of(campaign)) {
    shape += fmt::format("\n{} {} {} {}", filesystem->name, filesystem->type,
                         filesystem->mount_options, filesystem->log_size_bytes);
    for (const auto* command : {&filesystem->mkfs, &filesystem->mount, &filesystem->replay,
                                &filesystem->check, &filesystem->repair}) {
      shape += fmt::format("\n{} {}", fmt::join(command->argv, " "),
                           fmt::join(command->good_exits, " "));
    }
  }
  if (!campaign.explore) return fmt::format("{:016x}", run::hash_text(shape, campaign.seed));
  for (const ExploredCell& cell : campaign.explore->cells) {
    if (!cell.application) continue;
    const workload::Application& app = *cell.application;
    shape += fmt::format("\n{} {}", app.name, app.each_command_persists);
    if (!app.rootfs.empty() || app.every_line_persists || app.verify_by_exit_code)
      shape +=
          fmt::format("\n{} {} {}", app.rootfs, app.every_line_persists, app.verify_by_exit_code);
    shape += fmt::format("\n{}", fmt::join(app.tools, "\n"));
    for (const auto* commands : {&app.prepare, &app.run, &app.verify})
      for (const workload::Command& command : *commands)
        shape += fmt::format("\n{}", fmt::join(command.words, "\n"));
    for (const auto& [name, content] : app.files) shape += fmt::format("\n{}\n{}", name, content);
  }
  return fmt::format("{:016x}", run::hash_text(shape, campaign.seed));
}

}  // namespace headcrash::campaign

// Parses the adapters' TOML files (adapter.h). Unknown keys are errors, so that a misspelt promise
// is not ignored.
#include "fs-adapters/linux/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <utility>

#include "headcrash_adapters_embedded.h"
#include "plugin/base/command_text.h"
#include "plugin/base/named_file.h"
#include "plugin/base/nearest.h"
#include "plugin/base/strict_table.h"
#include "plugin/base/virtual_guest.h"

namespace headcrash::adapters {

using base::StrictTable;

namespace {

/// Reads the exit codes of `good = [0, 1]`.
Result<void> parse_exits(const StrictTable& table, std::vector<int>& into) {
  std::vector<double> numbers;
  TRY(table.take("good", numbers));
  if (numbers.empty()) return {};
  into.assign(numbers.begin(), numbers.end());
  return {};
}

}  // namespace

Result<void> read_command(const StrictTable& root, const std::string& section,
                          GuestCommand& command) {
  TRY(const auto table, root.table(section));
  if (!table) return {};
  TRY(table->only({"command", "good", "host"}));
  TRY(table->take("command", command.argv));
  TRY(table->take("host", command.host));
  return parse_exits(*table, command.good_exits);
}

Result<void> check_placeholders(const StrictTable& root, const std::string& key,
                                const std::string& word, const std::vector<std::string>& places) {
  static const std::regex kPlace(R"(\{[A-Za-z_-]+[0-9]*\})");
  for (std::sregex_iterator found(word.begin(), word.end(), kPlace), end; found != end; ++found) {
    const std::string place = found->str();
    if (std::find(places.begin(), places.end(), place) == places.end())
      return fail(root.subject(key), fmt::format("unknown placeholder \"{}\"", place),
                  base::suggest(place, places));
  }
  return {};
}

namespace {

constexpr int kDeepestBase = 4;
constexpr std::uint64_t kAllocationBytesMin = 512, kAllocationBytesMax = 1 << 20;
constexpr std::int64_t kKeepsAfterMostS = 3600;
constexpr std::string_view kOwnTools = "{bin}/";

Result<void> read_replay(const StrictTable& root, LinuxAdapter& adapter) {
  TRY(const auto table, root.table("replay"));
  if (!table) return {};
  if (const auto known =
          table->only({"command", "good", "by-mount", "sign", "sign-at", "damage-sign", "host"});
      !known)
    return known;
  auto sign_at = static_cast<std::int64_t>(adapter.replay_sign_at);
  TRY(table->take("sign-at", sign_at, {.least = 0, .most = INT64_MAX - 8}));
  adapter.replay_sign_at = static_cast<std::uint64_t>(sign_at);
  TRY(table->take("by-mount", adapter.replay_by_mount));
  TRY(table->take("host", adapter.replay.host));
  TRY(table->take("sign", adapter.replay_sign));
  TRY(table->take("damage-sign", adapter.replay_damage_sign));
  TRY(table->take("command", adapter.replay.argv));
  return parse_exits(*table, adapter.replay.good_exits);
}

/// Reads `names`, or `names-are-atomic`, which older adapters use instead. If an adapter has both,
/// `names` comes from its base and `names-are-atomic` from the user's adapter, so
/// `names-are-atomic` takes precedence.
Result<void> parse_names(const StrictTable& table, NameOrder& names) {
  constexpr std::array<std::pair<std::string_view, NameOrder>, 3> kWords{
      {{"unordered", NameOrder::unordered},
       {"ordered", NameOrder::ordered},
       {"atomic", NameOrder::atomic}}};
  std::string word;
  TRY(table.take("names", word));
  const auto known = std::find_if(kWords.begin(), kWords.end(),
                                  [&](const auto& each) { return each.first == word; });
  if (!word.empty() && known == kWords.end())
    return fail(table.subject("names"), fmt::format("unknown order of names \"{}\"", word),
                "use unordered, ordered or atomic");
  if (known != kWords.end()) names = known->second;
  bool atomic = names == NameOrder::atomic;
  TRY(table.take("names-are-atomic", atomic));
  if (atomic) names = NameOrder::atomic;
  if (!atomic && names == NameOrder::atomic) names = NameOrder::unordered;
  return {};
}

Result<void> parse_one_point(const StrictTable& table, OnePoint& one_point) {
  constexpr std::array<std::pair<std::string_view, OnePoint>, 3> kWords{
      {{"none", OnePoint::none}, {"metadata", OnePoint::metadata}, {"all", OnePoint::all}}};
  std::string word;
  TRY(table.take("one-point", word));
  if (word.empty()) return {};
  const auto* const known = std::find_if(kWords.begin(), kWords.end(),
                                         [&](const auto& each) { return each.first == word; });
  if (known == kWords.end())
    return fail(table.subject("one-point"), fmt::format("unknown value \"{}\"", word),
                "use none, metadata or all");
  one_point = known->second;
  return {};
}

Result<void> read_promise(const StrictTable& root, LinuxAdapter& adapter) {
  TRY(const auto table, root.table("promise"));
  if (!table) return {};
  TRY(table->only({"expected",
                   "reason",
                   "fsync-persists",
                   "fsync-keeps-name",
                   "fsync-keeps-links",
                   "fsync-keeps-exchanged-name",
                   "fsync-keeps-renamed-parents",
                   "fsync-keeps-moved-path",
                   "fsync-keeps-new-name",
                   "replace-keeps-content",
                   "renamed-file-survives",
                   "names",
                   "names-are-atomic",
                   "one-point",
                   "exposes-stale-data",
                   "allocation-size",
                   "sync-waits",
                   "keeps-after-s",
                   "keeps-modes",
                   "keeps-times",
                   "keeps-allocation",
                   "own-names",
                   "passing-names"}));
  Promises& promises = adapter.promises;
  std::uint64_t allocation_bytes = promises.allocation_bytes;
  for (const auto& read :
       {parse_expected(*table, adapter.expected),
        table->take("own-names", promises.own_names),
        table->take("passing-names", promises.passing_names),
        table->take("reason", adapter.expected_reason),
        table->take("fsync-persists", promises.fsync_persists),
        table->take("fsync-keeps-name", promises.fsync_keeps_name),
        table->take("fsync-keeps-links", promises.fsync_keeps_links),
        table->take("fsync-keeps-exchanged-name", promises.fsync_keeps_exchanged_name),
        table->take("fsync-keeps-renamed-parents", promises.fsync_keeps_renamed_parents),
        table->take("fsync-keeps-moved-path", promises.fsync_keeps_moved_path),
        table->take("sync-waits", promises.sync_waits),
        table->take("keeps-after-s", promises.keeps_after_s, {0, kKeepsAfterMostS}),
        table->take("fsync-keeps-new-name", promises.fsync_keeps_new_name),
        table->take("replace-keeps-content", promises.replace_keeps_content),
        table->take("renamed-file-survives", promises.renamed_file_survives),
        parse_names(*table, promises.names),
        parse_one_point(*table, promises.one_point),
        table->take("keeps-modes", promises.keeps_modes),
        table->take("keeps-times", promises.keeps_times),
        table->take("keeps-allocation", promises.keeps_allocation),
        table->take("exposes-stale-data", promises.exposes_stale_data),
        table->take_size("allocation-size", allocation_bytes)}) {
    if (!read) return read;
  }
  if (allocation_bytes < kAllocationBytesMin || allocation_bytes > kAllocationBytesMax) {
    return fail(table->subject("allocation-size"),
                fmt::format("invalid size: {} bytes", allocation_bytes),
                "use the file system's block size, 512 to 1M");
  }
  promises.allocation_bytes = static_cast<std::uint32_t>(allocation_bytes);
  return {};
}

Result<void> read_mount(const StrictTable& root, LinuxAdapter& adapter) {
  TRY(const auto table, root.table("mount"));
  if (!table) return {};
  TRY(table->only({"options", "command", "good"}));
  TRY(table->take("options", adapter.mount_options));
  TRY(table->take("command", adapter.mount.argv));
  return parse_exits(*table, adapter.mount.good_exits);
}

Result<void> read_log(const StrictTable& root, LinuxAdapter& adapter) {
  TRY(const auto table, root.table("log"));
  if (!table) return {};
  TRY(table->only({"size"}));
  return table->take_size("size", adapter.log_size_bytes);
}

/// Returns true if the word can be the name of a kernel module, and is neither a path nor a file
/// name.
bool is_module_name(const std::string& word) {
  return !word.empty() && word.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-") == std::string::npos;
}

/// Reads [guest]. Paths are relative to `from`, the directory that contains the adapter's file.
/// Tools that belong to headcrash need not exist yet, because library tests may run before the
/// tools are built; a guest reports missing ones.
Result<void> read_guest(const StrictTable& root, const std::filesystem::path& from,
                        LinuxAdapter& adapter) {
  TRY(const auto table, root.table("guest"));
  if (!table) return {};
  TRY(table->only({"kernel", "modules", "tools", "packages"}));
  for (const auto& read :
       {table->take("kernel", adapter.guest.kernel), table->take("modules", adapter.guest.modules),
        table->take("tools", adapter.guest.tools),
        table->take("packages", adapter.guest.packages)}) {
    if (!read) return read;
  }
  const auto settle = [&](const char* key, std::string& path) -> Result<void> {
    std::error_code error;
    if (path.starts_with(kOwnTools)) {
      path = beside_headcrash(path.substr(kOwnTools.size()));
      return {};
    }
    const std::filesystem::path whole = std::filesystem::absolute(from / path, error);
    if (!std::filesystem::exists(whole, error)) {
      return fail(table->subject(key), fmt::format("{} does not exist", whole.string()),
                  "use a path relative to the folder of this file");
    }
    path = whole.lexically_normal().string();
    return {};
  };
  if (!adapter.guest.kernel.empty()) {
    TRY(settle("kernel", adapter.guest.kernel));
  }
  if (table->has("modules")) adapter.guest.loads.clear();
  std::vector<std::string> files;
  for (std::string& module : adapter.guest.modules) {
    std::error_code error;
    if (is_module_name(module) && !std::filesystem::exists(from / module, error)) {
      adapter.guest.loads.push_back(module);
      continue;
    }
    TRY(settle("modules", module));
    files.push_back(std::move(module));
  }
  adapter.guest.modules = std::move(files);
  for (std::string& tool : adapter.guest.tools) {
    TRY(settle("tools", tool));
  }
  return {};
}

Result<void> read_variants(const StrictTable& root, LinuxAdapter& adapter) {
  TRY(const auto table, root.table("variant"));
  if (!table) return {};
  for (const std::string& name : table->keys()) {
    TRY(const auto variant, table->table(name));
    if (const auto known =
            variant->only({"mkfs-extra", "mount-options", "first-mount", "first-mount-recovers"});
        !known)
      return known;
    Variant read;
    for (const auto& taken : {variant->take("mkfs-extra", read.mkfs_extra),
                              variant->take("mount-options", read.mount_options),
                              variant->take("first-mount", read.first_mount_options),
                              variant->take("first-mount-recovers", read.first_mount_recovers)})
      if (!taken) return taken;
    if (read.mkfs_extra.empty() && read.mount_options.empty() && read.first_mount_options.empty())
      return fail(variant->subject("mkfs-extra"), "is missing",
                  "set mkfs-extra, mount-options or first-mount");
    if (!read.first_mount_recovers && read.first_mount_options.empty())
      return fail(variant->subject("first-mount-recovers"), "has no effect", "add first-mount");
    adapter.variants[name] = std::move(read);
  }
  return {};
}

Result<void> apply_variant(const std::string& variant, LinuxAdapter& adapter) {
  const auto found = adapter.variants.find(variant);
  if (found == adapter.variants.end()) {
    std::vector<std::string> known;
    known.reserve(adapter.variants.size());
    for (const auto& [each, what] : adapter.variants) known.push_back(each);
    return fail(fmt::format("file system \"{}\"", adapter.name),
                fmt::format("has no variant \"{}\"", variant),
                known.empty() ? "the adapter has no variants" : base::suggest(variant, known));
  }
  std::vector<std::string>& argv = adapter.mkfs.argv;
  const auto device = std::find_if(argv.begin(), argv.end(), [](const std::string& word) {
    return word.find("{device}") != std::string::npos;
  });
  const Variant& added = found->second;
  argv.insert(device, added.mkfs_extra.begin(), added.mkfs_extra.end());
  if (!added.mount_options.empty())
    adapter.mount_options += (adapter.mount_options.empty() ? "" : ",") + added.mount_options;
  adapter.first_mount_options = added.first_mount_options;
  adapter.first_mount_recovers = added.first_mount_recovers;
  adapter.name += "+" + variant;
  adapter.title += ", " + variant;
  return {};
}

/// Rejects unknown placeholders, which would reach the command unchanged.
Result<void> check_places(const StrictTable& root, const LinuxAdapter& adapter) {
  std::vector<std::string> places{"{device}", "{log}", "{uuid}", "{target}", "{options}", "{bin}"};
  if (adapter.is_layer) places.emplace_back("{below}");
  const auto check = [&](const std::string& key, const std::string& word) {
    return check_placeholders(root, key, word, places);
  };
  const std::pair<const char*, const GuestCommand*> commands[] = {
      {"mkfs.command", &adapter.mkfs},       {"mount.command", &adapter.mount},
      {"unmount.command", &adapter.unmount}, {"replay.command", &adapter.replay},
      {"check.command", &adapter.check},     {"repair.command", &adapter.repair}};
  for (const auto& [key, command] : commands)
    for (const std::string& word : command->argv) TRY(check(key, word));
  return check("mount.options", adapter.mount_options);
}

/// Checks that {log} is used if the adapter has a log device, and only then.
Result<void> check_log(const StrictTable& root, const LinuxAdapter& adapter) {
  bool named = adapter.mount_options.find("{log}") != std::string::npos;
  for (const GuestCommand* command :
       {&adapter.mkfs, &adapter.mount, &adapter.replay, &adapter.check, &adapter.repair}) {
    for (const std::string& word : command->argv) named |= word.find("{log}") != std::string::npos;
  }
  if (named == (adapter.log_size_bytes != 0)) return {};
  if (named)
    return fail(root.subject("log.size"), "is missing, but {log} is used",
                "write size = \"16M\" under [log]");
  return fail(root.subject("log"), "is never used",
              "refer to the second device as {log} in mkfs.command and mount.options");
}

Result<void> check_complete(const StrictTable& root, const LinuxAdapter& adapter) {
  if (adapter.type.empty())
    return fail(root.subject("type"), "is missing", "set the type for mount(2)");
  if (adapter.mkfs.argv.empty()) {
    return fail(root.subject("mkfs.command"), "is missing",
                "set the command that formats {device}");
  }
  for (const auto& checked : {check_places(root, adapter), check_log(root, adapter)})
    if (!checked) return checked;
  if (adapter.check.argv.empty()) {
    return fail(root.subject("check.command"), "is missing",
                "set a command that checks {device} without writing");
  }
  if (!adapter.replay_by_mount && adapter.replay.argv.empty()) {
    return fail(root.subject("replay"), "is missing", "set a command, or by-mount = true");
  }
  return {};
}

/// Returns a command line of the shell that runs `argv`, with {below} replaced.
std::string line_of(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) line += (line.empty() ? "" : " ") + base::shell_quoted(word);
  base::replace_all(line, "{below}", kBelow);
  return line;
}

/// Returns the command line that mounts a file system at kBelow.
std::string mount_below(const LinuxAdapter& below) {
  std::vector<std::string> argv =
      below.mount.argv.empty()
          ? std::vector<std::string>{"mount", "-t", below.type, "{device}", "{target}"}
          : below.mount.argv;
  if (below.mount.argv.empty() && !below.mount_options.empty())
    argv.insert(argv.end() - 2, {"-o", "{options}"});
  const std::string device = below.stack ? below.stack->device : "{device}";
  const Places places{.device = device, .log = "{log}", .uuid = "{uuid}", .target = kBelow};
  return fmt::format("([ -d {0} ] || mkdir {0}) && {1}", kBelow,
                     line_of(fill_in(argv, places, below.mount_options)));
}

/// Adds the parts of the file system below to those of the layer.
void add_parts(const GuestParts& below, GuestParts& layer) {
  const auto add = [](const std::vector<std::string>& from, std::vector<std::string>& to) {
    to.insert(to.begin(), from.begin(), from.end());
  };
  add(below.modules, layer.modules);
  add(below.loads, layer.loads);
  add(below.tools, layer.tools);
  add(below.packages, layer.packages);
  if (layer.kernel.empty()) layer.kernel = below.kernel;
}

/// Starts the adapter of a layer with the file system below it. The layer has its own mount, guest
/// parts and variants, and inherits everything else.
LinuxAdapter start_of_layer(const LinuxAdapter& below) {
  LinuxAdapter layer = below;
  layer.is_layer = true;
  layer.below.clear();
  layer.mount_options.clear();
  layer.mount.argv.clear();
  layer.unmount.argv.clear();
  layer.guest = {};
  layer.variants.clear();
  layer.first_mount_options.clear();
  layer.first_mount_recovers = true;
  return layer;
}

/// Extends the layer's commands so that they first mount the file system below, and unmount it
/// last. `prepare` runs once, on the fresh file system below; it may be empty.
Result<void> complete_layer(const StrictTable& root, const LinuxAdapter& below,
                            const GuestCommand& prepare, LinuxAdapter& layer) {
  if (layer.mount.argv.empty())
    return fail(root.subject("mount.command"), "is missing",
                "set the command that mounts the layer on {below} at {target}");
  for (const std::string& word : prepare.argv)
    TRY(check_placeholders(root, "prepare.command", word, {"{below}", "{uuid}"}));
  const auto shell = [](const std::string& script) {
    return std::vector<std::string>{"sh", "-c", script};
  };
  const std::string mount = mount_below(below);
  if (!prepare.argv.empty())
    layer.mkfs.argv = shell(fmt::format("{} && {} && {} && umount {}", line_of(layer.mkfs.argv),
                                        mount, line_of(prepare.argv), kBelow));
  layer.mount.argv = shell(fmt::format("{} || exit\n{} && exit\nstatus=$?\numount {}\nexit $status",
                                       mount, line_of(layer.mount.argv), kBelow));
  if (!layer.unmount.argv.empty()) layer.unmount.argv = shell(line_of(layer.unmount.argv));
  layer.title += ", on " + below.title;
  add_parts(below.guest, layer.guest);
  return {};
}

/// `below` replaces the file system below if the adapter is a layer. It may be empty.
Result<LinuxAdapter> interpret(const StrictTable& root, const std::filesystem::path& from,
                               int depth, const std::string& below);

Result<LinuxAdapter> load(const std::string& name_or_path, int depth, const std::string& below) {
  TRY(const auto found,
      base::find_named_file("file system", name_or_path, base::built_in(embedded_files())));
  TRY(const auto root, StrictTable::parse(found.text, found.file));
  Result<LinuxAdapter> adapter = interpret(root, found.folder, depth, below);
  if (!adapter) return adapter;
  adapter->name = found.name;
  adapter->file.clear();
  if (base::is_path(name_or_path))
    adapter->file = std::filesystem::absolute(name_or_path).lexically_normal().string();
  return adapter;
}

/// Loads the file system that `name_or_path` selects below a layer.
Result<LinuxAdapter> load_below(const StrictTable& root, const std::string& name_or_path) {
  TRY(auto below, load_adapter(name_or_path));
  if (!below.is_layer) return below;
  return fail(root.subject("below"), fmt::format("{} is a layer, too", name_or_path),
              "use a file system that has its own disk");
}

Result<LinuxAdapter> interpret(const StrictTable& root, const std::filesystem::path& from,
                               int depth, const std::string& below_layer) {
  TRY(root.only({"base", "below", "title", "type", "minimum-size", "package", "guest", "log",
                 "mkfs", "prepare", "mount", "unmount", "replay", "check", "repair", "promise",
                 "variant"}));
  LinuxAdapter adapter, below;
  GuestCommand prepare;
  adapter.mkfs.good_exits = adapter.replay.good_exits = adapter.check.good_exits =
      adapter.repair.good_exits = adapter.mount.good_exits = adapter.unmount.good_exits = {0};
  std::string base, usual_below;
  TRY(root.take("base", base));
  TRY(root.take("below", usual_below));
  TRY(read_command(root, "prepare", prepare));
  if (usual_below.empty() && !prepare.argv.empty())
    return fail(root.subject("prepare"), "is used without a file system below",
                "add below = \"ext4\"");
  if (!usual_below.empty()) {
    if (!base.empty())
      return fail(root.subject("below"), "is given together with base", "remove one of them");
    TRY(below,
        load_below(root, below_layer.empty() ? base::named_in(from, usual_below) : below_layer));
    adapter = start_of_layer(below);
  }
  if (!base.empty()) {
    if (depth >= kDeepestBase)
      return fail(root.subject("base"), "is circular or nested too deeply");
    TRY(const auto parent, load(base::named_in(from, base), depth + 1, below_layer));
    adapter = parent;
  }
  for (const auto& read :
       {root.take("title", adapter.title), root.take("type", adapter.type),
        root.take_size("minimum-size", adapter.minimum_size_bytes),
        root.take("package", adapter.package), read_log(root, adapter),
        read_guest(root, from, adapter), read_mount(root, adapter),
        read_command(root, "unmount", adapter.unmount), read_command(root, "mkfs", adapter.mkfs),
        read_replay(root, adapter), read_command(root, "check", adapter.check),
        read_command(root, "repair", adapter.repair), read_promise(root, adapter),
        read_variants(root, adapter), check_complete(root, adapter)}) {
    TRY(read);
  }
  if (!usual_below.empty()) TRY(complete_layer(root, below, prepare, adapter));
  if (!usual_below.empty() && !below_layer.empty()) {
    adapter.below = name_to_load(below);
    adapter.below_name = below.name;
  }
  return adapter;
}

}  // namespace

std::string beside_headcrash(const std::string& program) {
  std::error_code error;
  return (std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / program).string();
}

std::vector<OtherDisk> LinuxAdapter::other_disks(std::uint64_t disk_bytes) const {
  std::vector<OtherDisk> others;
  if (log_size_bytes != 0) others.push_back({virtual_guest::kOtherDisks[0], log_size_bytes});
  for (std::size_t i = 1; stack && i < stack->disks; ++i)
    others.push_back({virtual_guest::kOtherDisks.at(i), disk_bytes});
  return others;
}

bool LinuxAdapter::shows_replay(std::string_view words) const {
  return !replay_sign.empty() && words.find(replay_sign) != std::string_view::npos;
}
bool LinuxAdapter::shows_damage(std::string_view words) const {
  return !replay_damage_sign.empty() && words.find(replay_damage_sign) != std::string_view::npos;
}

std::string_view name(Expectation expectation) {
  switch (expectation) {
    case Expectation::clean:
      return "clean";
    case Expectation::loss:
      return "loss";
    case Expectation::any:
      break;
  }
  return "any";
}

Result<void> parse_expected(const StrictTable& table, Expectation& expected) {
  std::string word(name(expected));
  TRY(table.take("expected", word));
  for (const Expectation candidate : {Expectation::clean, Expectation::loss, Expectation::any}) {
    if (word != name(candidate)) continue;
    expected = candidate;
    return {};
  }
  return fail(table.subject("expected"), fmt::format("unknown value \"{}\"", word),
              "use clean, loss or any");
}

std::string fill_in(const std::string& text, const Places& places, std::string_view options) {
  const std::pair<std::string_view, std::string_view> words[] = {
      {"{options}", options},  // may contain other placeholders
      {"{device}", places.device},
      {"{log}", places.log},
      {"{uuid}", places.uuid},
      {"{target}", places.target}};
  std::string filled = text;
  for (const auto& [from, to] : words) base::replace_all(filled, from, to);
  return filled;
}

std::vector<std::string> fill_in(const std::vector<std::string>& argv, const Places& places,
                                 std::string_view options) {
  std::vector<std::string> filled;
  filled.reserve(argv.size());
  for (const std::string& word : argv) filled.push_back(fill_in(word, places, options));
  return filled;
}

namespace {

constexpr const char* kKernelHint =
    "use a version such as 6.12 or 6.1-rt (scripts/build-guest --list-kernels lists Debian's), the "
    "path of a bzImage, or for --guest virtual a kernel source folder such as ./linux";

/// Returns the position of the '@' before the kernel in "ext4@6.12" or "ext4@/src/linux". A
/// kernel's path must be absolute or begin with a dot; if '@' is followed by any other path, it is
/// part of a directory's name.
std::size_t kernel_mark(const std::string& name) {
  std::size_t at = name.find('@');
  while (at != std::string::npos && name.find('/', at) != std::string::npos &&
         name[at + 1] != '/' && name[at + 1] != '.')
    at = name.find('@', at + 1);
  return at;
}

/// Returns the absolute path of a kernel that the user has named: a file or a source directory.
Result<std::filesystem::path> own_kernel(const std::string& path) {
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(path, error);
  if (is_folder &&
      !std::filesystem::is_regular_file(std::filesystem::path(path) / "Kconfig", error))
    return fail(path, "is not a kernel source folder", kKernelHint);
  if (!is_folder && !std::filesystem::is_regular_file(path, error))
    return fail(path, "is neither a kernel file, nor a kernel source folder, nor a version",
                kKernelHint);
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

std::string missing_tool_hint(const LinuxAdapter& adapter) {
  if (!adapter.package.empty()) {
    return fmt::format(
        "install {} (scripts/setup installs it); the next run packs it into the guest",
        adapter.package);
  }
  return "add the program to tools in the adapter's [guest] section, or install its package";
}

namespace {

/// Splits "ext4:md-raid1" into file system and stack, and "overlay:xfs" into layer and file system
/// below; the second part is empty if the name has only one. A file system that is given as a path
/// has a name that ends in ".toml", or in ".toml" and a variant. A colon in the name of a directory
/// is therefore not taken as the separator.
std::pair<std::string, std::string> split_stack(const std::string& name) {
  std::size_t colon = name.find(':');
  while (colon != std::string::npos && base::is_path(name.substr(0, colon)) &&
         name.substr(0, colon).find(".toml") == std::string::npos)
    colon = name.find(':', colon + 1);
  if (colon == std::string::npos) return {name, ""};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

}  // namespace

Result<LinuxAdapter> load_adapter(const std::string& name_or_path) {
  const std::size_t at = kernel_mark(name_or_path);
  const auto [on, under] = split_stack(name_or_path.substr(0, at));
  const auto [name, variant] = base::split_variant(on);
  Result<LinuxAdapter> adapter = load(name, 0, "");
  if (!adapter) return adapter;
  const std::vector<std::string> stacks = built_in_stacks();
  const bool names_below =
      adapter->is_layer && !under.empty() && std::ranges::find(stacks, under) == stacks.end();
  if (names_below) {
    adapter = load(name, 0, under);
    if (!adapter) return adapter;
  }
  if (!variant.empty()) TRY(apply_variant(variant, *adapter));
  if (names_below) {
    adapter->name += ":" + adapter->below_name;
  } else if (!under.empty()) {
    TRY(auto loaded, load_stack_of_devices(under));
    TRY(set_stack(*adapter, std::make_shared<const Stack>(std::move(loaded))));
  }
  if (at != std::string::npos) TRY(set_kernel(*adapter, name_or_path.substr(at + 1)));
  return adapter;
}

Result<void> set_stack(LinuxAdapter& adapter, std::shared_ptr<const Stack> stack) {
  if (adapter.log_size_bytes != 0)
    return fail(
        fmt::format("file system \"{}\"", adapter.name),
        fmt::format("keeps its log on a second disk, and cannot run on the stack {}", stack->name),
        "use a file system that needs only one device");
  for (GuestCommand* command : {&adapter.mkfs, &adapter.mount, &adapter.unmount, &adapter.replay,
                                &adapter.check, &adapter.repair}) {
    command->argv =
        fill_in(command->argv,
                {.device = stack->device, .log = "{log}", .uuid = "{uuid}", .target = "{target}"},
                "{options}");
    command->host = false;
  }
  adapter.mount_options =
      fill_in(adapter.mount_options,
              {.device = stack->device, .log = "{log}", .uuid = "{uuid}", .target = "{target}"},
              "{options}");
  adapter.replay_sign_at = 0;
  adapter.minimum_size_bytes = stack->disk_bytes(adapter.minimum_size_bytes);
  adapter.guest.packages.insert(adapter.guest.packages.end(), stack->packages.begin(),
                                stack->packages.end());
  adapter.guest.loads.insert(adapter.guest.loads.end(), stack->modules.begin(),
                             stack->modules.end());
  if (stack->expected != Expectation::clean && adapter.expected == Expectation::clean) {
    adapter.expected = stack->expected;
    adapter.expected_reason = stack->reason;
  }
  adapter.name += ":" + stack->name;
  adapter.title += ", on " + stack->title;
  adapter.stack = std::move(stack);
  return {};
}

bool is_kernel_version(std::string_view text) {
  static const std::regex kVersion("[0-9]+([.][0-9a-z+~-]+)*");
  return std::regex_match(text.begin(), text.end(), kVersion);
}

Result<void> set_kernel(LinuxAdapter& adapter, const std::string& kernel) {
  const std::string subject = fmt::format("file system \"{}\"", adapter.name);
  const bool is_path = kernel.find('/') != std::string::npos;
  if (!is_path && !is_kernel_version(kernel))
    return fail(subject,
                fmt::format("\"{}\" is neither a kernel version nor a path with a '/'", kernel),
                kKernelHint);
  if (!adapter.guest.kernel.empty())
    return fail(subject, "names a kernel, but its adapter already sets one", "remove one of them");
  if (!adapter.guest.modules.empty())
    return fail(subject, "has kernel modules, which fit only one kernel",
                "set the kernel in the [guest] section of a separate adapter file");
  std::string name = kernel, place = kernel;
  if (is_path) {
    TRY(const auto path, own_kernel(kernel));
    place = path.string();
    name = path.filename().string();
    std::ranges::replace(name, '@', '-');
  }
  adapter.guest.kernel = std::move(place);
  adapter.name += "@" + name;
  adapter.title += ", Linux " + name;
  return {};
}

std::string name_to_load(const LinuxAdapter& adapter) {
  std::string plain = name_without_kernel(adapter.name);
  const std::string kernel = plain == adapter.name ? "" : "@" + adapter.guest.kernel;
  if (!adapter.file.empty())
    plain = adapter.file + plain.substr(std::filesystem::path(adapter.file).stem().string().size());
  if (!adapter.below.empty()) {
    plain.replace(plain.size() - adapter.below_name.size(), std::string::npos, adapter.below);
  } else if (adapter.stack && !adapter.stack->file.empty()) {
    plain.replace(plain.size() - adapter.stack->name.size(), std::string::npos,
                  adapter.stack->file);
  }
  return plain + kernel;
}

std::string name_on_stack(const std::string& name_or_path, const std::string& stack) {
  if (stack.empty()) return name_or_path;
  const std::size_t at = kernel_mark(name_or_path);
  std::string name = name_or_path.substr(0, at) + ":" + stack;
  return at == std::string::npos ? name : name + name_or_path.substr(at);
}

std::string name_without_stack(const LinuxAdapter& adapter) {
  std::string name = name_to_load(adapter);
  const std::size_t at = kernel_mark(name);
  const std::string kernel = at == std::string::npos ? "" : name.substr(at);
  name.resize(name.size() - kernel.size());
  if (adapter.stack) {
    const std::string& stack =
        adapter.stack->file.empty() ? adapter.stack->name : adapter.stack->file;
    name.resize(name.size() - stack.size() - 1);
  }
  return name + kernel;
}

std::string name_without_kernel(const std::string& name) {
  return name.substr(0, name.rfind('@'));
}

Result<void> replace_kernel(LinuxAdapter& adapter, const std::string& version_or_path) {
  if (std::string plain = name_without_kernel(adapter.name); plain != adapter.name) {
    adapter.name = std::move(plain);
    adapter.title.erase(adapter.title.rfind(", Linux "));
  }
  adapter.guest.kernel.clear();
  std::error_code error;
  if (is_kernel_version(version_or_path) && !std::filesystem::exists(version_or_path, error))
    return set_kernel(adapter, version_or_path);
  TRY(const auto path, own_kernel(version_or_path));
  adapter.guest.kernel = path.string();
  return {};
}

std::vector<std::string> under_kernels(const std::vector<std::string>& names,
                                       const std::vector<std::string>& kernels) {
  if (kernels.empty()) return names;
  std::vector<std::string> all;
  for (const std::string& name : names)
    for (const std::string& kernel : kernels) all.push_back(fmt::format("{}@{}", name, kernel));
  return all;
}

Result<LinuxAdapter> parse_adapter(std::string_view text, const std::string& file_name) {
  TRY(const auto root, StrictTable::parse(text, file_name));
  return interpret(root, std::filesystem::path(file_name).parent_path(), 0, "");
}

std::vector<std::string> built_in_adapters() {
  return base::names_of(base::built_in(embedded_files()));
}

}  // namespace headcrash::adapters

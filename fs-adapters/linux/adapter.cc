// Reads the adapters' TOML files (adapter.h). Unknown keys are refused: a misspelt promise must not pass in
// silence.
#include "fs-adapters/linux/adapter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "headcrash_adapters_embedded.h"
#include "plugin/config/nearest.h"
#include "plugin/config/strict_table.h"

namespace headcrash::adapters {
namespace {

constexpr int kDeepestBase = 4;

using config::StrictTable;

/// The exit codes of `good = [0, 1]`.
Result<void> take_exits(const StrictTable& table, std::vector<int>& into) {
  std::vector<double> numbers;
  if (const auto taken = table.take("good", numbers); !taken) return taken;
  if (numbers.empty()) return {};
  into.assign(numbers.begin(), numbers.end());
  return {};
}

Result<void> read_command(const StrictTable& root, const std::string& section, GuestCommand& command) {
  const auto table = root.table(section);
  if (!table) return pass_on(table);
  if (!*table) return {};
  if (const auto known = (*table)->only({"command", "good"}); !known) return known;
  if (const auto taken = (*table)->take("command", command.argv); !taken) return taken;
  return take_exits(**table, command.good_exits);
}

Result<void> read_replay(const StrictTable& root, LinuxAdapter& adapter) {
  const auto table = root.table("replay");
  if (!table) return pass_on(table);
  if (!*table) return {};
  if (const auto known = (*table)->only({"command", "good", "by-mount", "sign"}); !known) return known;
  if (const auto taken = (*table)->take("by-mount", adapter.replay_by_mount); !taken) return taken;
  if (const auto taken = (*table)->take("sign", adapter.replay_sign); !taken) return taken;
  if (const auto taken = (*table)->take("command", adapter.replay.argv); !taken) return taken;
  return take_exits(**table, adapter.replay.good_exits);
}

Result<void> read_promise(const StrictTable& root, LinuxAdapter& adapter) {
  const auto table = root.table("promise");
  if (!table) return pass_on(table);
  if (!*table) return {};
  if (const auto known = (*table)->only({"expected", "reason", "fsync-keeps-name", "fsync-keeps-links",
                                         "replace-keeps-content", "renamed-file-survives", "names-are-atomic",
                                         "exposes-stale-data"});
      !known)
    return known;
  std::string expected(name(adapter.expected));
  if (const auto taken = (*table)->take("expected", expected); !taken) return taken;
  for (const Expectation candidate : {Expectation::clean, Expectation::loss, Expectation::any}) {
    if (expected == name(candidate)) adapter.expected = candidate;
  }
  if (expected != name(adapter.expected)) {
    return fail((*table)->subject("expected"), fmt::format("unknown value \"{}\"", expected),
                "use clean, loss or any");
  }
  if (const auto taken = (*table)->take("reason", adapter.expected_reason); !taken) return taken;
  Promises& promises = adapter.promises;
  for (const auto& read : {(*table)->take("fsync-keeps-name", promises.fsync_keeps_name),
                           (*table)->take("fsync-keeps-links", promises.fsync_keeps_links),
                           (*table)->take("replace-keeps-content", promises.replace_keeps_content),
                           (*table)->take("renamed-file-survives", promises.renamed_file_survives),
                           (*table)->take("names-are-atomic", promises.names_are_atomic),
                           (*table)->take("exposes-stale-data", promises.exposes_stale_data)}) {
    if (!read) return read;
  }
  return {};
}

Result<void> read_mount(const StrictTable& root, LinuxAdapter& adapter) {
  const auto table = root.table("mount");
  if (!table) return pass_on(table);
  if (!*table) return {};
  if (const auto known = (*table)->only({"options"}); !known) return known;
  return (*table)->take("options", adapter.mount_options);
}

Result<void> check_complete(const StrictTable& root, const LinuxAdapter& adapter) {
  if (adapter.type.empty()) return fail(root.subject("type"), "is missing", "give the type for mount(2)");
  if (adapter.mkfs.argv.empty()) {
    return fail(root.subject("mkfs.command"), "is missing", "give the command that formats {device}");
  }
  if (adapter.check.argv.empty()) {
    return fail(root.subject("check.command"), "is missing", "give a read-only check of {device}");
  }
  if (!adapter.replay_by_mount && adapter.replay.argv.empty()) {
    return fail(root.subject("replay"), "is missing", "give a command, or by-mount = true");
  }
  return {};
}

Result<LinuxAdapter> interpret(const StrictTable& root, int depth);

Result<LinuxAdapter> load(const std::string& name_or_path, int depth) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name != name_or_path + ".toml") continue;
    const Result<StrictTable> root = StrictTable::parse(file.text, std::string(file.name));
    if (!root) return pass_on(root);
    Result<LinuxAdapter> adapter = interpret(*root, depth);
    if (adapter) adapter->name = name_or_path;
    return adapter;
  }
  if (!name_or_path.ends_with(".toml") && name_or_path.find('/') == std::string::npos) {
    return fail("file system \"" + name_or_path + "\"", "unknown",
                config::suggest(name_or_path, built_in_adapters()) + "; or give the path of a .toml file");
  }
  const Result<StrictTable> root = StrictTable::read(name_or_path);
  if (!root) return pass_on(root);
  Result<LinuxAdapter> adapter = interpret(*root, depth);
  if (adapter) adapter->name = std::filesystem::path(name_or_path).stem();
  return adapter;
}

Result<LinuxAdapter> interpret(const StrictTable& root, int depth) {
  if (const auto known = root.only(
          {"base", "title", "type", "minimum-size", "mkfs", "mount", "replay", "check", "repair", "promise"});
      !known) {
    return pass_on(known);
  }
  LinuxAdapter adapter;
  adapter.mkfs.good_exits = adapter.replay.good_exits = adapter.check.good_exits =
      adapter.repair.good_exits = {0};
  std::string base;
  if (const auto taken = root.take("base", base); !taken) return pass_on(taken);
  if (!base.empty()) {
    if (depth >= kDeepestBase) return fail(root.subject("base"), "goes in a circle or too deep");
    const Result<LinuxAdapter> parent = load(base, depth + 1);
    if (!parent) return pass_on(parent);
    adapter = *parent;
  }
  for (const auto& read :
       {root.take("title", adapter.title), root.take("type", adapter.type),
        root.take_size("minimum-size", adapter.minimum_size_bytes), read_mount(root, adapter),
        read_command(root, "mkfs", adapter.mkfs), read_replay(root, adapter),
        read_command(root, "check", adapter.check), read_command(root, "repair", adapter.repair),
        read_promise(root, adapter), check_complete(root, adapter)}) {
    if (!read) return pass_on(read);
  }
  return adapter;
}

}  // namespace

bool GuestCommand::good(int exit_code) const {
  return std::find(good_exits.begin(), good_exits.end(), exit_code) != good_exits.end();
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

std::vector<std::string> fill_in(const std::vector<std::string>& argv, std::string_view device,
                                 std::string_view uuid) {
  std::vector<std::string> filled = argv;
  const std::pair<std::string_view, std::string_view> words[] = {{"{device}", device}, {"{uuid}", uuid}};
  for (std::string& word : filled) {
    for (const auto& [from, to] : words) {
      for (std::size_t at = word.find(from); at != std::string::npos; at = word.find(from, at + to.size())) {
        word.replace(at, from.size(), to);
      }
    }
  }
  return filled;
}

Result<LinuxAdapter> load_adapter(const std::string& name_or_path) {
  return load(name_or_path, 0);
}

Result<LinuxAdapter> parse_adapter(std::string_view text, const std::string& file_name) {
  const Result<StrictTable> root = StrictTable::parse(text, file_name);
  if (!root) return pass_on(root);
  return interpret(*root, 0);
}

std::vector<std::string> built_in_adapters() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headcrash::adapters

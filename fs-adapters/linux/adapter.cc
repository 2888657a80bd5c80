// Reads the adapters' TOML files (adapter.h). Unknown keys are refused: a misspelt promise must not pass in
// silence.
#include "fs-adapters/linux/adapter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "headcrash_adapters_embedded.h"
#include "plugin/model/size.h"

namespace headcrash::adapters {
namespace {

constexpr int kDeepestBase = 4;

/// Checks the keys of a table against those known; remembers the file for messages.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Result<void> known(const toml::table& table, const std::string& prefix,
                     const std::set<std::string>& keys) const {
    for (const auto& [key, value] : table) {
      if (!keys.contains(std::string(key.str()))) {
        return fail(subject(prefix + std::string(key.str())), "unknown key",
                    fmt::format("known here: {}", fmt::join(keys, ", ")));
      }
    }
    return {};
  }

  template <typename T>
  Result<void> take(const toml::table& table, const std::string& prefix, const std::string& key,
                    T& into) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const std::optional<T> value = node->value_exact<T>();
    if (!value)
      return fail(subject(prefix + key), "has the wrong type", "see ext4.toml for an example of each key");
    into = *value;
    return {};
  }

  template <typename T>
  Result<void> take_list(const toml::table& table, const std::string& prefix, const std::string& key,
                         std::vector<T>& into) const {
    const toml::node* node = table.get(key);
    if (node == nullptr) return {};
    const toml::array* list = node->as_array();
    into.clear();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const auto value = (*list)[i].value<T>();
      if (!value) break;
      into.push_back(*value);
    }
    if (list == nullptr || into.size() != list->size() || into.empty()) {
      return fail(subject(prefix + key), "must be a list that is not empty, all of one type",
                  "see ext4.toml for an example of each key");
    }
    return {};
  }

  std::string subject(const std::string& key) const { return file_ + ": " + key; }

 private:
  std::string file_;
};

Result<void> read_command(const Reader& reader, const toml::table& root, const std::string& section,
                          const std::set<std::string>& more_keys, GuestCommand& command) {
  const toml::node* node = root.get(section);
  if (node == nullptr) return {};
  const toml::table* table = node->as_table();
  if (table == nullptr) return fail(reader.subject(section), "must be a table", "write [" + section + "]");
  std::set<std::string> keys = more_keys;
  keys.insert({"command", "good"});
  if (const auto known = reader.known(*table, section + ".", keys); !known) return known;
  if (const auto taken = reader.take_list(*table, section + ".", "command", command.argv); !taken)
    return taken;
  return reader.take_list(*table, section + ".", "good", command.good_exits);
}

Result<void> read_promise(const Reader& reader, const toml::table& root, LinuxAdapter& adapter) {
  const toml::table* table = root["promise"].as_table();
  if (table == nullptr) return {};
  if (const auto known = reader.known(*table, "promise.", {"expected", "reason", "fsync-keeps-name"}); !known)
    return known;
  std::string expected;
  if (const auto taken = reader.take(*table, "promise.", "expected", expected); !taken) return taken;
  for (const Expectation candidate : {Expectation::clean, Expectation::loss, Expectation::any}) {
    if (expected == name(candidate)) adapter.expected = candidate;
  }
  if (!expected.empty() && expected != name(adapter.expected)) {
    return fail(reader.subject("promise.expected"), fmt::format("unknown value \"{}\"", expected),
                "use clean, loss or any");
  }
  if (const auto taken = reader.take(*table, "promise.", "reason", adapter.expected_reason); !taken)
    return taken;
  return reader.take(*table, "promise.", "fsync-keeps-name", adapter.fsync_keeps_name);
}

Result<void> read_mount(const Reader& reader, const toml::table& root, LinuxAdapter& adapter) {
  if (const toml::table* mount = root["mount"].as_table()) {
    if (const auto known = reader.known(*mount, "mount.", {"options"}); !known) return known;
    if (const auto taken = reader.take(*mount, "mount.", "options", adapter.mount_options); !taken)
      return taken;
  }
  if (const toml::table* replay = root["replay"].as_table()) {
    return reader.take(*replay, "replay.", "by-mount", adapter.replay_by_mount);
  }
  return {};
}

Result<void> read_top(const Reader& reader, const toml::table& root, LinuxAdapter& adapter) {
  if (const auto known = reader.known(
          root, "",
          {"base", "title", "type", "minimum-size", "mkfs", "mount", "replay", "check", "repair", "promise"});
      !known) {
    return known;
  }
  if (const auto taken = reader.take(root, "", "title", adapter.title); !taken) return taken;
  if (const auto taken = reader.take(root, "", "type", adapter.type); !taken) return taken;
  std::string minimum;
  if (const auto taken = reader.take(root, "", "minimum-size", minimum); !taken) return taken;
  if (!minimum.empty()) {
    const Result<std::uint64_t> size = model::parse_size(minimum, reader.subject("minimum-size"));
    if (!size) return pass_on(size);
    adapter.minimum_size_bytes = *size;
  }
  return {};
}

Result<void> check_complete(const Reader& reader, const LinuxAdapter& adapter) {
  if (adapter.type.empty()) return fail(reader.subject("type"), "is missing", "give the type for mount(2)");
  if (adapter.mkfs.argv.empty())
    return fail(reader.subject("mkfs.command"), "is missing", "give the command that formats {device}");
  if (adapter.check.argv.empty())
    return fail(reader.subject("check.command"), "is missing", "give a read-only check of {device}");
  if (!adapter.replay_by_mount && adapter.replay.argv.empty()) {
    return fail(reader.subject("replay"), "is missing", "give a command, or by-mount = true");
  }
  return {};
}

Result<LinuxAdapter> parse(std::string_view text, const std::string& file_name, int depth);

Result<LinuxAdapter> load(const std::string& name_or_path, int depth) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name_or_path + ".toml") {
      Result<LinuxAdapter> adapter = parse(file.text, std::string(file.name), depth);
      if (adapter) adapter->name = name_or_path;
      return adapter;
    }
  }
  if (!name_or_path.ends_with(".toml") && name_or_path.find('/') == std::string::npos) {
    return fail(
        "file system \"" + name_or_path + "\"", "unknown",
        fmt::format("known are {}; or give the path of a .toml file", fmt::join(built_in_adapters(), ", ")));
  }
  std::ifstream in(name_or_path);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return fail(name_or_path, "cannot be read", "give a built-in name or a readable .toml file");
  Result<LinuxAdapter> adapter = parse(text.str(), name_or_path, depth);
  if (adapter) {
    const std::size_t slash = name_or_path.rfind('/');
    adapter->name = name_or_path.substr(slash == std::string::npos ? 0 : slash + 1);
    adapter->name.erase(adapter->name.size() - std::string_view(".toml").size());
  }
  return adapter;
}

Result<LinuxAdapter> parse(std::string_view text, const std::string& file_name, int depth) {
  const Reader reader(file_name);
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fail(fmt::format("{}:{}", file_name, error.source().begin.line), std::string(error.description()));
  }
  LinuxAdapter adapter;
  adapter.mkfs.good_exits = adapter.replay.good_exits = adapter.check.good_exits =
      adapter.repair.good_exits = {0};
  if (const auto base = root["base"].value<std::string>()) {
    if (depth >= kDeepestBase) return fail(reader.subject("base"), "goes in a circle or too deep");
    const Result<LinuxAdapter> parent = load(*base, depth + 1);
    if (!parent) return pass_on(parent);
    adapter = *parent;
  }
  if (const auto top = read_top(reader, root, adapter); !top) return pass_on(top);
  if (const auto mount = read_mount(reader, root, adapter); !mount) return pass_on(mount);
  const std::pair<const char*, GuestCommand*> commands[] = {{"mkfs", &adapter.mkfs},
                                                            {"replay", &adapter.replay},
                                                            {"check", &adapter.check},
                                                            {"repair", &adapter.repair}};
  for (const auto& [section, command] : commands) {
    const std::set<std::string> more =
        std::string_view(section) == "replay" ? std::set<std::string>{"by-mount"} : std::set<std::string>{};
    if (const auto read = read_command(reader, root, section, more, *command); !read) return pass_on(read);
  }
  if (const auto promise = read_promise(reader, root, adapter); !promise) return pass_on(promise);
  if (const auto complete = check_complete(reader, adapter); !complete) return pass_on(complete);
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
  return parse(text, file_name, 0);
}

std::vector<std::string> built_in_adapters() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    names.emplace_back(file.name.substr(0, file.name.rfind('.')));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace headcrash::adapters

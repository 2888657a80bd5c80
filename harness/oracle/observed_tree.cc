// Parses the entries of the agent's dump. They come from a guest that may have mounted any disk, so
// every field is checked.
#include "harness/oracle/observed_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace headcrash::oracle {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSizeMost = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kBlocksMost = kSizeMost / 512;
constexpr std::size_t kForeignBytes = 32;

/// Parses an integer. Returns false if the value is not an integer or does not fit into the type.
template <typename Integer>
bool read_integer(const json& value, Integer& into) {
  if (value.is_number_unsigned()) {
    if (!std::in_range<Integer>(value.get<std::uint64_t>())) return false;
    into = static_cast<Integer>(value.get<std::uint64_t>());
    return true;
  }
  if (!value.is_number_integer() || !std::in_range<Integer>(value.get<std::int64_t>()))
    return false;
  into = static_cast<Integer>(value.get<std::int64_t>());
  return true;
}

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

std::optional<std::string> parse_hex(const std::string& digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4 | *low);
  }
  return bytes;
}

std::optional<ContentRun> parse_run(const json& value) {
  if (!value.is_array() || value.size() < 3 || !value[0].is_number_unsigned() ||
      !value[1].is_number_unsigned() || !value[2].is_string()) {
    return std::nullopt;
  }
  for (std::size_t i = 3; i < value.size(); ++i) {
    if (!value[i].is_number_unsigned() && !value[i].is_string()) return std::nullopt;
  }
  ContentRun run{.first_block = value[0].get<std::uint64_t>(),
                 .blocks = value[1].get<std::uint64_t>()};
  if (run.blocks > kBlocksMost || run.first_block > kBlocksMost) return std::nullopt;
  const std::string kind = value[2].get<std::string>();
  if (kind == "zero" && value.size() == 3) return run;
  if (kind == "before-mkfs" && value.size() == 3) {
    run.kind = ContentRun::Kind::before_mkfs;
    return run;
  }
  const bool has_digest = value.size() == 5;
  if (kind == "other" && (value.size() == 4 || has_digest) && value[3].is_string()) {
    run.kind = ContentRun::Kind::foreign;
    if (has_digest && !read_integer(value[4], run.digest)) return std::nullopt;
    const std::string hex = value[3].get<std::string>();
    for (std::size_t i = 0; i + 1 < hex.size() && i < 64; i += 2) {
      const auto high = hex_digit(hex[i]), low = hex_digit(hex[i + 1]);
      if (!high || !low) return std::nullopt;
      run.head.push_back(static_cast<std::byte>(*high << 4 | *low));
    }
    return run;
  }
  const bool moved = kind == "moved";
  if ((!moved && kind != "stamp") || value.size() != (moved ? 6u : 5u)) return std::nullopt;
  run.kind = moved ? ContentRun::Kind::moved : ContentRun::Kind::stamp;
  const bool read = read_integer(value[3], run.file) && read_integer(value[4], run.version) &&
                    (!moved || read_integer(value[5], run.stamped_block));
  return read ? std::optional(run) : std::nullopt;
}

}  // namespace

ContentRun run_of(const workload::BlockContent& content, std::span<const std::byte> block,
                  std::uint64_t number) {
  ContentRun run{.first_block = number, .blocks = 1};
  if (const auto* stamp = std::get_if<workload::Stamp>(&content)) {
    run.kind = stamp->block == number ? ContentRun::Kind::stamp : ContentRun::Kind::moved;
    run.file = stamp->file;
    run.version = stamp->version;
    if (run.kind == ContentRun::Kind::moved) run.stamped_block = stamp->block;
  } else if (std::holds_alternative<workload::BeforeMkfs>(content)) {
    run.kind = ContentRun::Kind::before_mkfs;
  } else if (std::holds_alternative<workload::Foreign>(content)) {
    run.kind = ContentRun::Kind::foreign;
    const auto head = block.first(std::min(block.size(), kForeignBytes));
    run.head.assign(head.begin(), head.end());
    run.digest = workload::block_digest(block);
  }
  return run;
}

Result<ObservedObject> parse_entry(const json& entry) {
  const auto broken = [](const char* key) {
    return fail(fmt::format("agent's dump: {}", key), "is missing or invalid");
  };
  const auto number = [&](const char* key, auto& into) {
    const auto at = entry.find(key);
    return at == entry.end() || read_integer(*at, into);
  };
  if (!entry.is_object() || !entry.contains("path") || !entry["path"].is_string())
    return broken("path");
  ObservedObject object{.path = entry["path"].get<std::string>()};
  const std::string type =
      entry.contains("type") && entry["type"].is_string() ? entry["type"].get<std::string>() : "";
  constexpr std::array<std::pair<std::string_view, FileType>, 6> kTypes{
      {{"file", FileType::regular},
       {"directory", FileType::directory},
       {"symlink", FileType::symlink},
       {"whiteout", FileType::whiteout},
       {"fifo", FileType::fifo},
       {"other", FileType::other}}};
  bool known = false;
  for (const auto& [word, value] : kTypes) {
    if (type == word) object.type = value, known = true;
  }
  if (!known) return broken("type");
  if (!number("size", object.size_bytes)) return broken("size");
  if (!number("links", object.links)) return broken("links");
  if (!number("inode", object.inode)) return broken("inode");
  if (!number("errno", object.error) || object.error < 0) return broken("errno");
  // A damaged file system may report any size. The size is clamped before it is judged.
  object.size_bytes = std::min(object.size_bytes, kSizeMost);
  const auto observed = [&](const char* key, auto& into) {
    const auto at = entry.find(key);
    if (at == entry.end()) return true;
    return read_integer(*at, into.emplace());
  };
  if (!observed("mode", object.mode)) return broken("mode");
  if (!observed("user", object.user)) return broken("user");
  if (!observed("group", object.group)) return broken("group");
  if (!observed("flags", object.flags)) return broken("flags");
  if (!observed("project", object.project)) return broken("project");
  if (!observed("allocated", object.allocated_bytes)) return broken("allocated");
  if (!observed("modified", object.modified_seconds)) return broken("modified");
  if (!observed("accessed", object.accessed_seconds)) return broken("accessed");
  if (!observed("born", object.born_seconds)) return broken("born");
  if (!observed("changed", object.changed_us)) return broken("changed");
  if (const auto target = entry.find("target"); target != entry.end()) {
    if (!target->is_string()) return broken("target");
    object.link_target = target->get<std::string>();
  }
  if (const auto attributes = entry.find("attributes"); attributes != entry.end()) {
    if (!attributes->is_object()) return broken("attributes");
    for (const auto& [name, value] : attributes->items()) {
      if (!value.is_string()) return broken("attributes");
      object.attributes[name] = value.get<std::string>();
    }
  }
  if (const auto attributes = entry.find("attributes-hex"); attributes != entry.end()) {
    if (!attributes->is_object()) return broken("attributes-hex");
    for (const auto& [name, value] : attributes->items()) {
      const auto bytes = value.is_string() ? parse_hex(value.get<std::string>()) : std::nullopt;
      if (!bytes) return broken("attributes-hex");
      object.attributes[name] = *bytes;
    }
  }
  if (const auto cut = entry.find("cut"); cut != entry.end()) {
    if (!cut->is_boolean()) return broken("cut");
    object.cut = cut->get<bool>();
  }
  if (const auto cut = entry.find("attributes-cut"); cut != entry.end()) {
    if (!cut->is_boolean()) return broken("attributes-cut");
    object.attributes_cut = cut->get<bool>();
  }
  if (const auto runs = entry.find("runs"); runs != entry.end()) {
    if (!runs->is_array()) return broken("runs");
    for (const json& value : *runs) {
      std::optional<ContentRun> run = parse_run(value);
      if (!run) return broken("runs");
      object.runs.push_back(std::move(*run));
    }
  }
  return object;
}

namespace {

/// For each object, returns the number of the first object with the same inode, counted from 1; 0
/// if the object's inode is unknown.
std::vector<std::uint64_t> sharing_of(const std::vector<ObservedObject>& tree) {
  std::map<std::uint64_t, std::uint64_t> first;
  std::vector<std::uint64_t> sharing;
  sharing.reserve(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i)
    sharing.push_back(tree[i].inode == 0 ? 0
                                         : first.try_emplace(tree[i].inode, i + 1).first->second);
  return sharing;
}

std::string changed_fields(const ObservedObject& one, const ObservedObject& other) {
  std::string changed;
  const auto compare = [&](const char* name, const auto& field, const auto& now) {
    if (field != now) changed += std::string(" ") + name;
  };
  compare("type", one.type, other.type);
  compare("links", one.links, other.links);
  compare("size", one.size_bytes, other.size_bytes);
  compare("errno", one.error, other.error);
  compare("runs", one.runs, other.runs);
  compare("cut", one.cut, other.cut);
  compare("target", one.link_target, other.link_target);
  compare("attributes", one.attributes, other.attributes);
  compare("mode", one.mode, other.mode);
  compare("user", one.user, other.user);
  compare("group", one.group, other.group);
  compare("flags", one.flags, other.flags);
  compare("project", one.project, other.project);
  // XFS preallocates blocks beyond the end of a file, and may free them between the two dumps.
  const bool fewer =
      one.allocated_bytes && other.allocated_bytes && *other.allocated_bytes < *one.allocated_bytes;
  if (!fewer) compare("allocated", one.allocated_bytes, other.allocated_bytes);
  compare("modified", one.modified_seconds, other.modified_seconds);
  // The dump itself changes the atime of files if the file system ignores O_NOATIME (fuse2fs).
  const bool later = one.accessed_seconds && other.accessed_seconds &&
                     *other.accessed_seconds > *one.accessed_seconds;
  if (!later) compare("accessed", one.accessed_seconds, other.accessed_seconds);
  compare("born", one.born_seconds, other.born_seconds);
  return changed;
}

}  // namespace

std::string tree_difference(const std::vector<ObservedObject>& one,
                            const std::vector<ObservedObject>& other) {
  const auto sharing = sharing_of(one), now_sharing = sharing_of(other);
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i >= one.size()) return other[i].path + " is new";
    if (i >= other.size()) return one[i].path + " is gone";
    if (one[i].path != other[i].path)
      return one[i].path < other[i].path ? one[i].path + " is gone" : other[i].path + " is new";
    std::string changed = changed_fields(one[i], other[i]);
    if (sharing[i] != now_sharing[i]) changed += " inode";
    const std::string& name = one[i].path.empty() ? "the root" : one[i].path;
    if (!changed.empty()) return fmt::format("{} has changed:{}", name, changed);
  }
  return {};
}

}  // namespace headcrash::oracle

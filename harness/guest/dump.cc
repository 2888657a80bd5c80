// Dumps a tree. Describes file contents as runs of stamps (dump.h).
#include "harness/guest/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/workload/operation.h"
#include "harness/workload/stamp.h"

namespace headcrash::guest {
namespace {

using nlohmann::json;
using workload::kStampBytes;

constexpr std::size_t kReadBytes = 64 << 10;  // size of each read, and of the only buffer
constexpr std::size_t kForeignBytes = 32;     // number of bytes to report for an unknown block

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  return text;
}

// Describes a block without its position. Adjacent blocks with equal descriptions form a run.
struct Words {
  /// The words that describe the block's content. In the output, the first block and the number of
  /// blocks precede them.
  json tail;
  bool joinable = true;  // false for a moved block, which is always a separate run
};

Words words_of(std::span<const std::byte> block, std::uint64_t number) {
  const workload::BlockContent content = workload::read_stamp(block);
  if (const auto* stamp = std::get_if<workload::Stamp>(&content)) {
    if (stamp->block == number)
      return {.tail = json::array({"stamp", stamp->file, stamp->version})};
    return {.tail = json::array({"moved", stamp->file, stamp->version, stamp->block}),
            .joinable = false};
  }
  if (std::holds_alternative<workload::Zeroes>(content)) return {.tail = json::array({"zero"})};
  if (std::holds_alternative<workload::BeforeMkfs>(content))
    return {.tail = json::array({"before-mkfs"})};
  return {.tail = json::array({"other", hex(block.first(std::min(block.size(), kForeignBytes))),
                               workload::block_digest(block)})};
}

// Combines adjacent blocks into runs.
class Runs {
 public:
  explicit Runs(std::size_t limit) : limit_(limit) {}

  /// Adds a block. Returns false if the limit has been reached; the block is then not added.
  bool add(std::uint64_t number, Words words) {
    if (count_ > 0 && words.joinable && words.tail == tail_) {
      ++count_;
      return true;
    }
    close();
    if (runs_.size() == limit_) return false;
    first_ = number;
    count_ = 1;
    tail_ = std::move(words.tail);
    return true;
  }

  json take() {
    close();
    return std::move(runs_);
  }

 private:
  void close() {
    if (count_ == 0) return;
    json run = json::array({first_, count_});
    for (json& word : tail_) run.push_back(std::move(word));
    runs_.push_back(std::move(run));
    count_ = 0;
  }

  std::size_t limit_;
  json runs_ = json::array();
  std::uint64_t first_ = 0, count_ = 0;
  json tail_;
};

// Adds the contents of a file to `entry`. Sets `errno` in `entry` if reading ended with an error,
// or `cut` if it ended at a limit.
void describe_content(Vfs& vfs, FileHandle file, const DumpLimits& limits,
                      std::span<std::byte> buffer, json& entry) {
  Runs runs(limits.runs);
  std::uint64_t offset = 0;
  bool cut = false;
  for (bool more = true; more && !cut;) {
    if (offset >= limits.file_bytes) {
      cut = true;
      break;
    }
    const auto got = vfs.pread(file, offset, buffer);
    if (!got) {
      entry["errno"] = got.error().value;
      break;
    }
    const std::span<const std::byte> data(buffer.data(), *got);
    for (std::size_t at = 0; at < data.size() && !cut; at += kStampBytes) {
      const auto block = data.subspan(at, std::min(kStampBytes, data.size() - at));
      const std::uint64_t number = (offset + at) / kStampBytes;
      cut = !runs.add(number, words_of(block, number));
    }
    offset += *got;
    more = *got == buffer.size();
  }
  entry["runs"] = runs.take();
  if (cut) entry["cut"] = true;
}

/// Adds the data that can be read only from an open file or directory. Opens it only once, because
/// system calls are slow in virtual time.
void describe_opened(Vfs& vfs, const std::string& path, FileType type, const DumpLimits& limits,
                     std::span<std::byte> buffer, json& entry) {
  const bool regular = type == FileType::regular;
  const auto opened = regular ? vfs.open(path, {.read_only = true}) : vfs.open_directory(path);
  if (!opened) {
    if (regular) entry["errno"] = opened.error().value;
    return;
  }
  if (regular) describe_content(vfs, *opened, limits, buffer, entry);
  if (const auto flags = vfs.flags(*opened)) entry["flags"] = *flags & workload::known_flags();
  if (const auto project = vfs.project(*opened)) entry["project"] = *project;
  vfs.close(*opened);
}

std::string_view name_of(FileType type) {
  switch (type) {
    case FileType::regular:
      return "file";
    case FileType::directory:
      return "directory";
    case FileType::symlink:
      return "symlink";
    case FileType::whiteout:
      return "whiteout";
    case FileType::fifo:
      return "fifo";
    case FileType::other:
      break;
  }
  return "other";
}

/// Adds `attributes`: the extended attributes that an operation can set
/// (workload::is_attribute_name). Omits `attributes` if the object has no such attributes, or if
/// the file system does not support them.
void describe_attributes(Vfs& vfs, const std::string& path, const DumpLimits& limits, json& entry) {
  const auto names = vfs.listxattr(path);
  if (!names && names.error().value != EOPNOTSUPP) entry["errno"] = names.error().value;
  if (!names) return;
  std::size_t described = 0, bytes = 0;
  for (const std::string& name : *names) {
    if (!workload::is_attribute_name(name)) continue;
    const auto value = vfs.getxattr(path, name);
    if (!value) {
      // The kernel may list attributes that have no value, such as security labels when no policy
      // is loaded.
      if (!workload::is_kernels_attribute(name)) entry["errno"] = value.error().value;
      continue;
    }
    const std::string reported = workload::reported_attribute_value(
        {reinterpret_cast<const char*>(value->data()), value->size()});
    const bool text = workload::is_reported_as_text(reported);
    json value_text = text ? reported : hex(std::as_bytes(std::span(reported)));
    bytes += workload::reported_attribute_bytes(name, reported);
    if (described++ == limits.attributes || bytes > limits.attribute_bytes) {
      entry["attributes-cut"] = true;
      return;
    }
    entry[text ? "attributes" : "attributes-hex"][name] = std::move(value_text);
  }
}

json describe(Vfs& vfs, const std::string& path, FileType listed, const DumpLimits& limits,
              std::span<std::byte> buffer) {
  json entry{{"event", "entry"}, {"path", path}, {"type", name_of(listed)}};
  const auto status = vfs.stat(path);
  if (!status) {
    entry["errno"] = status.error().value;
    return entry;
  }
  entry["type"] = name_of(status->type);
  entry["size"] = status->size_bytes;
  entry["links"] = status->links;
  entry["mode"] = status->mode;
  entry["user"] = status->user;
  entry["group"] = status->group;
  entry["allocated"] = status->allocated_bytes;
  entry["modified"] = status->modified_ns / kNsPerSecond;
  entry["changed"] = status->changed_ns / 1000;
  if (status->type == FileType::regular) {
    entry["accessed"] = status->accessed_ns / kNsPerSecond;
    if (status->born_ns) entry["born"] = *status->born_ns / kNsPerSecond;
  }
  entry["inode"] = status->inode;
  if (status->type == FileType::symlink) {
    const auto target = vfs.readlink(path);
    if (target) {
      entry["target"] = *target;
    } else {
      entry["errno"] = target.error().value;
    }
  }
  if (status->type == FileType::regular || status->type == FileType::directory)
    describe_opened(vfs, path, status->type, limits, buffer, entry);
  if (status->type != FileType::other) describe_attributes(vfs, path, limits, entry);
  return entry;
}

struct Pending {
  std::string path;
  FileType type;
};

// The children are pushed in reverse order, so that the first name is on top of the stack.
VfsResult<void> push_children(Vfs& vfs, const std::string& folder, std::vector<Pending>& stack) {
  TRY(auto children, vfs.list(folder));
  std::sort(children.begin(), children.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name > b.name; });
  for (const DirectoryEntry& child : children) {
    stack.push_back(
        {.path = folder.empty() ? child.name : folder + "/" + child.name, .type = child.type});
  }
  return {};
}

}  // namespace

VfsResult<std::uint64_t> dump_tree(Vfs& vfs, const EntrySink& sink, const DumpLimits& limits) {
  std::vector<Pending> stack;
  if (const auto root = push_children(vfs, "", stack); !root) return tl::unexpected(root.error());
  std::vector<std::byte> buffer(kReadBytes);
  std::uint64_t entries = 0;
  while (!stack.empty()) {
    const Pending next = std::move(stack.back());
    stack.pop_back();
    if (entries == limits.entries) return tl::unexpected(Errno{.value = EOVERFLOW});
    json entry = describe(vfs, next.path, next.type, limits, buffer);
    if (entry["type"] == "directory" && !entry.contains("errno")) {
      if (next.path.size() > limits.path_bytes) {
        entry["errno"] = ENAMETOOLONG;
      } else if (const auto entered = push_children(vfs, next.path, stack); !entered) {
        entry["errno"] = entered.error().value;
      }
    }
    sink(entry);
    ++entries;
  }
  return entries;
}

}  // namespace headcrash::guest

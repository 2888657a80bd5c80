// Converts objects to operations. Parents precede their children (list_of_tree.h).
#include "harness/oracle/list_of_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "harness/workload/stamp.h"

namespace headcrash::oracle {
namespace {

using workload::kLongestWriteBytes;
using workload::kStampBytes;
using workload::Operation;
using Kind = Operation::Kind;

constexpr std::string_view kRecovered = "lost+found";

bool is_lost_and_found(const std::string& path) {
  return path == kRecovered || path.starts_with("lost+found/");
}

class Writer {
 public:
  explicit Writer(std::span<const Operation> list) {
    for (const Operation& each : list) sets_.insert(each.kind);
  }

  Result<void> add(const ObservedObject& object) {
    if (object.cut || object.attributes_cut) return cannot(object, "was not reported completely");
    if (object.error != 0) return cannot(object, "cannot be read");
    const auto [first, is_first] = named_.emplace(object.inode, object.path);
    if (!is_first) {
      operations_.push_back({.kind = Kind::link, .path = first->second, .target = object.path});
      return {};
    }
    TRY(make(object));
    for (const auto& [name, value] : object.attributes)
      operations_.push_back(
          {.kind = Kind::setxattr, .path = object.path, .attribute = name, .value = value});
    set_inode(object);
    return {};
  }

  std::vector<Operation> take() {
    operations_.push_back({.kind = Kind::freeze});
    return std::move(operations_);
  }

 private:
  static tl::unexpected<Error> cannot(const ObservedObject& object, const std::string& why) {
    return fail(object.path, why + ", so the list cannot continue after the crash",
                "end the list at the crash");
  }

  Result<void> make(const ObservedObject& object) {
    switch (object.type) {
      case FileType::directory:
        operations_.push_back({.kind = Kind::mkdir, .path = object.path});
        return {};
      case FileType::symlink:
        operations_.push_back(
            {.kind = Kind::symlink, .path = object.path, .target = object.link_target});
        return {};
      case FileType::fifo:
        operations_.push_back({.kind = Kind::mknod, .path = object.path, .target = "fifo"});
        return {};
      case FileType::regular:
        operations_.push_back({.kind = Kind::create, .path = object.path});
        return write(object);
      default:
        return cannot(object, "is a whiteout");
    }
  }

  Result<void> write(const ObservedObject& object) {
    std::uint64_t written = 0;
    std::optional<std::uint32_t> file;
    for (const ContentRun& run : object.runs) {
      if (run.kind == ContentRun::Kind::zero) continue;
      if (run.kind == ContentRun::Kind::moved)
        return cannot(object, "has blocks that were moved or shared");
      if (run.kind != ContentRun::Kind::stamp)
        return cannot(object, "has bytes that no operation wrote");
      if (file && *file != run.file) return cannot(object, "has blocks of two files");
      file = run.file;
      const std::uint64_t end =
          std::min((run.first_block + run.blocks) * kStampBytes, object.size_bytes);
      for (std::uint64_t at = run.first_block * kStampBytes; at < end; at += kLongestWriteBytes) {
        operations_.push_back({.kind = Kind::write,
                               .path = object.path,
                               .offset = at,
                               .length = std::min(kLongestWriteBytes, end - at),
                               .file = run.file,
                               .version = run.version});
      }
      written = std::max(written, end);
    }
    if (object.size_bytes > written)
      operations_.push_back(
          {.kind = Kind::truncate, .path = object.path, .length = object.size_bytes});
    return {};
  }

  void set_inode(const ObservedObject& object) {
    const bool file = object.type == FileType::regular;
    if (!file && object.type != FileType::directory) return;
    Operation each{.path = object.path};
    const auto add_if = [&](Kind kind, bool known) {
      if (!known || !sets_.contains(kind)) return;
      each.kind = kind;
      operations_.push_back(each);
    };
    each.mode = object.mode.value_or(0);
    add_if(Kind::chmod, object.mode.has_value());
    each.user = object.user.value_or(0);
    each.group = object.group.value_or(0);
    add_if(Kind::chown, object.user && object.group);
    each.flags = object.flags.value_or(0) & workload::known_flags();
    add_if(Kind::flags, object.flags.has_value());
    each.project = object.project.value_or(0);
    add_if(Kind::project, object.project.has_value());
    const auto settable = [](const std::optional<std::int64_t>& time) {
      return time && *time % 2 == 0 && *time >= workload::kEarliestSeconds &&
             *time <= workload::kLatestSeconds;
    };
    each.seconds = object.modified_seconds.value_or(0);
    add_if(Kind::touch, file && settable(object.modified_seconds));
    each.seconds = object.accessed_seconds.value_or(0);
    add_if(Kind::access, file && settable(object.accessed_seconds));
  }

  std::set<Kind> sets_;
  std::map<std::uint64_t, std::string> named_;  ///< by inode
  std::vector<Operation> operations_;
};

}  // namespace

Result<std::vector<Operation>> list_of_tree(const std::vector<ObservedObject>& tree,
                                            std::span<const Operation> list) {
  const bool subvolumes = std::ranges::any_of(list, [](const Operation& each) {
    return each.kind == Kind::subvolume || each.kind == Kind::snapshot;
  });
  if (subvolumes)
    return fail("the list", "has subvolumes, so it cannot continue after a crash",
                "end the list at the crash");
  std::vector<const ObservedObject*> in_order;
  in_order.reserve(tree.size());
  for (const ObservedObject& each : tree)
    if (!is_lost_and_found(each.path)) in_order.push_back(&each);
  std::ranges::sort(in_order, {}, &ObservedObject::path);  // parents come before their children
  Writer writer(list);
  for (const ObservedObject* each : in_order) TRY(writer.add(*each));
  return writer.take();
}

}  // namespace headcrash::oracle

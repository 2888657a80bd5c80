// Returns the cached parts of a tree, and rereads a part if its source sectors have changed
// (tree_cache.h).
#include "harness/explorer/in_process/tree_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::in_process {
namespace {

constexpr std::size_t kNamesMax = 1U << 24U;
// Maximum number of entries that a search for a directory entry examines. The search begins where
// the entry was found before.
constexpr std::size_t kLookAhead = 64;

}  // namespace

Result<void> TreeCache::NotedStore::read(std::uint64_t lba, std::span<std::byte> into) const {
  TRY(disk_->read(lba, into));
  for (std::uint64_t i = 0; i < into.size() / model::kSectorBytes; ++i)
    read_.push_back(static_cast<std::uint32_t>(lba + i));
  return {};
}

std::uint64_t TreeCache::digest_of(const std::vector<std::uint32_t>& sectors) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  const auto digests = disk_->digests();
  std::uint64_t sum = sectors.size();
  for (const std::uint32_t sector : sectors) {
    sum = (sum ^ digests[sector]) * kOdd;
    sum ^= sum >> 31U;
  }
  return sum;
}

TreeCache::Sources TreeCache::made_of(std::uint64_t place,
                                      std::vector<std::uint32_t> sectors) const {
  std::sort(sectors.begin(), sectors.end());
  sectors.erase(std::unique(sectors.begin(), sectors.end()), sectors.end());
  Sources sources{.place = place, .sectors = std::move(sectors)};
  sources.digest = digest_of(sources.sectors);
  return sources;
}

Result<void> TreeCache::read_names(const adapters::ImageReader& reader, std::uint64_t number,
                                   KeptDirectory& directory) {
  noted_.take();
  directory.known = false;
  TRY(auto entries, reader.list(number));
  directory.sources = made_of(reader.place_of(number), noted_.take());
  std::vector<KeptName> before = std::exchange(directory.names, {});
  directory.names.reserve(entries.size());
  std::size_t from = 0;
  for (adapters::ImageName& entry : entries) {
    const std::size_t end = std::min(before.size(), from + kLookAhead);
    std::size_t at = from;
    while (at < end &&
           (before[at].entry.inode != entry.inode || before[at].entry.name != entry.name))
      ++at;
    if (at < end) {
      directory.names.push_back(std::move(before[at]));
      from = at + 1;
    } else {
      std::string path = directory.path.empty() ? entry.name : directory.path + '/' + entry.name;
      directory.names.push_back({.entry = std::move(entry), .path = std::move(path)});
    }
  }
  directory.known = true;
  return {};
}

Result<void> TreeCache::read_object(const adapters::ImageReader& reader, KeptName& name) {
  noted_.take();
  name.known = false;
  TRY(const auto inode, reader.inode(name.entry.inode));
  if (!inode.allocated)
    return fail(fmt::format("inode {}", name.entry.inode),
                fmt::format("is not allocated, but named '{}'", name.entry.name), "run fsck");
  std::vector<std::uint32_t> data;
  name.object = observer_->describe(reader, name.path, inode, &data);
  std::vector<std::uint32_t> sectors = noted_.take();
  sectors.insert(sectors.end(), data.begin(), data.end());
  name.sources = made_of(reader.place_of(name.entry.inode), std::move(sectors));
  name.seen = {.digest = oracle::digest_of(name.object), .lone = judge_->lone_name(name.path)};
  name.known = true;
  return {};
}

Result<void> TreeCache::visit(const adapters::ImageReader& reader, std::uint64_t number,
                              KeptDirectory& directory) {
  if (!directory.known || !unchanged(reader, number, directory.sources))
    TRY(read_names(reader, number, directory));
  for (KeptName& name : directory.names) {
    if (!name.known || !unchanged(reader, name.entry.inode, name.sources))
      TRY(read_object(reader, name));
    if (tree_.size() >= kNamesMax) return fail("state", "its tree has too many names", "run fsck");
    name.seen.object = &name.object;
    tree_.push_back(name.seen);
    if (name.object.type == FileType::directory) open_.push_back({name.entry.inode, &name.path});
  }
  return {};
}

Result<std::span<const oracle::SeenObject>> TreeCache::observe() {
  TRY(const auto opened, observer_->type().open_image(noted_));
  const adapters::ImageReader& reader = *opened;
  if (reader.layout() != layout_) {
    directories_.clear();
    layout_ = reader.layout();
  }
  ++trees_;
  tree_.clear();
  static const std::string kRootPath;
  open_.assign(1, {reader.root(), &kRootPath});
  while (!open_.empty()) {
    const Open next = open_.back();
    open_.pop_back();
    KeptDirectory& directory = directories_[next.number];
    if (std::exchange(directory.met_in, trees_) == trees_)
      return fail(fmt::format("inode {}", next.number),
                  fmt::format("is a directory with a second name, '{}'", *next.path), "run fsck");
    if (directory.path != *next.path) {
      directory.known = false;
      directory.names.clear();  // the paths of the entries have changed
      directory.path = *next.path;
    }
    TRY(visit(reader, next.number, directory));
  }
  return std::span<const oracle::SeenObject>(tree_);
}

}  // namespace headcrash::in_process

// Returns the cached parts of a tree, and rereads a part if its source sectors have changed
// (tree_cache.h).
#include "harness/explorer/in_process/tree_cache.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::in_process {
namespace {

constexpr std::size_t kNamesMax = 1U << 24U;
// Maximum number of results that are kept for each directory and for each name.
constexpr std::size_t kResultsKept = 8;

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

template <typename Kept>
bool TreeCache::find(const adapters::ImageReader& reader, std::uint64_t inode,
                     std::vector<Kept>& results) const {
  const std::uint64_t place = reader.place_of(inode);
  const auto known = std::ranges::find_if(results, [&](const Kept& one) {
    return one.sources.place == place && digest_of(one.sources.sectors) == one.sources.digest;
  });
  if (known == results.end()) return false;
  std::rotate(results.begin(), known, std::next(known));
  return true;
}

template <typename Kept>
void TreeCache::keep(Kept result, std::vector<Kept>& results) {
  if (results.size() >= kResultsKept) results.pop_back();
  results.insert(results.begin(), std::move(result));
}

Result<TreeCache::KeptList> TreeCache::read_names(const adapters::ImageReader& reader,
                                                  std::uint64_t number, KeptDirectory& directory) {
  noted_.take();
  TRY(auto entries, reader.list(number));
  KeptList list{.sources = made_of(reader.place_of(number), noted_.take()), .names = {}};
  list.names.reserve(entries.size());
  for (adapters::ImageName& entry : entries) {
    const auto [at, is_new] = directory.names.try_emplace({std::move(entry.name), entry.inode});
    const std::string& name = at->first.first;
    KeptName& kept = at->second;
    if (is_new) {
      kept.inode = entry.inode;
      kept.path = directory.path.empty() ? name : directory.path + '/' + name;
      kept.lone = judge_->lone_name(kept.path);
    }
    list.names.push_back(&kept);
  }
  return list;
}

Result<TreeCache::KeptObject> TreeCache::read_object(const adapters::ImageReader& reader,
                                                     const KeptName& name) {
  noted_.take();
  TRY(const auto inode, reader.inode(name.inode));
  if (!inode.allocated)
    return fail(fmt::format("inode {}", name.inode),
                fmt::format("is not allocated, but has the name '{}'",
                            name.path.substr(name.path.rfind('/') + 1)),
                "run fsck");
  std::vector<std::uint32_t> data;
  KeptObject kept{.sources = {}, .object = observer_->describe(reader, name.path, inode, &data)};
  std::vector<std::uint32_t> sectors = noted_.take();
  sectors.insert(sectors.end(), data.begin(), data.end());
  kept.sources = made_of(reader.place_of(name.inode), std::move(sectors));
  kept.digest = oracle::digest_of(kept.object);
  return kept;
}

Result<void> TreeCache::visit(const adapters::ImageReader& reader, std::uint64_t number,
                              KeptDirectory& directory) {
  if (!find(reader, number, directory.lists)) {
    TRY(auto list, read_names(reader, number, directory));
    keep(std::move(list), directory.lists);
  }
  for (KeptName* const name : directory.lists.front().names) {
    if (!find(reader, name->inode, name->objects)) {
      TRY(auto object, read_object(reader, *name));
      keep(std::move(object), name->objects);
    }
    if (tree_.size() >= kNamesMax) return fail("state", "its tree has too many names", "run fsck");
    const KeptObject& kept = name->objects.front();
    tree_.push_back({.object = &kept.object, .digest = kept.digest, .lone = name->lone});
    if (kept.object.type == FileType::directory) open_.push_back({name->inode, &name->path});
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
      directory.lists.clear();
      directory.names.clear();  // the paths of the entries have changed
      directory.path = *next.path;
    }
    TRY(visit(reader, next.number, directory));
  }
  return std::span<const oracle::SeenObject>(tree_);
}

}  // namespace headcrash::in_process

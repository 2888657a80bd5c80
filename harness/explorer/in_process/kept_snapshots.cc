#include "harness/explorer/in_process/kept_snapshots.h"

#include <array>
#include <cstddef>

#include "plugin/base/fnv1a.h"

namespace headcrash::in_process {
namespace {

/// Computes FNV-1a.
class Digest {
 public:
  void bytes(std::span<const std::byte> more) { sum_ = base::fnv1a(more, sum_); }
  void text(std::string_view more) {
    number(more.size());
    bytes(std::as_bytes(std::span(more)));
  }
  void number(std::uint64_t value) { bytes(std::as_bytes(std::span(&value, 1))); }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = base::kFnvBasis;
};

}  // namespace

Result<std::uint64_t> digest_of_snapshot(const adapters::FileSystemType& type,
                                         const model::SectorStore& store, const std::string& name) {
  TRY(const auto reader, type.open_snapshot(store, name));
  Digest digest;
  Result<void> read;
  TRY(reader->walk([&](const std::string& path, const adapters::ImageInode& inode) {
    digest.text(path);
    for (const std::uint64_t number :
         {inode.number, static_cast<std::uint64_t>(inode.type), std::uint64_t{inode.mode},
          std::uint64_t{inode.links}, std::uint64_t{inode.user}, std::uint64_t{inode.group},
          inode.size_bytes, inode.allocated_bytes,
          static_cast<std::uint64_t>(inode.modified_seconds)})
      digest.number(number);
    if (inode.type == FileType::symlink) {
      const auto target = reader->readlink(inode.number);
      if (!target) read = forward_error(target);
      if (target) digest.text(*target);
    }
    if (inode.type != FileType::regular) return;
    std::array<std::byte, 4096> part;
    for (std::uint64_t at = 0; at < inode.size_bytes;) {
      const auto count = reader->read(inode.number, at, part);
      if (!count) read = forward_error(count);
      if (!count || *count == 0) return;
      digest.bytes(std::span(part).first(*count));
      at += *count;
    }
  }));
  TRY(read);
  return digest.sum();
}

std::vector<oracle::Finding> judge_snapshots(const adapters::FileSystemType& type,
                                             const model::SectorStore& store,
                                             std::span<const KeptSnapshot> snapshots,
                                             std::uint64_t cut) {
  std::vector<oracle::Finding> findings;
  for (const KeptSnapshot& snapshot : snapshots) {
    if (!snapshot.is_kept_at(cut)) continue;
    const auto tree = digest_of_snapshot(type, store, snapshot.name);
    if (tree && *tree == snapshot.tree) continue;
    findings.push_back({oracle::Verdict::lost_synced_data, oracle::Tier::documented,
                        "snapshot " + snapshot.name, "the tree at its creation",
                        tree ? "a different tree" : tree.error().message()});
  }
  return findings;
}

}  // namespace headcrash::in_process

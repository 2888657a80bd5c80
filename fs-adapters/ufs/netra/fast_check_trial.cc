// Compares the results of a fast check and a full check of one image. Also interrupts the fast
// check and restarts it (fast_check_trial.h).
#include "fs-adapters/ufs/netra/fast_check_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "fs-adapters/ufs/format/geometry.h"
#include "fs-adapters/ufs/format/inode_extension.h"

namespace headcrash::ufs {
namespace {

// For one image in kAllCutsOneIn, the check is interrupted at each of its writes in turn. For every
// other image, the check is interrupted at only one write.
constexpr std::uint32_t kAllCutsOneIn = 16;

using Sector = std::array<std::byte, kSectorBytes>;

/// A store that keeps all writes in memory.
class Overlay final : public model::SectorStore {
 public:
  struct Write {
    std::uint64_t lba;
    std::vector<std::byte> bytes;
  };
  explicit Overlay(const model::SectorStore& image) : image_(&image) {}

  std::uint64_t sectors() const override { return image_->sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    TRY(image_->read(lba, into));
    const std::uint64_t end = lba + into.size() / kSectorBytes;
    for (auto at = changed_.lower_bound(lba); at != changed_.end() && at->first < end; ++at)
      std::ranges::copy(
          at->second, into.begin() + static_cast<std::ptrdiff_t>((at->first - lba) * kSectorBytes));
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    log_.push_back({lba, {data.begin(), data.end()}});
    put(lba, data);
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    const std::vector<std::byte> zeroes(count * kSectorBytes);
    return write(lba, zeroes);
  }

  void put(std::uint64_t lba, std::span<const std::byte> data) {
    for (std::size_t at = 0; at < data.size(); at += kSectorBytes)
      std::ranges::copy(data.subspan(at, kSectorBytes), changed_[lba + at / kSectorBytes].begin());
  }
  const std::map<std::uint64_t, Sector>& changed() const { return changed_; }
  const std::vector<Write>& log() const { return log_; }

 private:
  const model::SectorStore* image_;
  std::map<std::uint64_t, Sector> changed_;
  std::vector<Write> log_;
};

Sector sector_of(const Overlay& store, std::uint64_t lba) {
  Sector bytes = {};
  (void)store.read(lba, bytes);
  return bytes;
}

/// Clears link tags, which are not needed after a check. The rest of each extension stays.
void forget_tags(const Geometry& geometry, std::uint64_t lba, Sector& bytes) {
  const std::uint64_t fragment = lba / geometry.sectors_per_fragment();
  if (fragment >= geometry.size_fragments()) return;
  const std::uint32_t group = geometry.group_of_fragment(static_cast<FragmentAddress>(fragment));
  if (fragment < geometry.inode_table(group) || fragment >= geometry.data_start(group)) return;
  for (std::size_t at = kInodeBytes; at < bytes.size(); at += 2 * kInodeBytes) {
    const auto slot = std::span(bytes).subspan(at, kInodeBytes);
    encode_extension({.bmap = decode_extension(slot).bmap}, slot);
  }
}

std::string place_of(const Geometry& geometry, std::uint64_t lba) {
  if (lba < geometry.lba_of(geometry.header(0))) return "the superblock";
  const auto fragment = static_cast<FragmentAddress>(lba / geometry.sectors_per_fragment());
  const std::uint32_t group = geometry.group_of_fragment(fragment);
  if (fragment < geometry.inode_table(group) && fragment >= geometry.header(group))
    return fmt::format("the header of group {}", group);
  if (fragment < geometry.data_start(group) && fragment >= geometry.inode_table(group)) {
    const std::uint64_t sector = lba - geometry.lba_of(geometry.inode_table(group));
    return fmt::format("the sector of inodes that begins with inode {}",
                       group * geometry.inodes_per_group() + sector * (kSectorBytes / kInodeBytes));
  }
  return fmt::format("fragment {}", fragment);
}

std::string first_difference(const Geometry& geometry, const Overlay& one, const Overlay& other) {
  std::map<std::uint64_t, bool> sectors;
  for (const Overlay* store : {&one, &other})
    for (const auto& [lba, bytes] : store->changed()) sectors[lba] = true;
  for (const auto& [lba, changed] : sectors) {
    Sector left = sector_of(one, lba), right = sector_of(other, lba);
    for (Sector* bytes : {&left, &right}) forget_tags(geometry, lba, *bytes);
    if (left == right) continue;
    const auto at = std::mismatch(left.begin(), left.end(), right.begin()).first - left.begin();
    return fmt::format("{}, byte {} of sector {}", place_of(geometry, lba), at, lba);
  }
  return {};
}

}  // namespace

std::string FastCheckTrial::difference(const model::SectorStore& image) {
  ++images_;
  Overlay fast(image), full(image);
  const auto quick = fast_.run(fast, {.repair = true, .fast = true});
  if (!quick) return "the fast check failed: " + quick.error().message();
  if (!quick->fast) {
    ++declined_;
    return {};
  }
  if (const auto whole = full_.run(full, {.repair = true}); !whole)
    return "the full check failed: " + whole.error().message();
  std::vector<std::byte> bytes(kSuperblockBytes);
  if (auto read = image.read(kSuperblockByte / kSectorBytes, bytes); !read)
    return read.error().message();
  const auto superblock = decode_superblock(bytes, image.sectors() * kSectorBytes);
  if (!superblock) return superblock.error().message();
  const Geometry geometry(*superblock);
  if (const std::string differs = first_difference(geometry, fast, full); !differs.empty())
    return "the fast check and the full one differ in " + differs;

  const auto& writes = fast.log();
  std::uint64_t choice = writes.size();
  for (const Overlay::Write& write : writes)
    choice = choice * 31 + write.lba + std::to_integer<unsigned>(write.bytes[0]);
  const bool all = choice % kAllCutsOneIn == 0;
  for (std::size_t cut = 0; cut < writes.size(); ++cut) {
    if (!all && cut != choice % writes.size()) continue;
    ++cuts_;
    Overlay again(image);
    for (std::size_t i = 0; i < cut; ++i) again.put(writes[i].lba, writes[i].bytes);
    const std::size_t torn = choice % (writes[cut].bytes.size() / kSectorBytes);
    again.put(writes[cut].lba, std::span(writes[cut].bytes).first(torn * kSectorBytes));
    const auto second = fast_.run(again, {.repair = true, .fast = true});
    if (!second || !second->fast)
      return fmt::format("a fast check interrupted after {} of {} writes cannot be restarted", cut,
                         writes.size());
    if (const std::string differs = first_difference(geometry, again, full); !differs.empty())
      return fmt::format(
          "a fast check was interrupted after {} of {} writes and restarted; its result differs "
          "from that of the full check in {}",
          cut, writes.size(), differs);
  }
  return {};
}

adapters::Counters FastCheckTrial::counts() const {
  return {
      {"images", images_}, {"left to the full check", declined_}, {"cut and begun again", cuts_}};
}

}  // namespace headcrash::ufs

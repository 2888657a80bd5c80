// Encoding of journal records (journal_format.h). Records are untrusted and bounded before use:
// nothing longer than the ring is read, and each transaction is read once.
//
//   descriptor: 0 magic  4 flags  8 epoch  16 sequence  24 fragments  28 images  32 revoked
//               36 orphans  40: home, fragments (4 + 4) for each image, then each revoked run,
//               then inodes (4)
//   commit:     0 magic  4 own checksum  8 epoch  16 sequence  24 checksum of all before it
//               28 fragments
//   superblock: 0 magic  4 own checksum  8 version  12 flags  16 fragments  20 tail  24 sequence
//               32 epoch  40 identifier of the file system, 0 if the journal is internal

#include "fs-adapters/ufs/format/journal_format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "fs-adapters/ufs/format/geometry.h"
#include "plugin/base/crc32c.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::uint32_t kSuperMagic = 0x534a4348, kDescriptorMagic = 0x444a4348,
                        kCommitMagic = 0x434a4348;
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kInUse = 1, kTooManyOrphans = 1;
constexpr std::size_t kEntriesAt = 40;

std::uint32_t checksum_without_itself(std::span<const std::byte> sector) {
  std::array<std::byte, kSectorBytes> copy = {};
  std::copy_n(sector.begin(), kSectorBytes, copy.begin());
  store32(copy, 4, 0);
  return crc32c(copy);
}

struct Descriptor {
  std::uint32_t fragments = 0, images = 0, revoked = 0, orphans = 0;
  std::uint64_t bytes() const {
    return kEntriesAt + (std::uint64_t{images} + revoked) * 8 + std::uint64_t{orphans} * 4;
  }
  /// Returns the length of the part that precedes the images' contents, rounded up to whole
  /// fragments.
  std::uint64_t whole_bytes(std::uint32_t fragment_bytes) const {
    return (bytes() + fragment_bytes - 1) / fragment_bytes * fragment_bytes;
  }
};

Descriptor descriptor_of(const JournalTransaction& transaction) {
  return {.images = static_cast<std::uint32_t>(transaction.images.size()),
          .revoked = static_cast<std::uint32_t>(transaction.revoked.size()),
          .orphans = static_cast<std::uint32_t>(transaction.orphans.size())};
}

/// Returns true if the extent can be the home of an image: it must be data, a group's header or
/// inodes, and must not be in the journal.
bool may_be_home(const Superblock& superblock, const Geometry& geometry, FragmentAddress at,
                 std::uint32_t fragments) {
  const std::uint32_t width = geometry.fragments_per_block();
  if (fragments == 0 || fragments > width || at % width + fragments > width) return false;
  if (std::uint64_t{at} + fragments > geometry.size_fragments()) return false;
  const Extent journal = superblock.journal_inside();
  if (at < std::uint64_t{journal.at} + journal.fragments && at + fragments > journal.at)
    return false;
  const std::uint32_t group = geometry.group_of_fragment(at);
  const auto metadata = [&](FragmentAddress f) {
    return f >= geometry.header(group) && f < geometry.data_start(group);
  };
  const FragmentAddress last = at + fragments - 1;
  return (geometry.is_data(at) || metadata(at)) && (geometry.is_data(last) || metadata(last));
}

class Reader {
 public:
  Reader(const model::SectorStore& store, const Superblock& superblock)
      : store_(store), superblock_(superblock), geometry_(superblock), ring_(superblock) {}

  Result<JournalContents> read() {
    std::array<std::byte, kSectorBytes> sector = {};
    TRY(store_.read(ring_.superblock_lba(), sector));
    TRY(const auto super, decode_journal_superblock(sector, superblock_));
    contents_.super = super;
    contents_.head = super.tail;
    if (!super.in_use) return std::move(contents_);
    std::uint32_t left = ring_.fragments();
    for (std::uint64_t sequence = super.tail_sequence; left > 0; ++sequence) {
      TRY(const auto length, next(sequence, left));
      if (length == 0) break;
      left -= length;
      contents_.starts.push_back(contents_.head);
      contents_.head = ring_.after(contents_.head, length);
    }
    return std::move(contents_);
  }

 private:
  Result<void> load(std::uint32_t position, std::uint32_t count,
                    std::vector<std::byte>& into) const {
    into.resize(std::size_t{count} * ring_.fragment_bytes());
    const Extent first = ring_.run(position, count);
    const std::size_t bytes = std::size_t{first.fragments} * ring_.fragment_bytes();
    TRY(store_.read(ring_.lba(first.at), std::span(into).first(bytes)));
    if (first.fragments == count) return {};
    return store_.read(ring_.lba(ring_.run(0, 1).at), std::span(into).subspan(bytes));
  }

  /// Decodes the transaction at the head of the ring. Returns its length; 0 if there is no valid
  /// transaction.
  Result<std::uint32_t> next(std::uint64_t sequence, std::uint32_t left) {
    TRY(load(contents_.head, 1, bytes_));
    if (load32(bytes_, 0) != kDescriptorMagic || load64(bytes_, 8) != contents_.super.epoch ||
        load64(bytes_, 16) != sequence)
      return 0U;
    const Descriptor d{.fragments = load32(bytes_, 24),
                       .images = load32(bytes_, 28),
                       .revoked = load32(bytes_, 32),
                       .orphans = load32(bytes_, 36)};
    if (d.fragments < 2 || d.fragments > left) return 0U;
    TRY(load(contents_.head, d.fragments, bytes_));
    const std::size_t body = bytes_.size() - ring_.fragment_bytes();
    const auto commit = std::span<const std::byte>(bytes_).subspan(body, kSectorBytes);
    if (load32(commit, 0) != kCommitMagic || load64(commit, 8) != contents_.super.epoch ||
        load64(commit, 16) != sequence || load32(commit, 28) != d.fragments ||
        load32(commit, 4) != checksum_without_itself(commit))
      return 0U;  // the power failed before the commit record was written
    JournalTransaction transaction{.epoch = contents_.super.epoch, .sequence = sequence};
    const std::string problem = load32(commit, 24) != crc32c(std::span(bytes_).first(body))
                                    ? "has a commit record that does not match its contents"
                                    : decode(d, body, transaction);
    if (!problem.empty()) {
      contents_.damage = fmt::format("transaction {} of the journal {}", sequence, problem);
      return 0U;
    }
    contents_.transactions.push_back(std::move(transaction));
    return d.fragments;
  }

  std::string decode(const Descriptor& d, std::size_t body, JournalTransaction& transaction) const {
    const std::uint32_t unit = ring_.fragment_bytes();
    const std::uint64_t front = d.whole_bytes(unit);
    if (front > body) return fmt::format("lists {} images, more than it contains", d.images);
    transaction.too_many_orphans = (load32(bytes_, 4) & kTooManyOrphans) != 0;
    std::uint64_t from = front;
    std::size_t entry = kEntriesAt;
    for (std::uint32_t i = 0; i < d.images; ++i, entry += 8) {
      const FragmentAddress home = load32(bytes_, entry);
      const std::uint32_t fragments = load32(bytes_, entry + 4);
      if (!may_be_home(superblock_, geometry_, home, fragments))
        return fmt::format("would be written to fragment {}, which is invalid", home);
      const std::uint64_t length = std::uint64_t{fragments} * unit;
      if (from + length > body) return "lists more images than it contains";
      const auto* const start = bytes_.data() + from;
      transaction.images.push_back({.home = home, .bytes = {start, start + length}});
      from += length;
    }
    if (from != body) return "has contents without an address";
    for (std::uint32_t i = 0; i < d.revoked; ++i, entry += 8) {
      const Extent run{.at = load32(bytes_, entry), .fragments = load32(bytes_, entry + 4)};
      if (std::uint64_t{run.at} + run.fragments > geometry_.size_fragments())
        return fmt::format("revokes fragment {}, which does not exist", run.at);
      transaction.revoked.push_back(run);
    }
    for (std::uint32_t i = 0; i < d.orphans; ++i, entry += 4) {
      const InodeNumber inode = load32(bytes_, entry);
      if (!geometry_.is_inode(inode))
        return fmt::format("lists inode {}, which does not exist", inode);
      transaction.orphans.push_back(inode);
    }
    return {};
  }

  const model::SectorStore& store_;
  const Superblock& superblock_;
  Geometry geometry_;
  JournalRing ring_;
  JournalContents contents_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Result<JournalSuperblock> decode_journal_superblock(std::span<const std::byte> sector,
                                                    const Superblock& superblock) {
  // An external journal may belong to another file system, so fsck does not create a new one in its
  // place.
  const char* const kRemedy = superblock.features.external_journal
                                  ? kExternalLogHint
                                  : "run `fsck.headcrash-ufs -y` to create an empty journal";
  if (load32(sector, 0) != kSuperMagic)
    return fail("journal", fmt::format("invalid magic number ({:#x})", load32(sector, 0)), kRemedy);
  if (load32(sector, 4) != checksum_without_itself(sector))
    return fail("journal", "its superblock has a bad checksum", kRemedy);
  if (load32(sector, 8) != kVersion)
    return fail("journal", fmt::format("unknown version {}", load32(sector, 8)), kRemedy);
  const JournalSuperblock journal{.in_use = (load32(sector, 12) & kInUse) != 0,
                                  .fragments = load32(sector, 16),
                                  .tail = load32(sector, 20),
                                  .tail_sequence = load64(sector, 24),
                                  .epoch = load64(sector, 32),
                                  .file_system = load64(sector, 40)};
  if (journal.file_system != superblock.journal_id)
    return fail("journal",
                fmt::format("belongs to another file system: {:016x}, not {:016x}",
                            journal.file_system, superblock.journal_id),
                kRemedy);
  if (journal.fragments != superblock.journal.fragments || journal.fragments < 2 ||
      journal.tail >= journal.fragments - 1)
    return fail("journal",
                fmt::format("has {} fragments with a tail at {}, but its area has {} fragments",
                            journal.fragments, journal.tail, superblock.journal.fragments),
                kRemedy);
  return journal;
}

std::uint64_t journal_identifier(std::span<const std::byte> sector) {
  const bool is_one =
      load32(sector, 0) == kSuperMagic && load32(sector, 4) == checksum_without_itself(sector);
  return is_one ? load64(sector, 40) : 0;
}

void encode_journal_superblock(const JournalSuperblock& journal, std::span<std::byte> sector) {
  std::fill(sector.begin(), sector.end(), std::byte{0});
  store32(sector, 0, kSuperMagic);
  store32(sector, 8, kVersion);
  store32(sector, 12, journal.in_use ? kInUse : 0);
  store32(sector, 16, journal.fragments);
  store32(sector, 20, journal.tail);
  store64(sector, 24, journal.tail_sequence);
  store64(sector, 32, journal.epoch);
  store64(sector, 40, journal.file_system);
  store32(sector, 4, checksum_without_itself(sector));
}

std::uint32_t fragments_of(const JournalTransaction& transaction, std::uint32_t fragment_bytes) {
  const Descriptor d = descriptor_of(transaction);
  std::uint64_t bytes = d.whole_bytes(fragment_bytes) + fragment_bytes;
  for (const JournalImage& image : transaction.images) bytes += image.bytes.size();
  return static_cast<std::uint32_t>(bytes / fragment_bytes);
}

std::vector<std::byte> encode_transaction(const JournalTransaction& t,
                                          std::uint32_t fragment_bytes) {
  Descriptor d = descriptor_of(t);
  d.fragments = fragments_of(t, fragment_bytes);
  const std::size_t front = d.whole_bytes(fragment_bytes);
  const std::size_t body = (std::size_t{d.fragments} - 1) * fragment_bytes;
  std::vector<std::byte> bytes(body + fragment_bytes);
  store32(bytes, 0, kDescriptorMagic);
  store32(bytes, 4, t.too_many_orphans ? kTooManyOrphans : 0);
  store64(bytes, 8, t.epoch), store64(bytes, 16, t.sequence);
  store32(bytes, 24, d.fragments), store32(bytes, 28, d.images);
  store32(bytes, 32, d.revoked), store32(bytes, 36, d.orphans);
  std::size_t entry = kEntriesAt, at = front;
  const auto run = [&](FragmentAddress home, std::size_t fragments) {
    store32(bytes, entry, home), store32(bytes, entry + 4, static_cast<std::uint32_t>(fragments));
    entry += 8;
  };
  for (const JournalImage& image : t.images) {
    run(image.home, image.bytes.size() / fragment_bytes);
    std::memcpy(bytes.data() + at, image.bytes.data(), image.bytes.size());
    at += image.bytes.size();
  }
  for (const Extent& revoked : t.revoked) run(revoked.at, revoked.fragments);
  for (const InodeNumber inode : t.orphans) store32(bytes, entry, inode), entry += 4;
  const auto commit = std::span(bytes).subspan(body, kSectorBytes);
  store32(commit, 0, kCommitMagic);
  store64(commit, 8, t.epoch), store64(commit, 16, t.sequence);
  store32(commit, 24, crc32c(std::span<const std::byte>(bytes).first(body)));
  store32(commit, 28, d.fragments);
  store32(commit, 4, checksum_without_itself(commit));
  return bytes;
}

Result<JournalContents> read_journal(const model::SectorStore& store,
                                     const Superblock& superblock) {
  return Reader(store, superblock).read();
}

Result<void> write_journal_superblock(model::SectorStore& store, const Superblock& superblock,
                                      const JournalSuperblock& journal) {
  std::array<std::byte, kSectorBytes> sector = {};
  encode_journal_superblock(journal, sector);
  return store.write(JournalRing(superblock).superblock_lba(), sector);
}

Result<JournalSuperblock> reset_journal(model::SectorStore& store, const Superblock& superblock,
                                        const JournalSuperblock& old, bool in_use) {
  const JournalSuperblock fresh{.in_use = in_use,
                                .fragments = superblock.journal.fragments,
                                .epoch = old.epoch + 1,
                                .file_system = superblock.journal_id};
  TRY(write_journal_superblock(store, superblock, fresh));
  return fresh;
}

Result<void> write_to_ring(model::SectorStore& store, const JournalRing& ring,
                           std::uint32_t position, std::span<const std::byte> bytes) {
  const auto count = static_cast<std::uint32_t>(bytes.size() / ring.fragment_bytes());
  const Extent first = ring.run(position, count);
  const std::size_t length = std::size_t{first.fragments} * ring.fragment_bytes();
  TRY(store.write(ring.lba(first.at), bytes.first(length)));
  if (length == bytes.size()) return {};
  return store.write(ring.lba(ring.run(0, 1).at), bytes.subspan(length));
}

}  // namespace headcrash::ufs

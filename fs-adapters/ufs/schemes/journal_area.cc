// Finds, allocates and empties the journal's space (journal_area.h).

#include "fs-adapters/ufs/schemes/journal_area.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "fs-adapters/ufs/format/journal_format.h"
#include "fs-adapters/ufs/schemes/journal_replay.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs {
using namespace little_endian;
namespace {

constexpr std::uint64_t kShareOfTheDevice = 32;
constexpr std::uint64_t kBytesMax = 16 << 20;

std::uint32_t whole_blocks(const Superblock& superblock, std::uint64_t fragments) {
  const std::uint32_t width = superblock.fragments_per_block();
  return static_cast<std::uint32_t>((fragments + width - 1) / width * width);
}

std::uint32_t default_fragments(const Superblock& superblock) {
  const std::uint64_t most = std::min<std::uint64_t>(superblock.size_fragments / kShareOfTheDevice,
                                                     kBytesMax / superblock.fragment_bytes);
  return whole_blocks(superblock, std::max<std::uint64_t>(most, journal_fragments_min(superblock)));
}

Result<void> zero(model::SectorStore& store, const Superblock& superblock) {
  const std::uint64_t sectors = superblock.fragment_bytes / kSectorBytes;
  return store.write_zeroes(JournalRing(superblock).superblock_lba(),
                            superblock.journal.fragments * sectors);
}

/// Returns the identifier of the log that a device contains before a new log replaces it; 0 if
/// there is no such log.
std::uint64_t old_identifier(const model::SectorStore& store, const Superblock& superblock) {
  std::array<std::byte, kSectorBytes> sector = {};
  if (!store.read(JournalRing(superblock).superblock_lba(), sector)) return 0;
  return journal_identifier(sector);
}

std::uint64_t new_identifier(const Superblock& superblock, std::uint64_t old) {
  std::uint64_t made = old + 1;
  for (const std::uint64_t one :
       {std::uint64_t{superblock.id[0]}, std::uint64_t{superblock.id[1]},
        std::uint64_t{superblock.written_at}, std::uint64_t{superblock.size_fragments}}) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
    made = (made ^ one) * kOdd;
    made ^= made >> 29U;
  }
  return made == 0 ? 1 : made;
}

/// Allocates the journal's blocks in group `number`. Returns false if no run of free blocks in the
/// group is long enough.
Result<bool> take(model::SectorStore& store, Superblock& superblock, std::uint32_t number,
                  std::uint32_t fragments) {
  const Geometry geometry(superblock);
  std::vector<std::byte> header(geometry.block_bytes());
  TRY(store.read(geometry.lba_of(geometry.header(number)), header));
  if (std::string problem = CylinderGroup::problem_of(geometry, header, number); !problem.empty())
    return fail("ufs", fmt::format("group {}: its header {}", number, problem), "run fsck on it");
  CylinderGroup group(geometry, header, number);
  const auto row = row_for_journal(group, geometry, fragments);
  if (!row) return false;
  for (std::uint32_t f = 0; f < fragments; f += geometry.fragments_per_block())
    group.use(*row + f, geometry.fragments_per_block());
  superblock.journal = {.at = geometry.group_base(number) + *row, .fragments = fragments};
  TRY(zero(store, superblock));
  const JournalSuperblock empty{.fragments = fragments};
  TRY(write_journal_superblock(store, superblock, empty));
  Superblock unclean = superblock;
  unclean.clean = false;
  TRY(write_superblock(store, unclean, kSuperblockByte));
  TRY(store.write(geometry.lba_of(geometry.header(number)), header));
  return true;
}

}  // namespace

Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte) {
  return write_superblock(store, superblock, byte, byte);
}

Result<void> write_superblock(model::SectorStore& store, const Superblock& superblock,
                              std::uint64_t byte, std::uint64_t like_byte) {
  std::array<std::byte, 3 * kSectorBytes> bytes = {};
  static_assert(bytes.size() >= kSuperblockUsedBytes);
  TRY(store.read(like_byte / kSectorBytes, bytes));
  encode_superblock(superblock, bytes);
  // Write the first sector last: it contains the flag "clean", which must not be on the disk before
  // the totals in the other sectors.
  const auto sectors = std::span<const std::byte>(bytes);
  const std::uint64_t first = byte / kSectorBytes;
  if (like_byte != byte) {
    // The old first sector may say "clean". Together with the new contents of the other sectors, it
    // would form a valid superblock that is marked clean too early. The flag is therefore cleared
    // first.
    std::array<std::byte, kSectorBytes> unclean = {};
    std::copy_n(bytes.begin(), unclean.size(), unclean.begin());
    store8(unclean, kSuperblockCleanOffset, 0);
    TRY(store.write(first, unclean));
  }
  TRY(store.write(first + 1, sectors.subspan(kSectorBytes)));
  return store.write(first, sectors.first(kSectorBytes));
}

std::uint32_t operation_blocks_max(std::uint32_t groups) {
  return kBlocksOfAnOperation + groups;
}

std::uint32_t journal_fragments_min(const Superblock& superblock) {
  // The ring must have room for four operations: a transaction may fill half of the ring, and must
  // have room for two operations.
  return (4 * operation_blocks_max(superblock.groups) + 1) * superblock.fragments_per_block();
}

Result<std::uint32_t> journal_fragments(const Superblock& superblock, std::uint64_t bytes) {
  if (bytes == 0) return default_fragments(superblock);
  const std::uint32_t least = journal_fragments_min(superblock);
  const std::uint64_t wanted = bytes / superblock.fragment_bytes;
  if (wanted < least || wanted > superblock.size_fragments)
    return fail("journal-size",
                fmt::format("{} bytes are invalid for {} groups with blocks of {} bytes", bytes,
                            superblock.groups, superblock.block_bytes),
                fmt::format("use {} bytes or more, and less than the size of a group",
                            std::uint64_t{least} * superblock.fragment_bytes));
  return whole_blocks(superblock, wanted);
}

std::optional<std::uint32_t> row_for_journal(const CylinderGroup& group, const Geometry& geometry,
                                             std::uint32_t fragments) {
  const std::uint32_t width = geometry.fragments_per_block();
  const std::uint32_t start =
      geometry.data_start(group.group()) - geometry.group_base(group.group());
  std::uint32_t row = 0;
  for (std::uint32_t f = (start + width - 1) / width * width; f + width <= group.fragments();
       f += width) {
    row = group.block_free(f) ? row + width : 0;
    if (row == fragments) return f + width - fragments;
  }
  return std::nullopt;
}

tl::unexpected<Error> no_row_for_journal(const Superblock& superblock, std::uint32_t fragments) {
  return fail("journal-size",
              fmt::format("no group has {} contiguous free bytes",
                          std::uint64_t{fragments} * superblock.fragment_bytes),
              "use a smaller journal or a larger device");
}

Result<void> add_journal(model::SectorStore& store, Superblock& superblock, std::uint64_t bytes) {
  TRY(const auto length, journal_fragments(superblock, bytes));
  const std::uint32_t fragments = length;
  for (std::uint32_t i = 0; i < superblock.groups; ++i) {
    TRY(const auto taken,
        take(store, superblock, (superblock.groups / 2 + i) % superblock.groups, fragments));
    if (!taken) continue;
    Redo counts(store, superblock);
    TRY(counts.count(superblock));
    superblock.data_fragments -= std::min(superblock.data_fragments, fragments);
    superblock.clean = true;
    const Geometry geometry(superblock);
    TRY(counts.write_to(store));
    for (std::uint32_t group = superblock.groups; group-- > 0;)
      TRY(write_superblock(store, superblock, geometry.byte_of(geometry.replica(group))));
    return write_superblock(store, superblock, kSuperblockByte);
  }
  return no_row_for_journal(superblock, fragments);
}

Result<void> make_external_journal(model::SectorStore& store, Superblock& superblock,
                                   std::uint64_t bytes) {
  const std::uint32_t least = journal_fragments_min(superblock);
  const std::uint64_t wanted = (bytes == 0 ? kBytesMax : bytes) / superblock.fragment_bytes;
  if ((bytes != 0 && wanted < least) || wanted > INT32_MAX)
    return fail("external-journal",
                fmt::format("{} bytes are invalid for {} groups", bytes, superblock.groups),
                fmt::format("use {} bytes or more, and at most 2147483647 fragments",
                            std::uint64_t{least} * superblock.fragment_bytes));
  superblock.features.external_journal = true;
  superblock.journal = {
      .at = 0, .fragments = whole_blocks(superblock, std::max<std::uint64_t>(wanted, least))};
  superblock.journal_id = new_identifier(superblock, old_identifier(store, superblock));
  if (auto done = zero(store, superblock); !done)
    return fail(
        "the log's device", done.error().message(),
        fmt::format("use a second device of {} bytes or more",
                    std::uint64_t{superblock.journal.fragments} * superblock.fragment_bytes));
  return write_journal_superblock(
      store, superblock,
      {.fragments = superblock.journal.fragments, .file_system = superblock.journal_id});
}

Result<void> remake_journal(model::SectorStore& store, const Superblock& superblock) {
  // The zeroes are written as ordinary data, because the store of a repair may support only plain
  // writes.
  const std::vector<std::byte> zeroes(superblock.block_bytes);
  const JournalRing ring(superblock);
  const std::uint32_t width = superblock.fragments_per_block();
  for (std::uint32_t f = 0; f < superblock.journal.fragments; f += width) {
    const std::uint32_t count = std::min(width, superblock.journal.fragments - f);
    const auto part = std::span(zeroes).first(std::size_t{count} * superblock.fragment_bytes);
    TRY(store.write(ring.lba(superblock.journal.at + f), part));
  }
  return write_journal_superblock(
      store, superblock,
      {.fragments = superblock.journal.fragments, .file_system = superblock.journal_id});
}

}  // namespace headcrash::ufs

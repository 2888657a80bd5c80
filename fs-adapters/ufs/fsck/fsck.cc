// The sequence of phases, and functions that they share (fsck.h). A repair that invalidates the
// results of an earlier phase (the truncation of a directory, or the creation of lost+found)
// requests another round. Such repairs are rare, and another round is simpler than updating the
// state in memory.

#include "fs-adapters/ufs/fsck/fsck.h"

#include <fmt/core.h>

#include <algorithm>

#include "fs-adapters/ufs/fsck/fsck_state.h"

namespace headcrash::ufs {
namespace {

constexpr int kRoundsMax = 12;  // maximum number of rounds; each round leaves less damage

struct KindWords {
  std::string_view name;
  Severity weight;
};

KindWords words_of(FindingKind kind) {
  using enum FindingKind;
  switch (kind) {
    case totals:
      return {"totals", Severity::stale};
    case group_totals:
      return {"group-totals", Severity::stale};
    case leaked_blocks:
      return {"leaked-blocks", Severity::residue};
    case leaked_inode:
      return {"leaked-inode", Severity::residue};
    case links_lowered:
      return {"links-lowered", Severity::residue};
    case links_too_high:
      return {"links-too-high", Severity::residue};
    case unreferenced_file:
      return {"unreferenced-file", Severity::residue};
    case unreferenced_directory:
      return {"unreferenced-directory", Severity::residue};
    case blocks_behind_end:
      return {"blocks-behind-end", Severity::residue};
    case interrupted_exchange:
      return {"interrupted-exchange", Severity::residue};
    case block_marked_free:
      return {"block-marked-free", Severity::damage};
    case inode_marked_free:
      return {"inode-marked-free", Severity::damage};
    case links_too_low:
      return {"links-too-low", Severity::damage};
    case duplicate_block:
      return {"duplicate-block", Severity::damage};
    case bad_pointer:
      return {"bad-pointer", Severity::damage};
    case bad_mode:
      return {"bad-mode", Severity::damage};
    case bad_size:
      return {"bad-size", Severity::damage};
    case bad_sectors:
      return {"bad-sectors", Severity::damage};
    case partly_allocated:
      return {"partly-allocated", Severity::damage};
    case dangling_entry:
      return {"dangling-entry", Severity::damage};
    case bad_entry:
      return {"bad-entry", Severity::damage};
    case bad_dot:
      return {"bad-dot", Severity::damage};
    case dot_dot_elsewhere:
      return {"dot-dot-elsewhere", Severity::damage};
    case bad_chunk:
      return {"bad-chunk", Severity::damage};
    case directory_hole:
      return {"directory-hole", Severity::damage};
    case directory_second_name:
      return {"directory-second-name", Severity::damage};
    case bad_root:
      return {"bad-root", Severity::damage};
    case bad_group:
      return {"bad-group", Severity::damage};
    case bad_superblock:
      return {"bad-superblock", Severity::damage};
    case bad_journal:
      return {"bad-journal", Severity::damage};
    case lost_journal:
      return {"lost-journal", Severity::damage};
    case bad_bmap_cache:
      return {"bad-bmap-cache", Severity::damage};
    case no_room:
      return {"no-room", Severity::damage};
  }
  return {"unknown", Severity::damage};
}

}  // namespace

std::string_view name_of(FindingKind kind) {
  return words_of(kind).name;
}
Severity severity_of(FindingKind kind) {
  return words_of(kind).weight;
}

bool FsckReport::has(FindingKind kind) const {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const Finding& f) { return f.kind == kind; });
}

Fsck::Fsck() : state_(std::make_unique<State>()) {}
Fsck::~Fsck() = default;

Result<FsckReport> Fsck::run(model::SectorStore& store, const FsckOptions& options) {
  state_->source = &store;
  state_->target = options.repair ? &store : nullptr;
  state_->options = options;
  return state_->run();
}

Result<FsckReport> Fsck::check(const model::SectorStore& store, std::size_t findings_max,
                               const model::SectorDigests& contents) {
  return check(store, FsckOptions{.findings_max = findings_max, .contents = contents});
}

Result<FsckReport> Fsck::check(const model::SectorStore& store, FsckOptions how) {
  how.repair = how.fast = false;
  state_->source = &store;
  state_->target = nullptr;
  state_->options = how;
  return state_->run();
}

Result<std::optional<FsckReport>> Fsck::recover_log(model::SectorStore& store,
                                                    const FsckOptions& options) {
  state_->source = &store;
  state_->target = &store;
  state_->options = options;
  return state_->recover_log();
}

void Fsck::State::begin() {
  report = {};
  failure.reset();
  redo.reset();
}

Result<FsckReport> Fsck::State::run() {
  begin();
  if (!find_superblock())
    return fail(failure ? failure->subject : "fsck",
                failure ? failure->problem : "no UFS1 superblock, and no replica of it",
                failure ? failure->hint : "use a device that was formatted as ufs");
  check_journal();
  if (options.fast && repairing()) {
    report.unrepaired = !fast_check();
    if (!stopped() && !report.unrepaired) finish();
    if (failure) return tl::unexpected(*failure);
    return std::move(report);
  }
  demand_full_check();
  again = true;
  for (int rounds = 0; again && !stopped(); ++rounds) {
    if (rounds == kRoundsMax) {
      report.unrepaired = true;
      break;
    }
    again = false;
    // lost+found may have room in the next round for entries that did not fit in this one.
    report.unrepaired = had_no_room = freed_later = false;
    std::erase_if(report.findings, [](const Finding& f) { return f.kind == FindingKind::no_room; });
    round();
  }
  if (!stopped()) finish();
  if (failure) return tl::unexpected(*failure);
  return std::move(report);
}

void Fsck::State::round() {
  check_inodes();
  if (duplicates && !stopped()) resolve_duplicates();
  if (again || stopped()) return;
  check_names();
  if (again || stopped()) return;
  // Without a root, there is no directory to which others could be connected.
  if (directory(kRootInode) != nullptr) {
    check_connectivity();
    if (again || stopped()) return;
    check_links();
  }
  again |= freed_later;
  if (again || stopped()) return;
  check_maps();
}

void Fsck::State::find(FindingKind kind, InodeNumber inode, FragmentAddress at, std::uint32_t count,
                       std::string text, bool can_repair) {
  if (quiet) return;
  report.worst = std::max(report.worst, severity_of(kind));
  if (repairing() && !can_repair) report.unrepaired = true;
  if (report.findings.size() >= options.findings_max) {
    ++report.more_findings;
    return;
  }
  report.findings.push_back({.kind = kind,
                             .inode = inode,
                             .block = at,
                             .count = count,
                             .repaired = repairing() && can_repair,
                             .text = std::move(text)});
}

bool Fsck::State::read_sectors(std::uint64_t lba, std::span<std::byte> into) {
  if (stopped()) return false;
  if (auto done = source->read(lba, into); !done) failure = done.error();
  if (redo) redo->patch(lba, into);
  return !stopped();
}

bool Fsck::State::write_sectors(std::uint64_t lba, std::span<const std::byte> bytes) {
  if (stopped() || !repairing()) return false;
  if (auto done = target->write(lba, bytes); !done) failure = done.error();
  return !stopped();
}

bool Fsck::State::read(FragmentAddress at, std::span<std::byte> into) {
  return read_sectors(geometry.lba_of(at), into);
}

bool Fsck::State::write(FragmentAddress at, std::span<const std::byte> bytes) {
  return write_sectors(geometry.lba_of(at), bytes);
}

bool Fsck::State::read_slots(InodeNumber number, std::span<std::byte> into) {
  const InodePlace place = geometry.place_of(number);
  const std::uint64_t byte = geometry.byte_of(place.block) + place.offset;
  std::array<std::byte, kSectorBytes> sector = {};
  if (!read_sectors(byte / kSectorBytes, sector)) return false;
  std::ranges::copy(std::span(sector).subspan(byte % kSectorBytes, into.size()), into.begin());
  return true;
}

Inode Fsck::State::load(InodeNumber number) {
  std::array<std::byte, kInodeBytes> bytes = {};
  return read_slots(number, bytes) ? decode_inode(bytes) : Inode();
}

CheckedInode Fsck::State::load_with_bmap(InodeNumber number) {
  if (!geometry.features().bmap_cache) return {.inode = load(number)};
  std::array<std::byte, 2 * kInodeBytes> bytes = {};
  return read_slots(number, bytes) ? decode_with_bmap(bytes) : CheckedInode();
}

/// Decodes an inode and its bmap cache. If the cache is invalid, sets `bad_bmap` and returns an
/// empty cache.
CheckedInode Fsck::State::decode_with_bmap(std::span<const std::byte> bytes) const {
  CheckedInode checked{.inode = decode_inode(bytes.first(kInodeBytes))};
  if (!geometry.features().bmap_cache) return checked;
  checked.bmap = decode_bmap_cache(bytes.subspan(kInodeBytes, kInodeBytes));
  checked.bad_bmap =
      !checked.bmap.is_sound(geometry) || !(checked.bmap.empty() || checked.inode.is_regular());
  if (checked.bad_bmap) checked.bmap = {};
  return checked;
}

InodeExtension Fsck::State::load_extension(InodeNumber number) {
  if (!geometry.features().extensions()) return {};
  std::array<std::byte, kInodeBytes> bytes = {};
  return read_slots(number + 1, bytes) ? decode_extension(bytes) : InodeExtension();
}

void Fsck::State::save(InodeNumber number, const Inode& inode, ExtensionFate extension) {
  save(number, inode, extension, nullptr);
}

void Fsck::State::save_with_bmap(InodeNumber number, const CheckedInode& checked) {
  save(number, checked.inode, ExtensionFate::stays,
       geometry.features().bmap_cache ? &checked.bmap : nullptr);
}

void Fsck::State::save(InodeNumber number, const Inode& inode, ExtensionFate extension,
                       const BmapCache* bmap) {
  if (!repairing()) return;
  const InodePlace place = geometry.place_of(number);
  const std::uint64_t byte = geometry.byte_of(place.block) + place.offset;
  std::array<std::byte, kSectorBytes> sector = {};
  if (!read_sectors(byte / kSectorBytes, sector)) return;
  encode_inode(inode, std::span(sector).subspan(byte % kSectorBytes, kInodeBytes));
  if (geometry.features().extensions() && (extension != ExtensionFate::stays || bmap != nullptr)) {
    const auto slot = std::span(sector).subspan(byte % kSectorBytes + kInodeBytes, kInodeBytes);
    InodeExtension left;
    if (extension != ExtensionFate::goes) left = decode_extension(slot);
    if (extension == ExtensionFate::without_tags) left.tags.clear();
    if (bmap != nullptr) left.bmap = *bmap;
    encode_extension(left, slot);
  }
  write_sectors(byte / kSectorBytes, sector);
}

CheckedDirectory* Fsck::State::directory(InodeNumber number) {
  const auto at =
      std::lower_bound(directories.begin(), directories.end(), number,
                       [](const CheckedDirectory& d, InodeNumber n) { return d.inode < n; });
  return at != directories.end() && at->inode == number ? &*at : nullptr;
}

/// Returns true if the run consists of data fragments within one block. Only such runs are claimed.
bool Fsck::State::data_run(FragmentAddress at, std::uint32_t fragments) const {
  const std::uint32_t width = geometry.fragments_per_block();
  return at % width + fragments <= width && geometry.is_data(at) &&
         (fragments == 1 || geometry.is_data(at + fragments - 1));
}

std::uint32_t Fsck::State::directory_block_bytes(const CheckedDirectory& directory,
                                                 std::uint32_t index) const {
  const std::uint64_t left = directory.size_bytes - std::uint64_t{index} * geometry.block_bytes();
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(left, geometry.block_bytes()));
}

}  // namespace headcrash::ufs

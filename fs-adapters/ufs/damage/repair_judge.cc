// Compares a repaired image with the sound one (repair_judge.h).
#include "fs-adapters/ufs/damage/repair_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/substrate/tree/exchange_name.h"

namespace headcrash::ufs::damage {
namespace {

using ufs::Inode;
using ufs::InodeNumber;

/// Returns the encoded superblock. Fields that a repair may change are zero.
std::vector<std::byte> lasting(ufs::Superblock superblock) {
  superblock.total = {};
  superblock.written_at = superblock.group_rotor = 0;
  superblock.modified = superblock.clean = superblock.full_check = false;
  superblock.generation = 0;
  std::vector<std::byte> bytes(ufs::kSuperblockUsedBytes);
  ufs::encode_superblock(superblock, bytes);
  return bytes;
}

}  // namespace

RepairJudge::RepairJudge(const ImageSurvey& survey, const TrialDisk& sound, ufs::Fsck& fsck,
                         Audit& audit)
    : survey_(survey),
      fsck_(fsck),
      audit_(audit),
      digests_(sound.digests().begin(), sound.digests().end()) {}

std::string RepairJudge::problem_with(const TrialDisk& disk, const ufs::FsckReport& report,
                                      const Permitted& permitted) {
  const auto reader = ufs::ImageReader::open(disk);
  if (!reader) return reader.error().message();
  if (auto problem = compare_superblock(*reader); !problem.empty()) return problem;
  lost_found_ = reader->lookup("lost+found").value_or(0);
  if (report.unrepaired) {
    if (auto problem = judge_unrepaired(disk, *reader); !problem.empty()) return problem;
  } else {
    const auto again = fsck_.check(disk);
    if (!again) return again.error().message();
    if (!again->nothing_found()) return "a second check reports: " + again->findings.front().text;
    if (auto problem = audit_.contradiction_in(disk.bytes()); !problem.empty()) return problem;
  }
  if (report.files != audit_.files() || report.directories != audit_.directories())
    return fmt::format("the report counts {} files and {} directories; there are {} and {}",
                       report.files, report.directories, audit_.files(), audit_.directories());
  if (!(report.totals == audit_.totals())) return "the report's totals are wrong";
  return compare_inodes(disk, *reader, permitted);
}

std::string RepairJudge::problem_with_flag(const TrialDisk& disk) {
  const auto reader = ufs::ImageReader::open(disk);
  if (!reader || !reader->superblock().clean) return {};
  const std::string problem = audit_.contradiction_in(disk.bytes());
  return problem.empty() ? problem : "the file system is marked clean, but " + problem;
}

std::string RepairJudge::compare_superblock(const ufs::ImageReader& reader) const {
  return lasting(reader.superblock()) == lasting(survey_.superblock())
             ? std::string()
             : "the superblock has changed";
}

/// Checks that all findings left by the repair are reported, that nothing else is wrong, and that
/// there really is no room.
std::string RepairJudge::judge_unrepaired(const TrialDisk& disk, const ufs::ImageReader& reader) {
  if (auto problem = audit_.contradiction_in_counts(disk.bytes()); !problem.empty()) return problem;
  const auto again = fsck_.check(disk);
  if (!again) return again.error().message();
  for (const ufs::Finding& finding : again->findings) {
    using enum ufs::FindingKind;
    if (finding.kind != unreferenced_file && finding.kind != unreferenced_directory &&
        finding.kind != bad_root)
      return "a second check reports: " + finding.text;
  }
  if (again->nothing_found())
    return "the repair reports unrepaired findings, but a check finds none";
  if (has_room(reader)) return "the repair left findings although there was enough free space";
  return {};
}

/// Returns true if lost+found can grow or can be created. A directory grows by whole blocks, up to
/// the end of its direct pointers.
bool RepairJudge::has_room(const ufs::ImageReader& reader) const {
  const ufs::Geometry& geometry = reader.geometry();
  const auto ends = [&](InodeNumber directory) {
    const auto inode = reader.inode(directory);
    return !inode || !inode->is_directory() ||
           inode->size_bytes >= std::uint64_t{ufs::kDirectPointers} * geometry.block_bytes();
  };
  if (audit_.totals().free_blocks == 0 || ends(ufs::kRootInode)) return false;
  return lost_found_ != 0 ? !ends(lost_found_) : audit_.totals().free_inodes != 0;
}

std::string RepairJudge::compare_inodes(const TrialDisk& disk, const ufs::ImageReader& reader,
                                        const Permitted& permitted) const {
  // If there was no space for a new root, the repair did not check names, so names are not
  // compared.
  const auto root = reader.inode(ufs::kRootInode);
  const bool rooted = root && root->is_directory();
  for (InodeNumber number = ufs::kRootInode; number < survey_.geometry().inodes(); ++number) {
    if (!survey_.geometry().is_inode(number)) continue;
    const Inode& before = survey_.inode(number);
    const bool kept = before.allocated() && !permitted.inode_goes[number];
    const auto made = permitted.made.find(number);
    const auto now = reader.inode(number);
    if (!now) return now.error().message();
    if (made != permitted.made.end()) {
      if (now->mode != made->second.mode || now->size_bytes != made->second.size_bytes ||
          now->direct != made->second.direct || now->indirect != made->second.indirect)
        return fmt::format("inode {}, which is undamaged, was removed or replaced", number);
      continue;
    }
    std::string problem;
    if (kept) problem = compare_inode(disk, number, *now, permitted);
    if (problem.empty() && rooted && now->is_directory() && (kept || lost_found_ != number))
      problem = compare_names(reader, number, permitted);
    if (!before.allocated() && !permitted.inode_goes[number] && now->allocated() &&
        lost_found_ != number)
      problem = "is new";
    if (!problem.empty()) return fmt::format("inode {}: {}", number, problem);
  }
  return {};
}

std::string RepairJudge::compare_inode(const TrialDisk& disk, InodeNumber number, const Inode& now,
                                       const Permitted& permitted) const {
  const Inode& before = survey_.inode(number);
  if (!now.allocated()) return "is free now";
  if (now.mode != before.mode && !permitted.other_mode[number])
    return fmt::format("had mode {:o}, now has {:o}", before.mode, now.mode);
  if (now.user != before.user || now.group != before.group || now.flags != before.flags ||
      now.generation != before.generation || now.modified != before.modified ||
      now.changed != before.changed)
    return "has a different owner, generation or time";
  // lost+found and the root may have grown in order to hold more names.
  const bool grows = number == ufs::kRootInode || number == lost_found_;
  if (now.size_bytes != before.size_bytes && !permitted.other_size[number] &&
      !(grows && now.size_bytes > before.size_bytes))
    return fmt::format("had {} bytes, now has {}", before.size_bytes, now.size_bytes);
  if (grows) return {};
  for (std::uint32_t i = 0; i < ufs::kDirectPointers + ufs::kIndirectPointers; ++i) {
    const bool direct = i < ufs::kDirectPointers;
    const auto pointer = [&](const Inode& inode) {
      return direct ? inode.direct.at(i) : inode.indirect.at(i - ufs::kDirectPointers);
    };
    if (pointer(now) != pointer(before) && (permitted.other_pointers[number] >> i & 1U) == 0)
      return fmt::format("pointer {} changed from {} to {}", i, pointer(before), pointer(now));
  }
  if (before.is_directory()) return {};  // its names are compared separately
  const ufs::Geometry& geometry = survey_.geometry();
  for (const std::size_t i : survey_.runs_of(number)) {
    const OwnedRun& run = survey_.runs()[i];
    const std::uint64_t first = geometry.lba_of(run.at);
    for (std::uint64_t s = first;
         s < first + std::uint64_t{run.fragments} * geometry.sectors_per_fragment(); ++s)
      if (disk.digests()[s] != digests_[s] && !permitted.other_bytes[s])
        return fmt::format("block {} has different contents in sector {}", run.block, s);
  }
  return {};
}

std::string RepairJudge::compare_given_names(InodeNumber directory,
                                             const std::map<std::string_view, InodeNumber>& now,
                                             const Permitted& permitted) {
  const auto others_come = [&] {
    return std::ranges::find(permitted.other_names, true) != permitted.other_names.end();
  };
  for (auto at = permitted.name_stays.lower_bound({directory, {}});
       at != permitted.name_stays.end() && at->first == directory; ++at) {
    const InodeNumber inode = permitted.name_comes.at(*at);
    const auto found = now.find(at->second);
    if (found != now.end() && found->second == inode) continue;
    if (tree::is_exchange_name(at->second, inode) && others_come())
      continue;  // the inode may have another name now; a repair then removes the temporary name
    return fmt::format("its name \"{}\", added by the damage, is missing", at->second);
  }
  return {};
}

std::string RepairJudge::compare_names(const ufs::ImageReader& reader, InodeNumber directory,
                                       const Permitted& permitted) const {
  const auto names = reader.list(directory);
  if (!names) return names.error().message();
  const bool kept = survey_.inode(directory).is_directory() && !permitted.inode_goes[directory];
  std::map<std::string_view, InodeNumber> now;
  for (const ufs::NamedInode& entry : *names) now.emplace(entry.name, entry.inode);
  if (now.size() != names->size() && !permitted.other_names[directory])
    return "contains a name twice";
  std::map<std::string_view, InodeNumber> before;
  for (const std::size_t i : survey_.names_in(directory)) {
    const PlacedName& name = survey_.names()[i];
    before.emplace(name.name, name.inode);
    if (!kept || permitted.name_goes[i]) continue;
    const auto found = now.find(name.name);
    if (found == now.end()) return fmt::format("its name \"{}\" is missing", name.name);
    if (found->second != name.inode)
      return fmt::format("its name \"{}\" refers to inode {}, not {}", name.name, found->second,
                         name.inode);
  }
  if (kept && !permitted.other_size[directory]) {
    if (auto problem = compare_given_names(directory, now, permitted); !problem.empty())
      return problem;
  }
  if (permitted.other_names[directory]) return {};
  for (const auto& [name, inode] : now) {
    const auto found = before.find(name);
    if (found != before.end() && found->second == inode) continue;
    const bool adopted = directory == lost_found_ && name.starts_with('#');
    const bool made = directory == ufs::kRootInode && name == "lost+found";
    if (!adopted && !made && !permitted.name_comes.contains({directory, std::string(name)}))
      return fmt::format("it has an unexpected name \"{}\" of inode {}", name, inode);
  }
  return {};
}

}  // namespace headcrash::ufs::damage

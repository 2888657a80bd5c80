// Surveys inodes, pointers and names in one pass (image_survey.h).
#include "fs-adapters/ufs/damage/image_survey.h"

#include <fmt/format.h>

#include "fs-adapters/substrate/tree/directory_block.h"
#include "fs-adapters/ufs/core/cylinder_group.h"
#include "fs-adapters/ufs/format/image_reader.h"
#include "plugin/base/little_endian.h"

namespace headcrash::ufs::damage {

using ufs::FragmentAddress;
using ufs::InodeNumber;

Result<ImageSurvey> ImageSurvey::of(const TrialDisk& disk) {
  TRY(const auto reader, ufs::ImageReader::open(disk));
  ImageSurvey survey;
  survey.superblock_ = reader.superblock();
  survey.geometry_ = reader.geometry();
  const ufs::Geometry& geometry = survey.geometry_;
  survey.inodes_.resize(geometry.inodes());
  survey.bmaps_.resize(geometry.inodes());
  for (auto* const lists : {&survey.runs_of_, &survey.names_in_, &survey.names_of_})
    lists->resize(geometry.inodes());
  for (std::uint32_t group = 0; group < geometry.groups(); ++group) {
    const auto at =
        disk.bytes().subspan(geometry.byte_of(geometry.header(group)), geometry.block_bytes());
    std::vector<std::byte> header(at.begin(), at.end());
    survey.initialised_.push_back(ufs::CylinderGroup(geometry, header, group).initialised_inodes());
  }
  survey.run_at_.assign(geometry.size_fragments(), 0);
  for (InodeNumber number = ufs::kRootInode; number < geometry.inodes(); ++number) {
    if (!geometry.is_inode(number)) continue;
    TRY(const auto inode, reader.inode(number));
    survey.inodes_[number] = inode;
    if (!inode.allocated()) continue;
    survey.allocated_.push_back(number);
    if (geometry.features().bmap_cache) {
      TRY(const auto extension, reader.extension(number));
      survey.bmaps_[number] = extension.bmap;
    }
    if (ufs::pointers_are_text(inode, geometry.inline_target_max())) continue;
    for (std::uint32_t i = 0; i < ufs::kDirectPointers; ++i)
      survey.walk(disk,
                  {.owner = number, .slot = i, .index = i, .block = i, .at = inode.direct[i]});
    for (std::uint32_t i = 0; i < ufs::kIndirectPointers; ++i)
      survey.walk(disk, {.owner = number,
                         .slot = ufs::kDirectPointers + i,
                         .index = i,
                         .level = i + 1,
                         .block = geometry.blocks_within(i),
                         .at = inode.indirect[i]});
  }
  for (const InodeNumber number : survey.allocated_)
    if (survey.inodes_[number].is_directory()) TRY(survey.read_names(disk, number));
  return survey;
}

void ImageSurvey::walk(const TrialDisk& disk, OwnedRun run) {
  if (run.at == 0) return;
  run.fragments = run.level == 0
                      ? geometry_.fragments_of_block(inodes_[run.owner].size_bytes, run.block)
                      : geometry_.fragments_per_block();
  const std::size_t number = runs_.size();
  runs_.push_back(run);
  runs_of_[run.owner].push_back(number);
  for (FragmentAddress f = run.at; f < run.at + run.fragments; ++f)
    run_at_.at(f) = static_cast<std::uint32_t>(number + 1);
  if (run.level == 0) return;
  const auto bytes = disk.bytes().subspan(geometry_.byte_of(run.at), geometry_.block_bytes());
  std::vector<std::byte> pointers(bytes.begin(), bytes.end());
  const ufs::BmapCache& bmap = bmaps_[run.owner];
  const bool cached = run.level == 1 && bmap.is_of(geometry_, run.block);
  if (cached) bmap.lay_over(geometry_, pointers);
  for (std::uint32_t i = 0; i < geometry_.pointers_per_block(); ++i)
    walk(disk, {.owner = run.owner,
                .slot = run.slot,
                .holder = number,
                .index = i,
                .level = run.level - 1,
                .block = run.block + i * geometry_.blocks_below(run.level - 1),
                .at = little_endian::load32(pointers, std::size_t{i} * 4),
                .cached = cached && bmap.covers(run.block + i)});
}

Result<void> ImageSurvey::read_names(const TrialDisk& disk, InodeNumber directory) {
  for (const std::size_t number : runs_of(directory)) {
    const OwnedRun& run = runs_[number];
    if (run.level != 0) continue;
    const std::uint64_t start = run.block * geometry_.block_bytes();
    const std::uint64_t left = inodes_[directory].size_bytes - start;
    const auto bytes = disk.bytes().subspan(geometry_.byte_of(run.at),
                                            std::min<std::uint64_t>(left, geometry_.block_bytes()));
    tree::DirectoryCursor cursor(bytes);
    while (const auto entry = cursor.next()) {
      if (entry->inode == 0 || entry->is_dot() || entry->is_dot_dot()) continue;
      names_in_[directory].push_back(names_.size());
      names_of_.at(entry->inode).push_back(names_.size());
      names_.push_back({.directory = directory,
                        .inode = entry->inode,
                        .name = std::string(entry->name),
                        .byte = start + entry->offset,
                        .at = run.at,
                        .offset = entry->offset});
    }
    if (cursor.damage()) return fail(fmt::format("directory {}", directory), "is invalid");
  }
  return {};
}

std::optional<std::size_t> ImageSurvey::run_at(FragmentAddress at) const {
  if (at >= run_at_.size() || run_at_[at] == 0) return {};
  return run_at_[at] - 1;
}

bool ImageSurvey::is_free(FragmentAddress at) const {
  const auto inside = [at](FragmentAddress from, std::uint32_t count) {
    return at >= from && at - from < count;
  };
  return geometry_.is_data(at) && !run_at(at) &&
         !inside(superblock_.summary_address, geometry_.fragments_of(superblock_.summary_bytes)) &&
         !inside(superblock_.journal_inside().at, superblock_.journal_inside().fragments);
}

}  // namespace headcrash::ufs::damage

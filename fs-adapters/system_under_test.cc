// Implements the functions of system_under_test.h that are the same for all types: path lookup and
// tree walk with an ImageReader, names of systems, and ids.
#include "fs-adapters/system_under_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fs-adapters/image_tree.h"

namespace headcrash::adapters {
namespace {

tl::unexpected<Error> damaged(std::uint64_t inode, std::string problem) {
  return fail(fmt::format("inode {}", inode), std::move(problem), "check the image");
}

}  // namespace

Result<std::uint64_t> ImageReader::lookup(std::string_view path) const {
  return look_up_in_image(root(), path,
                          [this](std::uint64_t directory) { return list(directory); });
}

Result<void> ImageReader::walk(
    const std::function<void(const std::string& path, const ImageInode&)>& visit) const {
  return walk_image(
      root(), [this](std::uint64_t directory) { return list(directory); },
      [&](const std::string& path, const ImageName& entry) -> Result<bool> {
        TRY(const auto child, inode(entry.inode));
        if (!child.allocated)
          return damaged(entry.inode,
                         fmt::format("is not allocated, but has the name '{}'", entry.name));
        visit(path, child);
        return child.type == FileType::directory;
      },
      damaged);
}

Result<std::uint64_t> id_of_uuid(const std::string& uuid) {
  std::uint64_t id = 0;
  std::size_t digits = 0;
  for (const char c : uuid) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    if (c == '-') continue;
    const std::size_t value = kDigits.find(static_cast<char>(c | 0x20));
    if (digits == 16 || value == std::string_view::npos) break;
    id = id << 4U | value;
    ++digits;
  }
  if (digits < 16) return fail("uuid " + uuid, "is not a UUID", "use a UUID as printed by uuidgen");
  return id;
}

std::string SystemUnderTest::full_name() const {
  return fmt::format("{}-{}", type_->name(), description_.name);
}

std::span<const std::string_view> FileSystemType::block_kinds() const {
  static constexpr std::array<std::string_view, 1> kNames{"other"};
  return kNames;
}

bool FileSystemType::left_by_a_cut(const CheckReport& report) const {
  const auto may_be_left = [&](const CheckFinding& finding) {
    return std::ranges::any_of(systems(),
                               [&](const std::unique_ptr<const SystemUnderTest>& system) {
                                 return !system->control() && system->may_leave(finding.kind);
                               });
  };
  return report.more_findings == 0 && std::ranges::all_of(report.findings, may_be_left);
}

Result<std::vector<SnapshotInfo>> FileSystemType::snapshots(const model::SectorStore&) const {
  return fail(std::string(name()), "has no snapshots");
}

Result<std::unique_ptr<ImageReader>> FileSystemType::open_snapshot(const model::SectorStore&,
                                                                   std::string_view) const {
  return fail(std::string(name()), "has no snapshots");
}

Result<std::unique_ptr<RepairTrials>> FileSystemType::repair_trials(std::span<const std::byte>,
                                                                    std::uint64_t) const {
  return fail(std::string(name()), "has no repair trials");
}

bool FileSystemType::may_have_log_device() const {
  return std::ranges::any_of(systems(),
                             [](const auto& system) { return system->description().devices > 1; });
}

Result<const SystemUnderTest*> FileSystemType::find_system(std::string_view system) const {
  std::string names;
  for (const std::unique_ptr<const SystemUnderTest>& one : systems()) {
    if (one->name() == system) return one.get();
    names += (names.empty() ? "" : ", ") + one->name();
  }
  return fail(std::string(name()), "unknown variant '" + std::string(system) + "'",
              "use one of: " + names);
}

}  // namespace headcrash::adapters

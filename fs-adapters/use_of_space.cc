// Writes and removes files until the disk is full or empty (use_of_space.h).
#include "fs-adapters/use_of_space.h"

#include <cerrno>
#include <vector>

namespace headcrash::adapters {
namespace {

constexpr std::uint64_t kUsablePercent = 90;
constexpr os::TimeNs kSettleNs = 10 * model::kSecondNs;

}  // namespace

VfsResult<void> remove_below(Vfs& vfs, const std::string& folder) {
  TRY(const auto entries, vfs.list(folder));
  for (const DirectoryEntry& entry : entries) {
    const std::string path = folder.empty() ? entry.name : folder + "/" + entry.name;
    if (entry.type != FileType::directory) {
      TRY(vfs.unlink(path));
      continue;
    }
    TRY(remove_below(vfs, path));
    TRY(vfs.rmdir(path));
  }
  return {};
}

VfsResult<std::uint64_t> write_until_full(Vfs& vfs, const std::string& path, std::uint64_t bytes,
                                          std::size_t piece_bytes) {
  const auto is_full = [](const auto& result) { return !result && result.error().value == ENOSPC; };
  const auto file = vfs.open(path, {.create = true});
  if (is_full(file)) return 0;
  if (!file) return forward_errno(file);
  const std::vector<std::byte> piece(piece_bytes, std::byte{'p'});
  std::uint64_t written = 0;
  while (written < bytes) {
    const auto appended = vfs.append(*file, piece);
    if (is_full(appended)) break;
    if (!appended) return forward_errno(appended);
    written += piece_bytes;
  }
  TRY(vfs.close(*file));
  return written;
}

VfsResult<void> settle(Vfs& vfs, os::System& machine) {
  TRY(vfs.sync());
  machine.executor.sleep_until(machine.executor.now() + kSettleNs);
  return vfs.sync();
}

VfsResult<std::uint64_t> free_space_when_empty(Vfs& vfs, os::System& machine) {
  TRY(remove_below(vfs, ""));
  TRY(settle(vfs, machine));
  TRY(const auto space, vfs.space());
  return space.free_bytes;
}

VfsResult<UsedSpace> use_space(Vfs& vfs, os::System& machine, const std::string& path,
                               std::uint64_t free_bytes) {
  UsedSpace used{.promised_bytes = free_bytes * kUsablePercent / 100};
  TRY(used.written_bytes, write_until_full(vfs, path, used.promised_bytes));
  TRY(vfs.sync());
  if (used.written_bytes > 0) TRY(vfs.unlink(path));
  TRY(settle(vfs, machine));
  return used;
}

}  // namespace headcrash::adapters

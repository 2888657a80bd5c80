// Console messages of Linux 6.1 that report kernel errors (oops.h).
#include "harness/vm/oops.h"

#include <algorithm>
#include <array>
#include <span>

namespace headcrash::vm {
namespace {

// Matches a line that contains `first` and, after it, `second`.
struct Pattern {
  std::string_view first, second;
};

constexpr std::array kOopses{
    Pattern{"BUG: ", ""},  // NULL dereferences, bad pages, soft lockups, reports of KASAN
    Pattern{"kernel BUG at", ""},
    Pattern{"Oops: ", "[#"},
    Pattern{"Kernel panic - ", ""},
    Pattern{"general protection fault", "[#"},
    Pattern{"invalid opcode: ", "[#"},
    Pattern{"divide error: ", "[#"},
    Pattern{"WARNING: CPU: ", " at "},
    Pattern{"watchdog: ", "LOCKUP"},
    Pattern{"watchdog: ", "lockup"},
    Pattern{"INFO: task ", " blocked for more than "},
    Pattern{"rcu: INFO: ", "stall"},
    Pattern{"XFS: Assertion failed", ""},
    Pattern{"Assertion failure in ", ""},  // jbd2
    Pattern{"VFS: Busy inodes after unmount", ""},
    Pattern{"UBSAN: ", ""},
    Pattern{"stack-protector: ", ""},
};

constexpr std::array kDamageMessages{
    Pattern{"EXT4-fs error (device", ""},
    Pattern{"EXT4-fs (", "error loading journal"},
    Pattern{"EXT4-fs (", "group descriptors corrupted"},
    Pattern{"JBD2: ", "recovery failed"},
    Pattern{"JBD2: Invalid checksum", ""},
    Pattern{"XFS (", "Metadata corruption detected"},
    Pattern{"XFS (", "Metadata CRC error detected"},
    Pattern{"XFS (", "Corruption of in-memory data"},
    Pattern{"XFS (", "Corruption warning"},
    Pattern{"XFS (", "Internal error"},
    Pattern{"XFS (", "log mount/recovery failed"},
    Pattern{"BTRFS warning (", "checksum verify failed"},
    Pattern{"BTRFS error (", ""},
    Pattern{"BTRFS critical (", ""},
    Pattern{"F2FS-fs (", "nconsistent"},
    Pattern{"F2FS-fs (", "orrupt"},
    Pattern{"F2FS-fs (", "set SBI_NEED_FSCK"},
    Pattern{"F2FS-fs (", "access invalid blkaddr"},
    Pattern{"F2FS-fs (", "invalid journal entries"},
    Pattern{"F2FS-fs (", "Failed to "},
    Pattern{"NILFS error (device", ""},
    Pattern{"NILFS (", "orrupt"},
    Pattern{"NILFS (", "while searching super root"},
    Pattern{"NILFS (", "unable to fall back to spare super block"},
    Pattern{"ERROR: (device ", ""},  // jfs
    Pattern{"REISERFS error (", ""},
    Pattern{"REISERFS warning (", "unable to initialize journal space"},
    Pattern{"MINIX-fs: ", "corrupt"},
    Pattern{"minix_free_", "already cleared"},
    Pattern{"Bad inode number on dev ", "is out of range"},  // minix
};

// Lines that match the patterns above but are expected after a power cut or an injected error.
constexpr std::array kNormal{
    // btrfs prints its counts of I/O errors after each I/O error.
    Pattern{"BTRFS error (", " errs: wr "},
    // XFS prints this when it checks the quotas after a cut, and then initialises the block again
    // (xfs_qm_reset_dqcounts_all).
    Pattern{"XFS (", ", xfs_dquot block"},
};

bool matches(std::string_view line, const Pattern& pattern) {
  const std::size_t at = line.find(pattern.first);
  return at != std::string_view::npos &&
         line.find(pattern.second, at + pattern.first.size()) != std::string_view::npos;
}

std::optional<std::string> find(std::string_view console, std::span<const Pattern> patterns) {
  while (!console.empty()) {
    const std::size_t end = std::min(console.find('\n'), console.size());
    std::string_view line = console.substr(0, end);
    console.remove_prefix(std::min(end + 1, console.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    const bool normal = std::any_of(kNormal.begin(), kNormal.end(),
                                    [&](const Pattern& p) { return matches(line, p); });
    if (!normal && std::any_of(patterns.begin(), patterns.end(),
                               [&](const Pattern& p) { return matches(line, p); })) {
      return std::string(line);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> find_oops(std::string_view console) {
  return find(console, kOopses);
}
std::optional<std::string> find_damage_message(std::string_view console) {
  return find(console, kDamageMessages);
}

}  // namespace headcrash::vm

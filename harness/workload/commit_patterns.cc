// Generates the patterns for journaling kernels (commit_patterns.h). Each round uses separate
// names, so that no round overwrites the files of an earlier one. The sizes leave partial blocks
// both with blocks of 1 KiB, which ext4 uses by default on a small disk, and with blocks of 4 KiB.
#include "harness/workload/commit_patterns.h"

#include <fmt/format.h>

#include <array>

#include "harness/workload/script.h"

namespace headcrash::workload {
namespace {

/// Patterns whose rounds have many writes divide the number of rounds by this number.
constexpr std::uint32_t kLargeRounds = 6;

void fsync_after_names(Script& lines, std::uint32_t rounds) {
  lines.say("mkdir d");
  lines.say("sync");
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string a = fmt::format("a{}", round), b = fmt::format("b{}", round),
                      c = fmt::format("c{}", round);
    lines.create(a, 4096);
    lines.say("fsync {}", a);
    lines.say("sync");
    switch (round % 4) {
      case 0:
        lines.say("link {} {}", a, b);
        lines.say("fsync {}", a);
        lines.say("rename {} {}", b, c);
        lines.say("fsync {}", a);
        break;
      case 1:
        lines.say("rename {} d/{}", a, b);
        lines.say("fsync d/{}", b);
        break;
      case 2:
        lines.say("link {} d/{}", a, b);
        lines.say("unlink {}", a);
        lines.say("fsync d/{}", b);
        break;
      default:
        lines.say("setxattr {} user.mark {}", a, c);
        lines.say("fsync {}", a);
        lines.say("rename {} {}", a, c);
        lines.say("fsync {}", c);
        break;
    }
  }
}

void truncate_in_block(Script& lines, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string a = fmt::format("a{}", round);
    const std::uint64_t base = round % 2 == 0 ? 0 : 512 * lines.below(24);
    lines.create(a, base + 1024);
    lines.say("fsync {}", a);
    lines.say("truncate {} {}", a, base + 512);
    if (round % 3 != 2) lines.say("fsync {}", a);
    if (round % 4 == 3) {
      lines.write(a, base + 1536, 512);
    } else {
      lines.say("truncate {} {}", a, base + 2048);
    }
    lines.say("fsync {}", a);
  }
}

void freed_blocks_reused(Script& lines, std::uint32_t rounds) {
  constexpr std::uint64_t kBytes = 64 << 10, kNewFiles = 8;
  for (std::uint32_t round = 0; round < rounds / kLargeRounds + 1; ++round) {
    const std::string a = fmt::format("a{}", round);
    lines.create(a, kBytes);
    lines.say("fsync {}", a);
    lines.say("sync");
    if (round % 3 == 2) {
      lines.say("truncate {} 0", a);
    } else {
      lines.say("unlink {}", a);
    }
    for (std::uint64_t i = 0; i < kNewFiles; ++i) {
      const std::string b = fmt::format("b{}-{}", round, i);
      lines.create(b, 0);
      lines.write_direct(b, 0, kBytes);
    }
    if (round % 2 == 1) lines.say("sync");
    for (std::uint64_t i = 1; i < kNewFiles; ++i) lines.say("unlink b{}-{}", round, i);
  }
}

void unsynced_neighbours(Script& lines, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string a = fmt::format("a{}", round), b = fmt::format("b{}", round);
    switch (round % 4) {
      case 0:
        lines.create(a, 16384);
        break;
      case 1:
        // After a rename over an existing file, the file system starts to write the new file's data
        // by itself. The fsync that follows must wait for these writes. A file system with a bug
        // may return too early.
        lines.create(a, 4096);
        lines.say("fsync {}", a);
        lines.create(a + ".new", 16384);
        lines.say("rename {}.new {}", a, a);
        break;
      case 2:  // closing a truncated file also starts to write its data
        lines.create(a, 4096);
        lines.say("fsync {}", a);
        lines.say("truncate {} 0", a);
        lines.write(a, 0, 16384);
        break;
      default:
        lines.create(a, 4096);
        lines.say("fsync {}", a);
        lines.write(a, 6144, 8192);
        lines.write_direct(a, 16384, 4096);
        break;
    }
    lines.create(b, 0);
    lines.say("fsync {}", b);
  }
}

void revoked_blocks(Script& lines, std::uint32_t rounds) {
  constexpr std::uint64_t kOldFiles = 24, kPieces = 6, kEntries = 20, kNewFiles = 8;
  // The names are long, so that each directory has several blocks.
  const std::string big(240, 'x'), entry(200, 'n');
  for (std::uint32_t round = 0; round < rounds / kLargeRounds + 1; ++round) {
    const std::string b = fmt::format("b{}", round), d = fmt::format("d{}", round);
    const auto old = [&](std::uint64_t i) { return fmt::format("a{}-{}", round, i); };
    // The many extents and the large attribute do not fit into the inode. Further metadata blocks
    // are therefore allocated among the data blocks, at positions where new data will be written
    // later. Directory blocks are allocated elsewhere.
    for (std::uint64_t i = 0; i < kOldFiles; ++i) {
      lines.create(old(i), 0);
      for (std::uint64_t piece = 0; piece < kPieces; ++piece)
        lines.write(old(i), piece * 8192, 1024);
      lines.say("setxattr {} user.big {}", old(i), big + old(i));
    }
    lines.say("mkdir {}", d);
    for (std::uint64_t i = 0; i < kEntries; ++i) lines.say("create {}/{}-{}", d, entry, i);
    lines.say("sync");
    // Free everything, and commit the removal.
    for (std::uint64_t i = 0; i < kOldFiles; ++i) lines.say("unlink {}", old(i));
    for (std::uint64_t i = 0; i < kEntries; ++i) lines.say("unlink {}/{}-{}", d, entry, i);
    lines.say("rmdir {}", d);
    lines.say("sync");
    // Write and sync so much data that the freed blocks are reused while the journal still contains
    // the old metadata.
    for (std::uint64_t i = 0; i < kNewFiles; ++i) {
      const std::string file = fmt::format("{}-{}", b, i);
      lines.create(file, 0);
      lines.write_direct(file, 0, 64 << 10);
      lines.say("fsync {}", file);
    }
    for (std::uint64_t i = 1; i < kNewFiles; ++i) lines.say("unlink {}-{}", b, i);
  }
}

/// Syncs only the directories. A sync of the whole file system in each round would write the
/// journal's changes to their final places, so the journal would never wrap around.
void wrap_journal(Script& lines, std::uint32_t rounds) {
  constexpr std::uint32_t kFolders = 8, kTouched = 12;
  for (std::uint32_t i = 0; i < kFolders; ++i) lines.say("mkdir d{}", i);
  lines.say("sync");
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::uint32_t i = 0; i < kTouched; ++i) {
      const std::string path = fmt::format("d{}/f{}-{}", (round + i) % kFolders, round, i);
      lines.create(path, 1024 * (1 + lines.below(4)));
      lines.say("fsync {}", path);
    }
    if (round % 3 != 2) continue;
    for (std::uint32_t i = 0; i < kTouched; i += 2)
      lines.say("unlink d{}/f{}-{}", (round + i) % kFolders, round, i);
  }
}

void allocated_extents(Script& lines, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string a = fmt::format("a{}", round);
    lines.say("create {}", a);
    lines.say("allocate{} {} 0 32768", round % 2 == 0 ? "" : "-keep", a);
    lines.keep(a);
    lines.write(a, 4096, 8192);
    lines.keep(a);
    if (round % 3 == 0) {
      lines.say("punch {} 5632 3072", a);
    } else if (round % 3 == 1) {
      lines.say("zero {} 5632 3072", a);
    } else {
      lines.write_direct(a, 16384, 4096);
    }
    lines.keep(a);
  }
}

void dropped_links(Script& lines, std::uint32_t rounds) {
  for (const char* folder : {"d", "e"}) lines.say("mkdir {}", folder);
  lines.say("sync");
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string a = fmt::format("d/a{}", round), b = fmt::format("e/b{}", round);
    lines.create(a, 2048);
    lines.say("link {} {}", a, b);
    lines.say("fsync {}", a);
    if (round % 2 == 0) {
      lines.say("unlink {}", a);
      lines.say("fsync {}", b);
      continue;
    }
    lines.say("open {} %f", a);
    lines.say("unlink {}", a);
    lines.say("unlink {}", b);
    lines.say("write %f 2048 2048 1 1");
    lines.say("fsyncdir d");
    lines.say("close %f");
    lines.say("fsyncdir e");
  }
}

constexpr std::array kCommitScenarios{
    Scenario{{"fsync-after-names", "an old file gets a link or a new name, and is synced"},
             fsync_after_names},
    Scenario{{"truncate-in-block", "files shrink and grow within a block, each step synced"},
             truncate_in_block},
    Scenario{{"freed-blocks-reused",
              "blocks of a removed file are immediately reused for other files' data"},
             freed_blocks_reused},
    Scenario{{"unsynced-neighbours", "files whose blocks are committed by another file's fsync"},
             unsynced_neighbours},
    Scenario{
        {"revoked-blocks",
         "journaled blocks are freed and reused for synced data (on ext4+tiny-journal as well)"},
        revoked_blocks},
    Scenario{{"wrap-journal", "large commits that wrap a small journal (ext4+tiny-journal)"},
             wrap_journal},
    Scenario{
        {"allocated-extents", "preallocated space is partly written, punched, zeroed and synced"},
        allocated_extents},
    Scenario{{"dropped-links",
              "one file gains and loses names in two directories, sometimes while it is open"},
             dropped_links}};

}  // namespace

std::span<const Scenario> commit_scenarios() {
  return kCommitScenarios;
}

}  // namespace headcrash::workload

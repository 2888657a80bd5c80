// Generates the patterns in which applications write (patterns.h). Each function adds the rounds of
// one pattern to a script. Pages and frames have SQLite's default sizes, but frames are rounded up
// to whole stamps.
#include "harness/workload/patterns.h"

#include <fmt/format.h>

#include <array>

#include "harness/workload/commit_patterns.h"
#include "harness/workload/script.h"

namespace headcrash::workload {
namespace {

using Kind = Operation::Kind;

constexpr std::uint64_t kPageBytes = 4096;
// A frame of the log: a header of 24 bytes and a page, rounded up to whole stamps.
constexpr std::uint64_t kFrameBytes = 4608;
constexpr std::uint64_t kDatabasePages = 32;
constexpr std::uint64_t kPagesMost = 6;  // maximum number of pages in one transaction
constexpr std::uint64_t kLogBytesMost = 64 << 10;

void replace(Script& script, std::uint32_t rounds, bool synced) {
  constexpr std::uint64_t kDocuments = 4;
  script.mkdir("etc");
  if (!synced) script.create("log");
  for (std::uint64_t i = 0; i < kDocuments; ++i) {
    script.create(fmt::format("etc/document{}", i));
    script.write(fmt::format("etc/document{}", i), 0, script.some_bytes(24));
  }
  script.sync();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string document = fmt::format("etc/document{}", script.below(kDocuments));
    script.create(document + ".new");
    script.write(document + ".new", 0, script.some_bytes(24));
    if (synced) script.fsync(document + ".new");
    script.rename(document + ".new", document);
    if (synced && script.below(2) == 0) script.fsyncdir("etc");
    if (synced || script.below(2) == 0) continue;
    script.append("log", kStampBytes);
    script.fsync("log");
  }
  script.sync();
}

void replace_synced(Script& script, std::uint32_t rounds) {
  replace(script, rounds, true);
}
void replace_unsynced(Script& script, std::uint32_t rounds) {
  replace(script, rounds, false);
}

void append_log(Script& script, std::uint32_t rounds) {
  script.mkdir("log");
  script.create("log/current");
  script.fsyncdir("log");
  script.sync();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    script.append("log/current", script.some_bytes(8));
    if (script.below(3) != 0) script.fdatasync("log/current");
    if (script.draft.size("log/current") < kLogBytesMost) continue;
    script.fsync("log/current");
    script.rename("log/current", "log/previous");
    script.create("log/current");
    script.fsyncdir("log");
  }
  script.fsync("log/current");
}

void mail_spool(Script& script, std::uint32_t rounds) {
  for (const char* folder : {"tmp", "new", "cur"}) script.mkdir(folder);
  script.sync();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string mail = fmt::format("mail{}", round);
    script.create("tmp/" + mail);
    script.write("tmp/" + mail, 0, script.some_bytes(16));
    script.fsync("tmp/" + mail);
    script.link("tmp/" + mail, "new/" + mail);
    script.fsyncdir("new");  // the message is now persistent, so the sender may discard it
    script.unlink("tmp/" + mail);
    const std::vector<std::string> unread = script.draft.children("new");
    if (script.below(2) == 0) {
      const std::string& read = unread[script.below(unread.size())];
      script.rename(read, "cur/" + read.substr(read.find('/') + 1) + ":2,S");
      if (script.below(2) == 0) script.fsyncdir("cur");
    }
    const std::vector<std::string> kept = script.draft.children("cur");
    if (kept.empty() || script.below(3) != 0) continue;
    script.unlink(kept[script.below(kept.size())]);
    script.fsyncdir("cur");
  }
  script.sync();
}

std::vector<std::uint64_t> draw_pages(Script& script) {
  std::vector<std::uint64_t> pages(1 + script.below(kPagesMost));
  for (std::uint64_t& page : pages) page = script.below(kDatabasePages);
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  return pages;
}

void make_database(Script& script) {
  script.create("base.db");
  script.write("base.db", 0, kDatabasePages * kPageBytes);
  script.fsync("base.db");
  script.sync();
}

void write_pages(Script& script, const std::vector<std::uint64_t>& pages) {
  for (const std::uint64_t page : pages) script.write("base.db", page * kPageBytes, kPageBytes);
}

void sqlite_rollback(Script& script, std::uint32_t rounds) {
  const std::string journal = "base.db-journal";
  make_database(script);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::vector<std::uint64_t> pages = draw_pages(script);
    script.create(journal);
    script.write(journal, kStampBytes, pages.size() * kFrameBytes);
    script.fsync(journal);
    script.write(journal, 0, kStampBytes);  // the header, which contains the number of pages
    script.fsync(journal);
    script.fsyncdir("");
    write_pages(script, pages);
    script.fsync("base.db");
    script.unlink(journal);  // the removal of the journal commits the transaction
    script.fsyncdir("");
  }
}

void sqlite_wal(Script& script, std::uint32_t rounds) {
  const std::string log = "base.db-wal";
  make_database(script);
  script.create(log);
  script.write(log, 0, kStampBytes);  // the header
  script.fsyncdir("");
  std::vector<std::uint64_t> dirty;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::vector<std::uint64_t> pages = draw_pages(script);
    for (std::size_t i = 0; i < pages.size(); ++i) script.append(log, kFrameBytes);
    script.fdatasync(log);
    dirty.insert(dirty.end(), pages.begin(), pages.end());
    if (script.draft.size(log) < 4 * kLogBytesMost) continue;
    std::sort(dirty.begin(), dirty.end());
    dirty.erase(std::unique(dirty.begin(), dirty.end()), dirty.end());
    write_pages(script, dirty);
    script.fsync("base.db");
    script.truncate(log, 0);
    script.write(log, 0, kStampBytes);
    script.fsync(log);
    dirty.clear();
  }
  script.fsync(log);
}

/// Overwrites files of fixed length in place, and syncs each write, as a database does. After the
/// last global sync, space is allocated beyond the end of each file, and the file is synced, before
/// the first page is overwritten. This avoids known defects of F2FS (fs-adapters/linux/f2fs.toml,
/// f2fs-strict.toml), so that the pattern can serve as a control.
void overwrite_fsync(Script& script, std::uint32_t rounds) {
  constexpr std::uint64_t kTables = 4, kTableBytes = 64 * kStampBytes;
  const auto table = [](std::uint64_t number) { return fmt::format("table{}", number); };
  for (std::uint64_t i = 0; i < kTables; ++i) {
    script.create(table(i));
    script.write(table(i), 0, kTableBytes);
  }
  script.sync();
  for (std::uint64_t i = 0; i < kTables; ++i) {
    script.allocate_keep(table(i), kTableBytes, kPageBytes);
    script.fsync(table(i));
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string path = table(script.below(kTables));
    const std::uint64_t page = script.below(kTableBytes / kPageBytes - 1);
    script.write(path, page * kPageBytes, (1 + script.below(2)) * kPageBytes);
    if (script.below(3) == 0)
      script.fdatasync(path);
    else
      script.fsync(path);
  }
}

/// Creates files and appends to them. Each change is synced, and each new name is synced with its
/// directory. Every append needs a new block, and nothing is renamed or removed. This avoids known
/// defects of ext4 without a journal (fs-adapters/linux/ext2.toml) and of btrfs, so that the
/// pattern can serve as a control.
void append_fsync(Script& script, std::uint32_t rounds) {
  constexpr std::uint64_t kAppended = 16, kPagesAtOnce = 4;
  std::vector<std::string> files;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const bool fresh = files.empty() || (files.size() < kAppended && script.below(4) == 0);
    if (fresh) {
      files.push_back(fmt::format("file{}", files.size()));
      script.create(files.back());
    }
    const std::string path = fresh ? files.back() : files[script.below(files.size())];
    script.append(path, (1 + script.below(kPagesAtOnce)) * kPageBytes);
    script.fsync(path);
    if (fresh) script.fsyncdir("");
  }
}

/// Makes a file persistent, opens it, removes its last name, and syncs the open file, as in
/// generic/764 of xfstests. Every other file is written or truncated before the second sync.
void fsync_unlinked(Script& script, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string path = fmt::format("victim{}", round), open = "%victim";
    script.create(path);
    if (round % 2 == 1) script.write(path, 0, script.some_bytes(8));
    script.sync();
    script.open(path, open);
    script.unlink(path);
    if (round % 4 == 1) script.write(open, 0, script.some_bytes(8));
    if (round % 4 == 3) script.truncate(open, 0);
    script.fsync(open);
    script.close(open);
  }
}

/// Makes a symbolic link persistent by an fsync of its directory, renames it, and syncs the
/// directory again, as in generic/779 of xfstests.
void fsync_renamed_symlink(Script& script, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string folder = fmt::format("d{}", round);
    script.mkdir(folder);
    script.symlink("nowhere", folder + "/old");
    script.fsyncdir(folder);
    script.rename(folder + "/old", folder + "/new");
    script.fsyncdir(folder);
  }
}

/// Executes the operations that overlayfs executes on its upper layer. Renames a file, in half of
/// the cases over another file, and leaves a whiteout at the old name. The whiteout hides the file
/// of that name in the lower layer.
void whiteouts(Script& script, std::uint32_t rounds) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string folder = fmt::format("d{}", round);
    const std::string from = folder + "/from", to = folder + "/to";
    script.mkdir(folder);
    script.fsyncdir("");
    const bool replaces = script.below(2) == 0;
    for (const std::string& path : replaces ? std::vector{from, to} : std::vector{from}) {
      script.create(path);
      script.write(path, 0, script.some_bytes(16));
      script.fsync(path);
    }
    script.fsyncdir(folder);
    script.rename_whiteout(from, to);
    if (script.below(2) == 0) script.fsync(to);
    script.fsyncdir(folder);
    if (script.below(2) != 0) continue;
    script.unlink(from);
    script.fsyncdir(folder);
  }
}

/// Changes only inodes: modes, owners, times, and space beyond the end of files.
void inode_changes(Script& script, std::uint32_t rounds) {
  constexpr std::uint64_t kRoomBytes = 16 << 10;
  constexpr std::int64_t kFirstSeconds = 1'000'000'000;
  const std::array<std::string, 3> files{"a", "d/b", "d/c"};
  script.mkdir("d");
  for (const std::string& file : files) script.create(file);
  script.sync();
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const std::string& file = files.at(script.below(files.size()));
    const bool folder = script.below(5) == 0;
    const std::string changed = folder ? "d" : file;
    const auto number = static_cast<std::uint32_t>(script.below(kLargestOwner));
    switch (script.below(5)) {
      case 0:
        script.draft.add({.kind = Kind::chmod, .path = changed, .mode = 0400 + number % 0400});
        break;
      case 1:
        script.draft.add(
            {.kind = Kind::chown, .path = changed, .user = number, .group = number / 2});
        break;
      case 2:
        script.draft.add(
            {.kind = Kind::touch, .path = file, .seconds = kFirstSeconds + 2 * number});
        break;
      case 3:
        script.allocate_keep(file, script.below(4) * kRoomBytes, kRoomBytes);
        break;
      default:
        script.append(file, script.some_bytes(8));
    }
    if (script.below(3) != 0) continue;
    switch (script.below(4)) {
      case 0:
        script.sync();
        break;
      case 1:
        script.fdatasync(file);
        break;
      case 2:
        script.fsyncdir("d");
        break;
      default:
        script.fsync(file);
    }
  }
  script.sync();
}

constexpr std::array kScenarios{
    Scenario{{"replace-by-rename", "new file, fsync, rename over the old one, as editors do"},
             replace_synced},
    Scenario{{"replace-by-rename-unsynced", "new file, rename over the old one, without fsync"},
             replace_unsynced},
    Scenario{{"append-log",
              "records are appended to a log with fdatasync; the log is rotated by rename"},
             append_log},
    Scenario{{"mail-spool", "maildir: tmp, link into new, rename into cur, unlink"}, mail_spool},
    Scenario{{"sqlite-rollback", "the writes and syncs of SQLite's rollback journal"},
             sqlite_rollback},
    Scenario{{"sqlite-wal", "the writes and syncs of SQLite's write-ahead log, with checkpoints"},
             sqlite_wal},
    Scenario{
        {"overwrite-fsync", "files of fixed length are overwritten in place, each write synced"},
        overwrite_fsync},
    Scenario{
        {"append-fsync", "files are created and appended to, each change and each name synced"},
        append_fsync},
    Scenario{{"fsync-unlinked",
              "a file loses its last name while it is open, and is synced (generic/764)"},
             fsync_unlinked},
    Scenario{{"fsync-renamed-symlink",
              "a symbolic link is renamed, and its directory is synced (generic/779)"},
             fsync_renamed_symlink},
    Scenario{{"whiteouts",
              "a file moves away and leaves a whiteout, each step synced, as under overlayfs"},
             whiteouts},
    Scenario{{"inode-changes",
              "chmod, chown, explicit times and fallocate, some of them made persistent"},
             inode_changes}};

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all(kScenarios.begin(), kScenarios.end());
  const auto more = commit_scenarios();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = [] {
    std::vector<Pattern> list;
    for (const Scenario& scenario : all_scenarios()) list.push_back(scenario.pattern);
    return list;
  }();
  return all;
}

std::optional<std::vector<Operation>> pattern(std::string_view name,
                                              const PatternOptions& options) {
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.pattern.name != name) continue;
    Script script(options.seed);
    scenario.play(script, options.rounds);
    return script.draft.take();
  }
  return std::nullopt;
}

}  // namespace headcrash::workload

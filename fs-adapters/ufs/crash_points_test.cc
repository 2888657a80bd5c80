// Cuts the power after each write of a workload, and inside each write. fsck must find only what
// the scheme permits, a repair must leave nothing to find, and synced data must exist. The test
// must detect the control No Order.

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "fs-adapters/ufs/format/image_reader.h"
#include "fs-adapters/ufs/testing/mounted.h"

namespace headcrash::ufs {
namespace {

using bench::LoggedStore;
using bench::Mounted;
using bench::Setup;

constexpr const char* kLink = "q/link";
const std::string kLongTarget(1200, 't');

/// Makes structural changes of every kind, so that fragments move and blocks are reused.
void change_things(Mounted& m, std::size_t& synced_at) {
  Vfs& fs = *m.file_system;
  const auto settle = [&](int seconds) {
    m.executor.sleep_until(m.executor.now() + seconds * model::kSecondNs);
  };
  for (const char* folder : {"p", "q"}) EXPECT_TRUE(fs.mkdir(folder, 0755));
  for (int i = 0; i < 12; ++i)
    bench::put_file(fs, "p/f" + std::to_string(i),
                    std::string(static_cast<std::size_t>(500 + 1100 * i), 'a'));
  settle(3);
  for (int i = 0; i < 12; i += 2) EXPECT_TRUE(fs.unlink("p/f" + std::to_string(i)));
  for (int i = 0; i < 6; ++i) {
    const auto file = fs.open("q/g" + std::to_string(i), {.create = true});
    ASSERT_TRUE(file);
    for (int part = 0; part < 5; ++part)
      EXPECT_TRUE(fs.append(*file, bench::bytes_of(std::string(1500, static_cast<char>('b' + i)))));
    if (i == 2) {
      EXPECT_TRUE(fs.fsync(*file));
      synced_at = m.log.log.size();
    }
    EXPECT_TRUE(fs.close(*file));
  }
  EXPECT_TRUE(fs.link("p/f1", "q/linked"));
  EXPECT_TRUE(fs.rename("p/f3", "q/moved", RenameMode::replace));
  EXPECT_TRUE(fs.rename("p/f5", "q/g0", RenameMode::replace));
  settle(2);
  EXPECT_TRUE(fs.mkdir("p/deep", 0755));
  bench::put_file(fs, "p/deep/x", "x");
  EXPECT_TRUE(fs.rename("p/deep", "q/deep", RenameMode::replace));
  EXPECT_TRUE(fs.mkdir("p/short", 0755));
  EXPECT_TRUE(fs.rmdir("p/short"));
  settle(4);
  const auto big = fs.open("big", {.create = true});
  ASSERT_TRUE(big);
  EXPECT_TRUE(fs.pwrite(*big, 0, bench::bytes_of(std::string(70'000, 'B'))));
  settle(7);
  EXPECT_TRUE(fs.truncate(*big, 53'000));
  EXPECT_TRUE(fs.close(*big));
  bench::put_file(fs, "reuser", std::string(30'000, 'r'));
  EXPECT_TRUE(fs.unlink("q/deep/x"));
  EXPECT_TRUE(fs.rmdir("q/deep"));
  EXPECT_TRUE(fs.unlink("big"));
  settle(8);
  EXPECT_TRUE(fs.symlink(kLongTarget, kLink));
  settle(2);
}

constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

/// Returns a name so long that its entry fills a chunk; a block of 4 KiB has eight chunks.
std::string long_name(int i) {
  return "d/" + std::string(250, 'n') + std::to_string(1000 + i);
}
constexpr int kNamesInDirectBlocks = 8 * static_cast<int>(kDirectPointers);

/// Fills the directory until its direct blocks have room for only a few more names.
void fill_direct_blocks(Mounted& m) {
  Vfs& fs = *m.file_system;
  EXPECT_TRUE(fs.mkdir("d", 0755));
  bench::put_file(fs, "f", "x");
  for (int i = 0; i < kNamesInDirectBlocks - 3; ++i) EXPECT_TRUE(fs.link("f", long_name(i)));
  EXPECT_TRUE(fs.sync());
}

/// Adds names until the directory needs an indirect block and two blocks below it.
void outgrow_direct_blocks(Mounted& m, std::size_t& synced_at) {
  Vfs& fs = *m.file_system;
  synced_at = kNever;
  for (int i = -3; i < 12; ++i) {
    EXPECT_TRUE(fs.link("f", long_name(kNamesInDirectBlocks + i)));
    if (i % 3 == 0) m.executor.sleep_until(m.executor.now() + model::kSecondNs);
  }
  m.executor.sleep_until(m.executor.now() + 5 * model::kSecondNs);
  // This name is below the indirect block. After the fsync it must be reachable, so no update on
  // the path to it may still be rolled back.
  const std::string last = long_name(kNamesInDirectBlocks + 12);
  const auto file = fs.open(last, {.create = true});
  ASSERT_TRUE(file);
  EXPECT_TRUE(fs.fsync(*file));
  if (m.setup.mount.scheme != SchemeKind::journal && m.setup.mount.scheme != SchemeKind::no_order) {
    const auto reader = ImageReader::open(*m.store);
    ASSERT_TRUE(reader);
    EXPECT_TRUE(reader->lookup(last)) << "synced, but missing";
  }
  EXPECT_TRUE(fs.close(*file));
}

struct Workload {
  /// Prepares the disk. The power is cut only after the preparation has been synced.
  std::function<void(Mounted&)> prepare;
  std::function<void(Mounted&, std::size_t& synced_at)> change;
};

struct CrashReport {
  int states = 0;
  /// Number of states with each kind of damage; `example` has the text of the first damage found.
  std::map<std::string, int> damage;
  std::map<std::string, std::string> example;
};

constexpr const char* kSyncedFile = "q/g2";

/// Checks that synced data exists in the unrepaired image.
std::string problem_of_synced(const model::SectorStore& image) {
  const auto reader = ImageReader::open(image);
  if (!reader) return reader.error().message();
  const auto inode = reader->lookup(kSyncedFile);
  if (!inode) return inode.error().message();
  std::string text(10'000, '?');
  const auto got =
      reader->read(*inode, 0, std::as_writable_bytes(std::span(text.data(), text.size())));
  if (!got) return got.error().message();
  text.resize(*got);
  return text == std::string(7'500, 'd') ? ""
                                         : "other contents, of " + std::to_string(*got) + " bytes";
}

/// Checks that the link, if it exists, has its complete target.
std::string problem_of_link(const model::SectorStore& image) {
  const auto reader = ImageReader::open(image);
  if (!reader) return reader.error().message();
  const auto inode = reader->lookup(kLink);
  if (!inode) return {};
  const auto target = reader->readlink(*inode);
  if (!target) return target.error().message();
  return *target == kLongTarget ? std::string() : "leads to '" + target->substr(0, 20) + "'";
}

class CrashStates {
 public:
  CrashStates(const Setup& setup, media::MemoryStore& image)
      : setup_(setup), image_(image), scratch_(*media::MemoryStore::create(image.sectors())) {}

  /// Checks the state between every two consecutive writes and, for each write, the state in which
  /// that write is torn in the middle.
  CrashReport check(const LoggedStore& log, std::size_t synced_at) {
    for (std::size_t i = 0; i < log.log.size(); ++i) {
      const auto& write = log.log[i];
      const std::size_t half = write.bytes.size() / 2 / kSectorBytes * kSectorBytes;
      const std::span<const std::byte> bytes(write.bytes);
      if (half != 0) {
        EXPECT_TRUE(image_.write(write.lba, bytes.first(half)));
        look("inside write " + std::to_string(i), i >= synced_at);
      }
      EXPECT_TRUE(image_.write(write.lba, bytes));
      look("after write " + std::to_string(i), i >= synced_at);
    }
    return std::move(report_);
  }

 private:
  void damaged(const std::string& kind, const std::string& text) {
    ++report_.damage[kind];
    report_.example.emplace(kind, text);
  }

  void look(const std::string& where, bool synced) {
    ++report_.states;
    const auto found = fsck_.check(image_);
    if (!found) return damaged("refused", where + " " + found.error().message());
    // With a journal, a check examines the disk as it will be after a replay. Even the totals are
    // then correct, so no finding is permitted.
    const bool replayed = setup_.mount.scheme == SchemeKind::journal;
    for (const Finding& finding : found->findings)
      if (replayed || !permitted(setup_, finding.kind))
        damaged(std::string(name_of(finding.kind)), where + " " + finding.text);
    if (!replayed) check_link(image_, where);
    const bool replays = replayed && synced;
    if (report_.states % 20 == 0 || replays) repair(where);
    if (synced)
      if (const std::string problem = problem_of_synced(replays ? *scratch_ : image_);
          !problem.empty())
        damaged("synced file", where + " " + problem);
  }

  void check_link(const model::SectorStore& image, const std::string& where) {
    if (const std::string problem = problem_of_link(image); !problem.empty())
      damaged("symbolic link", where + " " + problem);
  }

  void repair(const std::string& where) {
    std::vector<std::byte> all(image_.sectors() * kSectorBytes);
    EXPECT_TRUE(image_.read(0, all));
    EXPECT_TRUE(scratch_->write(0, all));
    EXPECT_TRUE(fsck_.run(*scratch_, {.repair = true}));
    const auto again = fsck_.check(*scratch_);
    if (!again || !again->nothing_found())
      damaged("repair",
              where + " " + (again ? bench::findings_of(*again) : again.error().message()));
    check_link(*scratch_, where + ", repaired,");
  }

  Setup setup_;
  media::MemoryStore& image_;
  std::unique_ptr<media::MemoryStore> scratch_;
  Fsck fsck_;
  CrashReport report_;
};

CrashReport crash_everywhere(const Setup& setup, const Workload& workload = {{}, change_things}) {
  Mounted m(setup, {.device_bytes = 2 << 20, .cache_bytes = 512 << 10});
  auto image = *media::MemoryStore::create(m.store->sectors());
  m.mount();
  if (workload.prepare) m.as_user([&] { workload.prepare(m); });
  std::vector<std::byte> all(m.store->sectors() * kSectorBytes);
  EXPECT_TRUE(m.store->read(0, all));
  EXPECT_TRUE(image->write(0, all));
  m.log.keep = true;
  std::size_t synced_at = 0;
  m.as_user([&] { workload.change(m, synced_at); });
  m.unmount();
  bench::expect_clean(*m.store);
  return CrashStates(setup, *image).check(m.log, synced_at);
}

class Crash : public testing::TestWithParam<Setup> {
 protected:
  static void expect_permitted(const CrashReport& report) {
    EXPECT_GT(report.states, 20);
    if (GetParam().control) {
      EXPECT_FALSE(report.damage.empty()) << "No Order was not caught";
      return;
    }
    for (const auto& [kind, count] : report.damage)
      ADD_FAILURE() << kind << " in " << count << " of " << report.states
                    << " states; first: " << report.example.at(kind);
  }
};
INSTANTIATE_TEST_SUITE_P(Ufs, Crash, testing::ValuesIn(bench::all_setups()), bench::test_name);

TEST_P(Crash, EveryStateIsPermittedByTheScheme) {
  expect_permitted(crash_everywhere(GetParam()));
}

TEST_P(Crash, LeavesNoHoleInADirectoryWithIndirectBlocks) {
  expect_permitted(crash_everywhere(GetParam(), {fill_direct_blocks, outgrow_direct_blocks}));
}

TEST(CrashControl, IgnoringTheOrderingFlagCausesDamage) {
  EXPECT_FALSE(crash_everywhere(bench::setup_named("ignore")).damage.empty());
}

}  // namespace
}  // namespace headcrash::ufs

// Compares a checker that uses digests with one that reads everything, on successive crash states
// of a busy log, both sound and damaged. The findings must be equal, and both repairs must leave
// the same bytes.

#include <cstring>
#include <random>

#include "fs-adapters/lfs/testing/mounted.h"
#include "fs-adapters/lfs/under_test.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::lfs {
namespace {

using bench::Disk;
using bench::Machine;

std::uint64_t digest_of(std::uint64_t lba, std::span<const std::byte> sector) {
  std::uint64_t digest = 0;
  bool any = false;
  for (std::size_t at = 0; at < sector.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, sector.data() + at, sizeof(word));
    any = any || word != 0;
    digest = (digest ^ word) * 0xd6e8feb86659fd93U;
    digest ^= digest >> 31U;
  }
  return any ? digest ^ (lba << 1U | 1U) : 0;
}

/// An in-memory disk that maintains digests of its sectors, like the disks in explorations.
class DigestedStore final : public model::SectorStore {
 public:
  explicit DigestedStore(std::vector<std::byte> all) : bytes(std::move(all)), digests(sectors()) {
    update(0, sectors());
  }
  std::uint64_t sectors() const override { return bytes.size() / kSectorBytes; }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (lba + into.size() / kSectorBytes > sectors()) return fail("disk", "beyond its end");
    std::memcpy(into.data(), bytes.data() + lba * kSectorBytes, into.size());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    if (lba + data.size() / kSectorBytes > sectors()) return fail("disk", "beyond its end");
    std::memcpy(bytes.data() + lba * kSectorBytes, data.data(), data.size());
    update(lba, data.size() / kSectorBytes);
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    return write(lba, std::vector<std::byte>(count * kSectorBytes));
  }

  std::vector<std::byte> bytes;
  std::vector<std::uint64_t> digests;

 private:
  void update(std::uint64_t lba, std::uint64_t count) {
    for (std::uint64_t i = lba; i < lba + count; ++i)
      digests[i] = digest_of(i, std::span(bytes).subspan(i * kSectorBytes, kSectorBytes));
  }
};

std::string text_of(const Result<adapters::CheckReport>& report) {
  if (!report) return report.error().message();
  std::string text =
      (report->was_clean ? "clean, " : "cut, ") + report->log + ", " +
      std::to_string(report->replayed) + " regions, " + std::to_string(report->files) + " files, " +
      std::to_string(report->directories) + " directories, " +
      std::to_string(report->more_findings) + " more" + (report->unrepaired ? ", unrepaired" : "") +
      (report->log_in_use ? ", log in use" : "");
  for (const adapters::Counter& counter : report->space)
    text += ", " + std::to_string(counter.value) + " " + std::string(counter.name);
  for (const adapters::CheckFinding& finding : report->findings)
    text += "\n" + std::string(finding.kind.name) + ": " + finding.text;
  return text;
}

/// Creates and removes files of a few sizes, so that the log keeps wrapping around.
std::vector<bench::LoggedStore::Write> busy_log(Disk& disk, std::uint32_t seed) {
  disk.log.keep = true;
  Machine m(disk.log, 256 << 10);
  m.mount({.checkpoint_interval_ns = 20 * model::kSecondNs, .clean_start = 24, .clean_stop = 26});
  m.as_user([&] {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return random() % n; };
    Vfs& fs = *m.file_system;
    for (const char* path : {"a", "b", "a/c"}) EXPECT_TRUE(fs.mkdir(path, 0755));
    const auto some_path = [&] {
      constexpr std::array<const char*, 4> kIn = {"", "a/", "b/", "a/c/"};
      return kIn.at(below(4)) + ("f" + std::to_string(below(9)));
    };
    for (int i = 0; i < 160; ++i) {
      const std::string path = some_path();
      switch (below(8)) {
        case 0:
          (void)fs.unlink(path);
          break;
        case 1:
          (void)fs.rename(path, some_path(), RenameMode::replace);
          break;
        case 2:
          (void)fs.link(path, some_path());
          break;
        case 3:
          (void)fs.symlink(path, some_path());
          break;
        case 4:
          m.executor().sleep_until(m.executor().now() + 9 * model::kSecondNs);
          break;
        default: {
          const auto file = fs.open(path, {.create = true});
          if (!file) break;
          (void)fs.pwrite(
              *file, below(2) * below(9'000),
              bench::bytes_of(std::string(1 + below(9'000), static_cast<char>('a' + i % 26))));
          if (below(2) == 0) (void)fs.fsync(*file);
          (void)fs.close(*file);
        }
      }
    }
  });
  m.unmount();
  return disk.log.log;
}

/// A checker that reuses earlier results, and another one that does not. Their results must be
/// equal.
class CheckerPair {
 public:
  void expect_the_same(std::vector<std::byte> state, const std::string& where) {
    DigestedStore shown(state), other(std::move(state));
    const adapters::CheckOptions options{.digests = shown.digests, .digest_of = digest_of};
    const auto first = kept_->check(shown, options);
    const auto first_full = full_->check(other, {});
    ASSERT_EQ(text_of(first), text_of(first_full)) << where;
    if (first && !first->nothing_found()) ++findings;
    if (first && first->replayed > 0) ++recovered;
    const auto repaired = kept_->repair(shown, options);
    const auto repaired_full = full_->repair(other, {});
    ASSERT_EQ(text_of(repaired), text_of(repaired_full)) << where << "repaired";
    if (!repaired) return;
    ASSERT_TRUE(shown.bytes == other.bytes) << where << "repaired";
    ASSERT_EQ(text_of(kept_->check(shown, options)), text_of(full_->check(other, {})))
        << where << "at last";
  }
  int findings = 0, recovered = 0;

 private:
  std::unique_ptr<adapters::ImageChecker> kept_ = file_system_type().checker();
  std::unique_ptr<adapters::ImageChecker> full_ = file_system_type().checker();
};

class KeptChecks : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Lfs, KeptChecks, testing::Bool());

TEST_P(KeptChecks, MatchAFullCheckOfRandomCrashStates) {
  CheckerPair checkers;
  const auto seeds =
      static_cast<std::uint32_t>(number_from_environment("HEADCRASH_KEPT_CHECKS", 3));
  for (std::uint32_t seed = 1; seed <= seeds; ++seed) {
    Disk disk(
        {.device_bytes = 512 << 10,
         .mkfs = {
             .block_bytes = 512, .segment_bytes = 16 << 10, .checksums = GetParam(), .id = seed}});
    std::vector<std::byte> image(disk.store->sectors() * kSectorBytes);
    ASSERT_TRUE(disk.store->read(0, image));
    const auto log = busy_log(disk, seed);
    ASSERT_GT(log.size(), 60U);
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    const auto apply = [](const bench::LoggedStore::Write& write, std::vector<std::byte>& to,
                          std::size_t bytes) {
      std::memcpy(to.data() + write.lba * kSectorBytes, write.bytes.data(), bytes);
    };
    // An earlier state. It is checked several times, with checks of other states in between.
    std::vector<std::byte> last;
    for (std::size_t i = 0; i < log.size() && !HasFatalFailure(); ++i) {
      const std::string where =
          "seed " + std::to_string(seed) + ", write " + std::to_string(i) + ": ";
      // Applies a random subset of the next four writes, and tears one of them.
      auto state = image;
      for (std::size_t k = i; k < std::min(log.size(), i + 4); ++k)
        if (below(2) == 0)
          apply(log[k], state,
                below(4) != 0 ? log[k].bytes.size()
                              : below(log[k].bytes.size() / kSectorBytes + 1) * kSectorBytes);
      checkers.expect_the_same(state, where);
      auto damaged = state;
      for (std::size_t n = 1 + below(2); n > 0; --n) {
        // Damages a recently written sector, usually the first of a write.
        const auto& write = log[i - below(std::min<std::size_t>(i + 1, 30))];
        const std::size_t byte = write.lba * kSectorBytes +
                                 below(std::min<std::size_t>(write.bytes.size(), 4 * kSectorBytes));
        damaged[byte] ^= std::byte{1} << below(8);
      }
      checkers.expect_the_same(std::move(damaged), where + "damaged, ");
      if (i % 8 == 0 && !last.empty()) checkers.expect_the_same(last, where + "an earlier one, ");
      if (i % 24 == 0) last = std::move(state);
      apply(log[i], image, log[i].bytes.size());
    }
  }
  EXPECT_GT(checkers.findings, 30);
  EXPECT_GT(checkers.recovered, 100);
}

}  // namespace
}  // namespace headcrash::lfs

// Tests crafted and randomly damaged images of every registered type. Reading, checking, repairing
// and mounting an image must terminate within a time limit, without a crash and with little memory.
// A child process does the work, so that a failing image is reported and the remaining images are
// still tested. HEADCRASH_CRAFTED_IMAGES=2000 and HEADCRASH_DAMAGED_IMAGES=100000 in the
// environment set the number of images per type. Systems that share a format take turns mounting
// the images of that format.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>

#include "fs-adapters/testing/damaged_image.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::adapters::damaged {
namespace {

constexpr std::uint64_t kCrafted = 300, kRandom = 300;
constexpr int kSecondsMost = 10;       ///< CPU time for one image, in seconds
constexpr long kMebibytesMost = 1024;  ///< limit on the child's memory
constexpr std::size_t kFailuresMost = 20;

std::string hex_of(std::string_view program) {
  std::string text;
  for (const char byte : program) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string bytes_of_hex(std::string_view text) {
  std::string bytes;
  for (; text.size() >= 2; text.remove_prefix(2))
    bytes += static_cast<char>(std::stoi(std::string(text.substr(0, 2)), nullptr, 16));
  return bytes;
}

/// A damaged image, and the index in ImageTarget::systems() of the system that mounts it.
struct Trial {
  std::string program;
  std::uint64_t system = 0;
};
using Trials = std::function<Trial(std::uint64_t)>;

void run_trial(const ImageTarget& target, const Trial& trial) {
  (void)target.run(trial.program, trial.system);
}
/// Formats a trial as a value of HEADCRASH_DAMAGED_IMAGE.
std::string text_of(const ImageTarget& target, const Trial& trial) {
  const std::size_t at = target.name().find('@');
  const auto& systems = target.systems();
  return systems[trial.system % systems.size()]->full_name() +
         (at == std::string::npos ? "" : target.name().substr(at)) + ":" + hex_of(trial.program);
}

/// Runs `count` trials, beginning with number `first`. Before each trial, stores its number in
/// `*at`; the parent process reads this number if the child crashes. Does not return.
[[noreturn]] void run_as_child(const ImageTarget& target, const Trials& trials, std::uint64_t first,
                               std::uint64_t count, std::uint64_t* at) {
  const auto failed = [] {
    const testing::TestResult& result =
        *testing::UnitTest::GetInstance()->current_test_info()->result();
    return result.total_part_count();
  };
  const int before = failed();  // failures inherited from the parent process
  for (*at = first; *at < count; ++*at) {
    const itimerval limit{.it_value = {.tv_sec = kSecondsMost}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
    run_trial(target, trials(*at));
    if (failed() != before) ::_exit(1);
  }
  ::_exit(0);
}

struct Used {
  long mebibytes = 0;
  std::size_t failures = 0;
};

Used run_all(const ImageTarget& target, const Trials& trials, std::uint64_t count) {
  void* const shared = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* const at = static_cast<std::uint64_t*>(shared);
  Used used;
  for (std::uint64_t first = 0; first < count && used.failures < kFailuresMost; first = *at + 1) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) run_as_child(target, trials, first, count, at);
    int status = 0;
    rusage usage{};
    EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
    used.mebibytes = std::max(used.mebibytes, usage.ru_maxrss / 1024);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++used.failures;
    ADD_FAILURE() << "HEADCRASH_DAMAGED_IMAGE=" << text_of(target, trials(*at)) << ": "
                  << (WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status))
                                          : "a failed expectation, or a sanitizer");
  }
  EXPECT_LT(used.mebibytes, kMebibytesMost) << target.name();
  ::munmap(shared, sizeof(std::uint64_t));
  return used;
}

using Programs = std::function<std::string(std::uint64_t)>;

class EveryType : public testing::TestWithParam<const FileSystemType*> {
 protected:
  /// Runs `count` trials, divided equally among the formats of the type and, within a format, among
  /// its systems. `programs(target, n)` returns a function that maps each of n trial numbers to an
  /// edit program.
  static void run(const char* what, std::uint64_t count,
                  const std::function<Programs(const ImageTarget&, std::uint64_t)>& programs) {
    std::vector<ImageFormat> formats = image_formats();
    std::erase_if(formats, [](const ImageFormat& one) { return &one.type() != GetParam(); });
    ASSERT_FALSE(formats.empty());
    const std::uint64_t each = (count + formats.size() - 1) / formats.size();
    const auto begun = std::chrono::steady_clock::now();
    long mebibytes = 0;
    for (const ImageFormat& format : formats) {
      const ImageTarget target(format);
      const Programs program = programs(target, each);
      const auto trial = [&](std::uint64_t i) { return Trial{program(i), i}; };
      mebibytes = std::max(mebibytes, run_all(target, trial, each).mebibytes);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    fmt::print("{} {} images of {}: {:.1f} s, at most {} MiB\n", each * formats.size(), what,
               GetParam()->name(), seconds.count(), mebibytes);
  }
};

TEST_P(EveryType, SurvivesCraftedImages) {
  run("crafted", number_from_environment("HEADCRASH_CRAFTED_IMAGES", kCrafted),
      [](const ImageTarget& target, std::uint64_t count) -> Programs {
        return [all = target.crafted(count)](std::uint64_t i) { return all[i]; };
      });
}

TEST_P(EveryType, SurvivesRandomDamage) {
  run("randomly damaged", number_from_environment("HEADCRASH_DAMAGED_IMAGES", kRandom),
      [](const ImageTarget& target, std::uint64_t) -> Programs {
        return [&target](std::uint64_t i) { return target.random(i); };
      });
}

/// Returns the index of the system with this name and disk, as in "ufs-journal" or
/// "ufs-soft-updates@plain".
std::optional<std::uint64_t> number_of_system(const ImageFormat& format, std::string_view name) {
  const std::size_t at = std::min(format.name.find('@'), format.name.size());
  for (std::uint64_t i = 0; i < format.systems.size(); ++i)
    if (format.systems[i]->full_name() + format.name.substr(at) == name) return i;
  return {};
}

TEST(DamagedImage, ImagesThatOnceCausedFailuresAreHandled) {
  const std::pair<std::string_view, std::string_view> kFound[] = {
      {"ufs-chains", "113000090000"},
      {"ufs-chains", "110000070200"},
      {"ufs-chains", "0ec000040000"},
      {"ufs-chains-cb", "113c00040000"},
      {"ufs-journal-external", "050801060700"},
      {"ufs-journal-external", "c6fea5f7d01cc185588a23772cc2ccc7acc4"},
      {"ufs-netra-bmap", "142800060400"},
      {"ufs-netra-fast", "919f210bd41d2b39b690a944a828ca99f711"},
      {"ufs-netra", "3204e8bd35aabd9fd0004cd5509f403ceb7f"},
      {"ufs-netra-check",
       "790f1c5409f7f92d50334d1dfe79ca6d06fb826bb291ce30442ef47556fa8a7815edb88b42acebbbc257"},
      {"lfs-roll-forward", "091800010200"},
      {"lfs-sprite92", "094400010200"},
      {"snapfs-snapshots", "1a3400010200"},
      {"snapfs-snapshots", "ebf5d83c8a454931dc1776a52058297a26307ed27511f1b639cf9fc8b3a4"},
      {"shadow-commit-last", "071800010200"},
      {"shadow-commit-last", "074400010200"}};
  for (const ImageFormat& format : image_formats()) {
    std::vector<Trial> trials;
    for (const auto& [name, hex] : kFound)
      if (const auto system = number_of_system(format, name))
        trials.push_back({bytes_of_hex(hex), *system});
    if (!trials.empty())
      run_all(ImageTarget(format), [&](std::uint64_t i) { return trials[i]; }, trials.size());
  }
}

/// Tests only the image given by HEADCRASH_DAMAGED_IMAGE=ufs-journal:050801060700, in this process.
TEST(DamagedImage, HandlesTheImageGivenByTheEnvironment) {
  const char* const wanted = std::getenv("HEADCRASH_DAMAGED_IMAGE");
  if (wanted == nullptr) GTEST_SKIP() << "HEADCRASH_DAMAGED_IMAGE is not set";
  const std::string_view text = wanted;
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const ImageFormat& format : image_formats()) {
    const auto system = number_of_system(format, text.substr(0, colon));
    if (!system) continue;
    const std::string_view hex = text.substr(std::min(colon + 1, text.size()));
    run_trial(ImageTarget(format), {bytes_of_hex(hex), *system});
    return;
  }
  FAIL() << "unknown system";
}

INSTANTIATE_TEST_SUITE_P(DamagedImages, EveryType, testing::ValuesIn(file_system_types()),
                         [](const auto& type) { return std::string(type.param->name()); });

}  // namespace
}  // namespace headcrash::adapters::damaged

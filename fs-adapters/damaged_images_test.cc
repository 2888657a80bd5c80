// Crafted and randomly damaged images of every type in the registry: whatever is read, checked,
// repaired or mounted ends in time, does not crash and takes little memory. A child does the work,
// so that each image that breaks something is reported and the rest is tried all the same.
// HEADCRASH_CRAFTED_IMAGES=2000 HEADCRASH_DAMAGED_IMAGES=100000 in the environment: so many of each
// type.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "fs-adapters/testing/damaged_image.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::adapters::damaged {
namespace {

constexpr std::uint64_t kCrafted = 300, kRandom = 300;
constexpr int kSecondsMost = 10;       ///< of the processor, for one image
constexpr long kMebibytesMost = 1024;  ///< of the child
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

using Program = std::function<std::string(std::uint64_t)>;

/// Runs programs from `first` on, and says in `*at` which one it is at. Exits.
[[noreturn]] void run_as_child(const ImageTarget& target, const Program& program,
                               std::uint64_t first, std::uint64_t count, std::uint64_t* at) {
  const auto failed = [] {
    const testing::TestResult& result =
        *testing::UnitTest::GetInstance()->current_test_info()->result();
    return result.total_part_count();
  };
  const int before = failed();  // the parent's
  for (*at = first; *at < count; ++*at) {
    const itimerval limit{.it_value = {.tv_sec = kSecondsMost}};
    ::setitimer(ITIMER_PROF, &limit, nullptr);
    target.run(program(*at));
    if (failed() != before) ::_exit(1);
  }
  ::_exit(0);
}

struct Used {
  long mebibytes = 0;
  std::size_t failures = 0;
};

Used run_all(const ImageTarget& target, const Program& program, std::uint64_t count) {
  void* const shared = ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(shared, MAP_FAILED);
  auto* const at = static_cast<std::uint64_t*>(shared);
  Used used;
  for (std::uint64_t first = 0; first < count && used.failures < kFailuresMost; first = *at + 1) {
    std::fflush(stdout);
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) run_as_child(target, program, first, count, at);
    int status = 0;
    rusage usage{};
    EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
    used.mebibytes = std::max(used.mebibytes, usage.ru_maxrss / 1024);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++used.failures;
    ADD_FAILURE() << "HEADCRASH_DAMAGED_IMAGE=" << target.name() << ":" << hex_of(program(*at))
                  << ": "
                  << (WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status))
                                          : "a failed expectation, or a sanitizer");
  }
  EXPECT_LT(used.mebibytes, kMebibytesMost) << target.name();
  ::munmap(shared, sizeof(std::uint64_t));
  return used;
}

class EveryType : public testing::TestWithParam<const FileSystemType*> {
 protected:
  /// Shares `count` among the type's formats. `programs`: of one format, by number.
  static void run(const char* what, std::uint64_t count,
                  const std::function<Program(const ImageTarget&, std::uint64_t)>& programs) {
    std::vector<ImageFormat> formats = image_formats();
    std::erase_if(formats,
                  [](const ImageFormat& one) { return &one.system->type() != GetParam(); });
    ASSERT_FALSE(formats.empty());
    const std::uint64_t each = (count + formats.size() - 1) / formats.size();
    const auto begun = std::chrono::steady_clock::now();
    long mebibytes = 0;
    for (const ImageFormat& format : formats) {
      const ImageTarget target(format);
      mebibytes = std::max(mebibytes, run_all(target, programs(target, each), each).mebibytes);
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
    fmt::print("{} {} images of {}: {:.1f} s, at most {} MiB\n", each * formats.size(), what,
               GetParam()->name(), seconds.count(), mebibytes);
  }
};

TEST_P(EveryType, SurvivesCraftedImages) {
  run("crafted", number_from_environment("HEADCRASH_CRAFTED_IMAGES", kCrafted),
      [](const ImageTarget& target, std::uint64_t count) -> Program {
        return [all = target.crafted(), count](std::uint64_t i) {
          return all[i * all.size() / count];
        };
      });
}

TEST_P(EveryType, SurvivesRandomDamage) {
  run("randomly damaged", number_from_environment("HEADCRASH_DAMAGED_IMAGES", kRandom),
      [](const ImageTarget& target, std::uint64_t) -> Program {
        return [&target](std::uint64_t i) { return target.random(i); };
      });
}

/// Images that once broke something.
TEST(DamagedImage, IsSurvivedIfItBrokeSomethingBefore) {
  const std::pair<std::string_view, std::string_view> kFound[] = {
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
    std::vector<std::string> programs;
    for (const auto& [name, hex] : kFound)
      if (name == format.name) programs.push_back(bytes_of_hex(hex));
    if (!programs.empty())
      run_all(ImageTarget(format), [&](std::uint64_t i) { return programs[i]; }, programs.size());
  }
}

/// HEADCRASH_DAMAGED_IMAGE=ufs-journal:050801060700 in the environment: that image alone, in this
/// process.
TEST(DamagedImage, IsSurvivedWhenAFailureIsRepeated) {
  const char* const wanted = std::getenv("HEADCRASH_DAMAGED_IMAGE");
  if (wanted == nullptr) GTEST_SKIP() << "no image is given";
  const std::string text = wanted;
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const ImageFormat& format : image_formats()) {
    if (format.name != text.substr(0, colon)) continue;
    ImageTarget(format).run(
        bytes_of_hex(std::string_view(text).substr(std::min(colon + 1, text.size()))));
    return;
  }
  FAIL() << "there is no format of that name";
}

INSTANTIATE_TEST_SUITE_P(DamagedImages, EveryType, testing::ValuesIn(file_system_types()),
                         [](const auto& type) { return std::string(type.param->name()); });

}  // namespace
}  // namespace headcrash::adapters::damaged

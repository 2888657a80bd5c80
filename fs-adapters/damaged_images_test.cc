// Crafted and randomly damaged images of every type in the registry: whatever is read, checked, repaired or mounted
// ends in time, does not crash and takes little memory. A child does the work, so that each image that breaks
// something is reported and the rest is tried all the same.
// HEADCRASH_CRAFTED_IMAGES=2000 HEADCRASH_DAMAGED_IMAGES=100000 in the environment: so many of each type.
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

constexpr std::uint64_t kCrafted = 150, kRandom = 300;
constexpr int kSecondsMost = 10;       ///< of the processor, for one image
constexpr long kMebibytesMost = 1024;  ///< of the child
constexpr std::size_t kFailuresMost = 20;

std::string hex_of(std::string_view program) {
  std::string text;
  for (const char byte : program) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

using Program = std::function<std::string(std::uint64_t)>;

/// Runs programs from `first` on, and says in `*at` which one it is at. Exits.
[[noreturn]] void run_as_child(const ImageTarget& target, const Program& program, std::uint64_t first,
                               std::uint64_t count, std::uint64_t* at) {
  const auto failed = [] {
    const testing::TestResult& result = *testing::UnitTest::GetInstance()->current_test_info()->result();
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
  void* const shared =
      ::mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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
    ADD_FAILURE() << "HEADCRASH_DAMAGED_IMAGE=" << target.name() << ":" << hex_of(program(*at)) << ": "
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
    std::erase_if(formats, [](const ImageFormat& one) { return &one.system->type() != GetParam(); });
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
        return [all = target.crafted(), count](std::uint64_t i) { return all[i * all.size() / count]; };
      });
}

TEST_P(EveryType, SurvivesRandomDamage) {
  run("randomly damaged", number_from_environment("HEADCRASH_DAMAGED_IMAGES", kRandom),
      [](const ImageTarget& target, std::uint64_t) -> Program {
        return [&target](std::uint64_t i) { return target.random(i); };
      });
}

/// HEADCRASH_DAMAGED_IMAGE=ufs-journal:050801060700 in the environment: that image alone, in this process.
TEST(DamagedImage, IsSurvivedWhenAFailureIsRepeated) {
  const char* const wanted = std::getenv("HEADCRASH_DAMAGED_IMAGE");
  if (wanted == nullptr) GTEST_SKIP() << "no image is given";
  const std::string text = wanted;
  const std::size_t colon = std::min(text.find(':'), text.size());
  for (const ImageFormat& format : image_formats()) {
    if (format.name != text.substr(0, colon)) continue;
    std::string program;
    for (std::size_t at = colon + 1; at + 2 <= text.size(); at += 2)
      program += static_cast<char>(std::stoi(text.substr(at, 2), nullptr, 16));
    ImageTarget(format).run(program);
    return;
  }
  FAIL() << "there is no format of that name";
}

INSTANTIATE_TEST_SUITE_P(DamagedImages, EveryType, testing::ValuesIn(file_system_types()),
                         [](const auto& type) { return std::string(type.param->name()); });

}  // namespace
}  // namespace headcrash::adapters::damaged

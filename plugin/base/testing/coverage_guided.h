#pragma once
// Runs the targets of fuzz.h under libFuzzer, which searches for inputs that reach new code.
// fuzz::run() uses this in builds with HEADCRASH_COVERAGE_GUIDED (preset `fuzzer`). The target runs
// in a child process, because libFuzzer exits when it is done. If an input fails, libFuzzer prints
// the name of a file that contains the input.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*target)(const std::uint8_t*, std::size_t));

namespace headcrash::fuzz {

using AnyTarget = std::function<std::uint64_t(std::string_view)>;

struct CoverageGuided {
  std::string name;
  std::vector<std::string> corpus, dictionary;
  std::size_t size_max = 0;
  std::uint64_t seed = 1, seconds = 0;
};

/// Formats a dictionary word for libFuzzer.
inline std::string quoted_word(std::string_view word) {
  std::string text = "\"";
  for (const char byte : word) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text + "\"\n";
}

inline int failures_so_far() {
  return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
}

[[noreturn]] inline void run_under_libfuzzer(const CoverageGuided& options, const AnyTarget& target,
                                             const std::filesystem::path& folder) {
  static const AnyTarget* the_target = nullptr;
  static int failures = 0;
  the_target = &target;
  failures = failures_so_far();
  std::vector<std::string> words = {options.name,
                                    fmt::format("-max_total_time={}", options.seconds),
                                    fmt::format("-max_len={}", options.size_max),
                                    fmt::format("-seed={}", options.seed),
                                    fmt::format("-dict={}", (folder / "dictionary").string()),
                                    fmt::format("-artifact_prefix={}-", folder.string()),
                                    "-timeout=10",
                                    "-rss_limit_mb=1024",
                                    "-detect_leaks=0",
                                    "-verbosity=0",
                                    "-print_final_stats=1",
                                    (folder / "corpus").string()};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** values = arguments.data();
  std::exit(LLVMFuzzerRunDriver(&count, &values, [](const std::uint8_t* bytes, std::size_t size) {
    (*the_target)({reinterpret_cast<const char*>(bytes), size});
    if (failures_so_far() != failures) std::abort();
    return 0;
  }));
}

inline void run_coverage_guided(const CoverageGuided& options, const AnyTarget& target) {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("headcrash-fuzz-{}-{}", options.name, ::getpid());
  std::filesystem::create_directories(folder / "corpus");
  for (std::size_t i = 0; i < options.corpus.size(); ++i)
    std::ofstream(folder / "corpus" / std::to_string(i), std::ios::binary) << options.corpus[i];
  std::ofstream dictionary(folder / "dictionary");
  for (const std::string& word : options.dictionary) dictionary << quoted_word(word);
  dictionary.close();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) run_under_libfuzzer(options, target, folder);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "target " << options.name << ": the input is in " << folder.string()
                       << "-*";
  std::filesystem::remove_all(folder);
}

}  // namespace headcrash::fuzz

#pragma once
// Fuzzing without a special compiler: mutates valid inputs of a parser and checks that the parser
// neither crashes nor violates its invariants. (The sanitizer presets turn a silent overrun into a
// crash.) For tests only. Unlike the other headers of this directory, this one reads a clock and
// writes a file.
//
//   corpus ---pick---> mutate 1..6 times ---> target(input) ---> new behaviour? then keep it
//      ^                                                              |
//      +--------------------------------------------------------------+   a pool of bounded size
//
// The mutations: change, insert, remove or repeat bytes; overwrite bytes with a piece of another
// input; insert a dictionary word (the parser's keywords) or a limit value. The seed determines
// every input; the run lasts kFuzzSeconds per target, or HEADCRASH_FUZZ_SECONDS.
// HEADCRASH_FUZZ_SEED changes the seed. The preset `fuzzer` runs the same targets under libFuzzer,
// which selects mutations by code coverage (coverage_guided.h).
//
//   TEST(Fuzz, CutTrigger) {
//     fuzz::Options options;
//     options.name = "cut-trigger";
//     options.corpus = {"after-ms:12.5", "at-flush:1"};
//     options.dictionary = {"after-ms:", "+"};
//     fuzz::run(options, [](std::string_view input) {
//       const auto parsed = model::parse_cut_trigger(input);
//       return parsed ? std::uint64_t{1} : fuzz::novelty(parsed.error().problem);
//     });
//   }
//
// The input is written to a file before the target runs, so it survives a crash. Add a failing
// input to the corpus of its target (fuzz::read_corpus for files).

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "plugin/base/random.h"
#include "plugin/base/testing/number_from_environment.h"
#ifdef HEADCRASH_COVERAGE_GUIDED
#include "plugin/base/testing/coverage_guided.h"
#endif

namespace headcrash::fuzz {

inline constexpr double kFuzzSeconds = 10;
inline constexpr std::size_t kPoolMax = 512;
inline constexpr std::uint64_t kRunsBetweenClocks = 64;

struct Options {
  std::string name;                     ///< name of the target: letters, digits, '-'
  std::vector<std::string> corpus;      ///< at least one input; each is also run unmodified
  std::vector<std::string> dictionary;  ///< keywords of the parser; may be empty
  std::size_t size_max = 64 * 1024;
};

struct Summary {
  std::uint64_t runs = 0;
  std::uint64_t kinds = 0;  ///< number of different novelty() values
};

/// Returns a hash that identifies the kind of error. Ignores digits, and everything between the
/// first and the last quotation mark of the message.
inline std::uint64_t novelty(std::string_view message) {
  const std::size_t first = std::min(message.find_first_of("'\""), message.size());
  const std::size_t last = message.find_last_of("'\"");
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const bool quoted = i >= first && i <= last;
    if (quoted || (message[i] >= '0' && message[i] <= '9')) continue;
    hash = (hash ^ static_cast<unsigned char>(message[i])) * 0x100000001b3U;
  }
  return hash;
}

/// Returns the contents of the files in a directory, sorted by name; may be empty.
inline std::vector<std::string> read_corpus(const std::filesystem::path& folder) {
  std::error_code none;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

class Mutator {
 public:
  Mutator(const Options& options, std::uint64_t seed)
      : random_(seed),
        dictionary_(options.dictionary),
        size_max_(options.size_max),
        pool_(options.corpus) {
    for (const char* limit : {"0", "1", "-1", "255", "65536", "2147483648", "4294967296",
                              "9223372036854775808", "18446744073709551615", "1e999", "0.0000001"})
      dictionary_.emplace_back(limit);
  }

  std::string next() {
    std::string input = pool_[random_.below(pool_.size())];
    for (std::uint64_t times = 1 + random_.below(6); times > 0; --times) mutate(input);
    if (input.size() > size_max_) input.resize(size_max_);
    return input;
  }

  /// Adds an input with new behaviour to the pool.
  void keep(const std::string& input) {
    if (pool_.size() < kPoolMax) {
      pool_.push_back(input);
    } else {
      pool_[random_.below(pool_.size())] = input;
    }
  }

 private:
  char byte() { return static_cast<char>(random_.below(256)); }
  std::size_t place(const std::string& input) { return random_.below(input.size() + 1); }
  std::size_t length(std::size_t most) {  // mostly short
    return random_.below(random_.below(8) == 0 ? most + 1 : std::min<std::size_t>(most, 8) + 1);
  }

  void mutate(std::string& input) {
    const std::size_t at = place(input);
    const std::size_t behind = input.size() - at;
    switch (random_.below(8)) {
      case 0:
        if (behind > 0) input[at] = byte();
        break;
      case 1:
        if (behind > 0) input[at] = static_cast<char>(input[at] ^ (1 << random_.below(8)));
        break;
      case 2:
        input.insert(at, 1, byte());
        break;
      case 3:
        input.erase(at, length(behind));
        break;
      case 4: {
        const std::string piece = input.substr(at, length(behind));
        input.insert(place(input), piece);
        break;
      }
      case 5: {
        const std::string& other = pool_[random_.below(pool_.size())];
        const std::size_t from = place(other);
        input.replace(at, length(behind), other, from, length(other.size() - from));
        break;
      }
      case 6:
        input.insert(at, dictionary_[random_.below(dictionary_.size())]);
        break;
      default:
        input.replace(at, length(behind), dictionary_[random_.below(dictionary_.size())]);
        break;
    }
  }

  Random random_;
  std::vector<std::string> dictionary_;
  std::size_t size_max_;
  std::vector<std::string> pool_;
};

/// A file that contains the input under test. It is removed at the end of a run without findings.
class InputFile {
 public:
  explicit InputFile(const std::string& name)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("headcrash-fuzz-{}-{}.input", name, ::getpid())),
        file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)) {}
  ~InputFile() {
    if (file_ >= 0) ::close(file_);
    if (!testing::Test::HasFailure()) ::unlink(path_.c_str());
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  bool put(std::string_view input) const {
    return ::ftruncate(file_, 0) == 0 &&
           ::pwrite(file_, input.data(), input.size(), 0) == static_cast<ssize_t>(input.size());
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int file_;
};

/// Runs the target on the corpus and on mutations of the corpus until the time is up. The target
/// checks invariants (with googletest's EXPECT, or by crashing) and returns the input's novelty:
/// any number that classifies the target's behaviour. Stops at the first input that fails an
/// expectation and prints the name of its file.
template <typename Target>
Summary run(const Options& options, Target target) {
#ifdef HEADCRASH_COVERAGE_GUIDED
  run_coverage_guided({.name = options.name,
                       .corpus = options.corpus,
                       .dictionary = options.dictionary,
                       .size_max = options.size_max,
                       .seed = number_from_environment("HEADCRASH_FUZZ_SEED", 1),
                       .seconds = number_from_environment(
                           "HEADCRASH_FUZZ_SECONDS", static_cast<std::uint64_t>(kFuzzSeconds))},
                      target);
  return {};
#else
  using Clock = std::chrono::steady_clock;
  const std::uint64_t seed = number_from_environment("HEADCRASH_FUZZ_SEED", 1);
  const auto until = Clock::now() + std::chrono::duration<double>(decimal_from_environment(
                                        "HEADCRASH_FUZZ_SECONDS", kFuzzSeconds));
  Mutator mutator(options, seed);
  const InputFile file(options.name);
  std::unordered_set<std::uint64_t> seen;
  Summary summary;
  const auto survives = [&](const std::string& input) {
    if (!file.put(input)) {
      ADD_FAILURE() << "cannot write " << file.path();
      return false;
    }
    ++summary.runs;
    const std::uint64_t kind = target(std::string_view(input));
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "target " << options.name << ", seed " << seed << ", run " << summary.runs
                    << ": the input is in " << file.path();
      return false;
    }
    if (seen.insert(kind).second && summary.runs > options.corpus.size()) mutator.keep(input);
    return true;
  };
  for (const std::string& input : options.corpus)
    if (!survives(input)) return summary;
  while (summary.runs % kRunsBetweenClocks != 0 || Clock::now() < until)
    if (!survives(mutator.next())) return summary;
  summary.kinds = seen.size();
  fmt::print("fuzz {}: {} runs, {} kinds, seed {}\n", options.name, summary.runs, summary.kinds,
             seed);
  return summary;
#endif
}

}  // namespace headcrash::fuzz

// Finds the generator of each workload by name (catalogue.h).
#include "harness/workload/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "harness/workload/ace.h"
#include "harness/workload/aged_image.h"
#include "harness/workload/families.h"
#include "harness/workload/patterns.h"
#include "harness/workload/random_operations.h"
#include "harness/workload/small_files.h"
#include "plugin/base/nearest.h"
#include "plugin/base/text_file.h"

namespace headcrash::workload {
namespace {

constexpr std::uint8_t kRandomThreads = 4;
constexpr std::string_view kAgedSuffix = "+aged";
constexpr std::string_view kAcePrefix = "ace-seq";
constexpr int kLongestOfMore = 2;
constexpr std::string_view kAceMorePrefix = "ace-more";

struct AceName {
  Ace::Vocabulary words = Ace::Vocabulary::first;
  int length = 1;
  std::optional<std::uint64_t> number;  ///< nullopt if the number depends on the trial
};

/// Returns a cached enumerator. Each trial needs one. Creating an enumerator takes much longer than
/// generating a workload, because all workloads must be counted.
const Ace& ace_of(int length, Ace::Vocabulary words) {
  using Vocabulary = Ace::Vocabulary;
  static const std::array<Ace, Ace::kLongest> all{Ace(1), Ace(2), Ace(3)};
  if (words == Vocabulary::first) return all.at(static_cast<std::size_t>(length - 1));
  static const std::array<Ace, kLongestOfMore> more{Ace(1, Vocabulary::more),
                                                    Ace(2, Vocabulary::more)};
  return more.at(static_cast<std::size_t>(length - 1));
}
int longest_of(Ace::Vocabulary words) {
  return words == Ace::Vocabulary::first ? Ace::kLongest : kLongestOfMore;
}

/// Parses a name such as "ace-seq2/17". Returns nullopt for any other name.
std::optional<AceName> read_ace_name(std::string_view name) {
  AceName ace;
  if (name.starts_with(kAceMorePrefix)) ace.words = Ace::Vocabulary::more;
  const std::string_view prefix = ace.words == Ace::Vocabulary::more ? kAceMorePrefix : kAcePrefix;
  if (!name.starts_with(prefix) || name.size() <= prefix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  ace.length = name[0] - '0';
  if (ace.length < 1 || ace.length > longest_of(ace.words)) return std::nullopt;
  name.remove_prefix(1);
  if (name.empty()) return ace;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (name[0] != '/' || error != std::errc{} || end != name.data() + name.size())
    return std::nullopt;
  ace.number = number;
  return ace;
}

/// Generates a workload of a family. "reuse/17" is workload 17 of the family; "reuse" alone uses
/// the seed as the number. Returns nullopt if the name is malformed or the family is unknown.
std::optional<std::vector<Operation>> of_family(const WorkloadRequest& request) {
  const std::string_view name = request.name;
  const std::size_t slash = std::min(name.find('/'), name.size());
  std::uint64_t number = request.seed;
  if (slash < name.size()) {
    const auto [end, error] =
        std::from_chars(name.data() + slash + 1, name.data() + name.size(), number);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  }
  return family_member(name.substr(0, slash), number);
}

std::uint64_t number_of(const AceName& name, std::uint64_t count, const WorkloadRequest& request) {
  if (name.number) return *name.number;
  return (name.length == Ace::kLongest ? request.seed : request.trial) % count;
}

Result<std::vector<Operation>> make_list(const WorkloadRequest& request) {
  if (request.name == "small-files")
    return small_files({.seed = request.seed, .rounds = request.rounds});
  if (request.name == "random")
    return random_operations({.seed = request.seed, .rounds = request.rounds});
  if (request.name == "random-more")
    return random_operations(with_later_words({.seed = request.seed, .rounds = request.rounds}));
  if (request.name == "random-crashes")
    return random_operations(with_crashes({.seed = request.seed, .rounds = request.rounds}));
  if (request.name == "random-threads")
    return random_operations(
        {.seed = request.seed, .rounds = request.rounds, .threads = kRandomThreads});
  if (auto list = pattern(request.name, {.seed = request.seed, .rounds = request.rounds}))
    return *std::move(list);
  if (auto list = of_family(request)) return *std::move(list);
  if (const auto name = read_ace_name(request.name)) {
    const Ace& ace = ace_of(name->length, name->words);
    const std::uint64_t number = number_of(*name, ace.count(), request);
    if (number >= ace.count())
      return fail(request.name, fmt::format("there are only {} of these workloads, numbered from 0",
                                            ace.count()));
    return ace.workload(number);
  }
  if (is_list_file(request.name)) {
    TRY(const auto text, base::read_text_file(request.name));
    return parse_operations(text, request.name);
  }
  std::vector<std::string> names;
  for (const WorkloadSummary& known : known_workloads()) names.push_back(known.name);
  return fail(fmt::format("workload \"{}\"", request.name), "unknown",
              base::suggest(request.name, names) + "; or give the path of a .txt file");
}

std::optional<WorkloadRequest> without_age(const WorkloadRequest& request) {
  if (!request.name.ends_with(kAgedSuffix)) return std::nullopt;
  WorkloadRequest young = request;
  young.name.resize(young.name.size() - kAgedSuffix.size());
  return young;
}

/// Fills space with files that the workload does not use. If the file system does not support
/// fallocate, these operations are skipped, and the skips are reported.
std::vector<Operation> filler(std::uint64_t bytes) {
  std::vector<Operation> list;
  for (std::uint32_t i = 0; bytes >= 512; ++i) {
    const std::uint64_t piece = std::min(bytes, kLargestFileBytes) / 512 * 512;
    const std::string path = fmt::format("filler{}", i);
    list.push_back({.kind = Operation::Kind::create, .path = path});
    list.push_back({.kind = Operation::Kind::allocate, .path = path, .length = piece});
    bytes -= piece;
  }
  return list;
}

}  // namespace

bool is_list_file(const std::string& name) {
  if (without_age({.name = name})) return false;
  if (name.ends_with(".txt")) return true;
  return name.find('/') != std::string::npos && !read_ace_name(name) && !of_family({.name = name});
}

Result<std::vector<Operation>> make_workload(const WorkloadRequest& request) {
  if (const auto young = without_age(request)) {
    const Result<std::vector<Operation>> list = make_workload(*young);
    if (!list) return list;
    std::vector<Operation> whole = age({.seed = request.seed});
    whole.insert(whole.end(), list->begin(), list->end());
    return whole;
  }
  Result<std::vector<Operation>> list = make_list(request);
  if (!list) return list;
  if (std::none_of(list->begin(), list->end(), is_persistence_point)) {
    return fail(request.name, "has no persistence point, so no loss could be detected",
                "add fsync, fdatasync, fsyncdir or sync");
  }
  std::vector<Operation> filled = filler(request.fill_bytes);
  filled.insert(filled.end(), list->begin(), list->end());
  return filled;
}

std::string numbered_name(const WorkloadRequest& request) {
  if (const auto young = without_age(request))
    return numbered_name(*young) + std::string(kAgedSuffix);
  const auto name = read_ace_name(request.name);
  if (!name || name->number) return request.name;
  return fmt::format("{}/{}", request.name,
                     number_of(*name, ace_of(name->length, name->words).count(), request));
}

std::vector<WorkloadSummary> known_workloads() {
  std::vector<WorkloadSummary> list{
      {"small-files",
       "creates, overwrites, renames, replaces and removes small files, and persists half of "
       "the changes"},
      {"random", "weighted random operations of all kinds except whiteouts"},
      {"random-more",
       "like random, plus fifos, remount, freeze, and operations that move, share and map "
       "ranges"},
      {"random-crashes",
       "like random, with power cuts inside the list; the list continues after each cut"},
      {"random-threads", fmt::format("like random, in {} concurrent threads", kRandomThreads)}};
  for (const Pattern& each : patterns())
    list.push_back({std::string(each.name), std::string(each.title)});
  for (const Family& each : families())
    list.push_back({std::string(each.name), std::string(each.title)});
  for (int length = 1; length <= Ace::kLongest; ++length) {
    list.push_back({fmt::format("{}{}", kAcePrefix, length),
                    fmt::format("every workload of {} step{}, in numerical order", length,
                                length == 1 ? "" : "s"),
                    ace_of(length, Ace::Vocabulary::first).count()});
  }
  for (int length = 1; length <= kLongestOfMore; ++length)
    list.push_back(
        {fmt::format("{}{}", kAceMorePrefix, length),
         fmt::format(
             "{}, ending with an operation that ace-seq does not have: fifo, remount, freeze, or "
             "moving, sharing or mapping a range",
             length == 1 ? "one step" : "every workload of two steps"),
         ace_of(length, Ace::Vocabulary::more).count()});
  return list;
}

}  // namespace headcrash::workload

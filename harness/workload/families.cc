// Lists the families, and generates their workloads (families.h).
#include "harness/workload/families.h"

#include <algorithm>
#include <array>
#include <utility>

#include "harness/workload/family_makers.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/random.h"

namespace headcrash::workload {

namespace {

using Kind = Operation::Kind;

std::vector<Operation> many_users(std::uint64_t number) {
  return random_operations({.seed = number,
                            .rounds = 40,
                            .directories = 2,
                            .names = 3,
                            .largest_blocks = 12,
                            .threads = 3,
                            .rounds_to_a_join = 10});
}

std::vector<Operation> histories(std::uint64_t number) {
  RandomOptions options{.seed = number,
                        .rounds = 55,
                        .directories = 2,
                        .names = 3,
                        .largest_blocks = 24,
                        .longest_target = 400};
  for (const Kind kind : {Kind::chmod, Kind::chown, Kind::touch})
    options.weights.at(static_cast<std::size_t>(kind)) = 2;
  return random_operations(options);
}

std::vector<Operation> attributes(std::uint64_t number) {
  RandomOptions options{.seed = number,
                        .rounds = 60,
                        .directories = 2,
                        .names = 4,
                        .largest_blocks = 4,
                        .persistence_percent = 8,
                        .threads = 3,
                        .rounds_to_a_join = 20};
  options.weights.fill(0);
  using Weight = std::pair<Kind, std::uint32_t>;
  for (const auto& [kind, weight] :
       {Weight(Kind::create, 4), Weight(Kind::unlink, 2), Weight(Kind::append, 3),
        Weight(Kind::rename, 2), Weight(Kind::sync, 1), Weight(Kind::chmod, 5),
        Weight(Kind::chown, 4), Weight(Kind::touch, 4)})
    options.weights.at(static_cast<std::size_t>(kind)) = weight;
  return random_operations(options);
}

/// Combines operations into transactions. A transaction consists of consecutive operations of one
/// user, without a persistence point. Some transactions are short.
std::vector<Operation> in_transactions(const std::vector<Operation>& list, std::uint64_t seed) {
  constexpr std::uint64_t kBeginsOneIn = 2, kEndsOneIn = 6;
  std::vector<Operation> all;
  std::array<bool, kThreadsMost> under_way = {};
  Random random(seed);
  const auto end = [&](std::uint8_t thread) {
    if (std::exchange(under_way.at(thread), false))
      all.push_back({.kind = Kind::commit, .thread = thread});
  };
  const auto end_all = [&] {
    for (std::uint8_t thread = 0; thread < kThreadsMost; ++thread) end(thread);
  };
  for (const Operation& operation : list) {
    const bool inside = under_way.at(operation.thread);
    if (operation.kind == Kind::join) {
      end_all();
    } else if (is_persistence_point(operation) || (inside && random.below(kEndsOneIn) == 0)) {
      end(operation.thread);
    } else if (!inside && random.below(kBeginsOneIn) == 0) {
      all.push_back({.kind = Kind::begin, .thread = operation.thread});
      under_way.at(operation.thread) = true;
    }
    all.push_back(operation);
  }
  end_all();
  return all;
}

std::vector<Operation> transactions(std::uint64_t number) {
  return in_transactions(random_operations({.seed = number,
                                            .rounds = 50,
                                            .directories = 2,
                                            .names = 3,
                                            .largest_blocks = 6,
                                            .persistence_percent = 15,
                                            .threads = 3,
                                            .rounds_to_a_join = 16}),
                         number);
}

using Maker = std::vector<Operation> (*)(std::uint64_t);
struct Made {
  Family family;
  Maker make;
};

const std::vector<Made>& all_families() {
  static const std::vector<Made> kAll{
      {{"reuse", "new files immediately reuse blocks and inodes of removed files"}, reuse},
      {{"nearly-full", "every block that is allocated has just been freed"}, nearly_full},
      {{"crumbs", "freed space goes to files of one fragment each"}, crumbs},
      {{"no-room", "requests exceed the free space; a refused operation must have no effect"},
       no_room},
      {{"full-users",
        "three concurrent users with little space: each reuses space that another frees"},
       full_users},
      {{"edges", "on a nearly full disk, ranges begin and end near the edges of blocks and files"},
       edges},
      {{"last-blocks", "operations run out of space at each of their steps"}, last_blocks},
      {{"truncation", "files are truncated, punched and extended while others write"}, truncation},
      {{"indirect", "writes and truncations at offsets where indirect blocks of 512 bytes begin"},
       indirect},
      {{"fragments", "files grow in parallel, in steps of half a kilobyte"}, fragments},
      {{"regrowth", "files grow, shrink and grow again, while others reuse the freed space"},
       regrowth},
      {{"directories", "directories grow beyond a block, are emptied and removed"}, directories},
      {{"renames",
        "renames replace files and directories, or move names between directories, synced or not"},
       renames},
      {{"exchanges", "directories and files are exchanged across directories"}, exchanges},
      {{"long-renames",
        "directories with long names are renamed and exchanged dozens of times without a sync"},
       long_renames},
      {{"moves", "directories are emptied by renames into old and new directories, then removed"},
       moves},
      {{"replacements",
        "synced and new files are renamed over others, while neighbours are synced"},
       replacements},
      {{"large-directories",
        "synced files move while a directory grows, even beyond its direct blocks"},
       large_directories},
      {{"journal-wrap", "enough name changes to wrap a small journal"}, journal_wrap},
      {{"open-files", "files lose their last names while they are open"}, open_files},
      {{"overwrites", "synced files are overwritten, one block or the whole file"}, overwrites},
      {{"crowded",
        "names of all lengths are added, removed and moved within their directory chunks"},
       crowded},
      {{"appends", "open files grow by less than a block, and are synced"}, appends},
      {{"paths", "directories are renamed, and objects below them are immediately synced"}, paths},
      {{"holes",
        "holes behind indirect blocks are filled and punched; other files reuse the freed blocks"},
       holes},
      {{"open-users", "three users keep open files whose names are removed, while others sync"},
       open_users},
      {{"syncs", "three users call sync concurrently"}, syncs},
      {{"fsyncs", "two users fsync files with indirect blocks, while a third calls sync"}, fsyncs},
      {{"rests", "files, records and names change; then the workload waits instead of syncing"},
       rests},
      {{"many-users", "three concurrent users wait for each other every few operations"},
       many_users},
      {{"attributes",
        "three users change modes, owners and times while files are created, extended and removed"},
       attributes},
      {{"transactions", "three users combine operations into transactions"}, transactions},
      {{"histories", "all operations of the workload language, on a small scale"}, histories}};
  return kAll;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> kNames = [] {
    std::vector<Family> names;
    for (const Made& one : all_families()) names.push_back(one.family);
    return names;
  }();
  return kNames;
}

std::optional<std::vector<Operation>> family_member(std::string_view name, std::uint64_t number) {
  const auto found =
      std::ranges::find(all_families(), name, [](const Made& one) { return one.family.name; });
  if (found == all_families().end()) return std::nullopt;
  return found->make(number);
}

}  // namespace headcrash::workload

// Simulates concurrent threads. A scheduler interleaves the operations of a list at random,
// following the rules in operation.h, and cuts the power between any two steps. A file system that
// keeps its promises and nothing more (reference_model.h) executes the operations in this order and
// produces a tree. The oracle knows only the list and the last point that was reported. The oracle
// must accept this tree, and must reject it after it has been damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "harness/oracle/oracle.h"
#include "harness/oracle/testing/reference_model.h"
#include "harness/workload/random_operations.h"
#include "plugin/base/testing/number_from_environment.h"

namespace headcrash::oracle {
namespace {

using workload::Operation;
using Trees = std::vector<ObservedObject>;

constexpr std::uint8_t kThreads = 3;

/// An execution of the list in a random order, up to the power cut.
struct Execution {
  std::vector<Operation> ran;  ///< executed operations, in the order in which they took effect
  /// Index in `ran` of the last persistence point that succeeded.
  std::optional<std::size_t> completed;
  std::optional<std::size_t> reported;  ///< index in the list of the last point that was reported
};

class Scheduler {
 public:
  Scheduler(const std::vector<Operation>& list, std::mt19937_64& random)
      : list_(list), random_(random) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].kind == Operation::Kind::join) {
        for (Thread& thread : threads_) thread.left.push_back(i);
      } else {
        threads_.at(list[i].thread).left.push_back(i);
      }
      if (workload::is_persistence_point(list[i])) points_.push_back(i);
    }
  }

  Execution run(std::size_t steps, std::size_t in_flight) {
    for (std::size_t i = 0; i < steps; ++i) {
      if (random_() % 3 == 0) report();
      step(true);
    }
    if (random_() % 2 == 0) report();
    for (std::size_t i = 0; i < in_flight; ++i) step(false);
    return std::move(execution_);
  }

 private:
  struct Thread {
    std::deque<std::size_t> left;
    bool waits = false;  // the thread is blocked until its persistence point has been reported
  };

  void report() {
    if (next_point_ == points_.size() || !completed_[points_[next_point_]]) return;
    execution_.reported = points_[next_point_++];
    threads_.at(list_[*execution_.reported].thread).waits = false;
  }

  bool is_at_join(const Thread& thread) const {
    return !thread.left.empty() && list_[thread.left.front()].kind == Operation::Kind::join;
  }

  void step(bool succeeds) {
    if (std::all_of(threads_.begin(), threads_.end(),
                    [&](const Thread& each) { return is_at_join(each) && !each.waits; })) {
      for (Thread& each : threads_) each.left.pop_front();
    }
    Thread& thread = threads_[random_() % threads_.size()];
    if (thread.left.empty() || thread.waits || is_at_join(thread)) return;
    const std::size_t index = thread.left.front();
    thread.left.pop_front();
    execution_.ran.push_back(list_[index]);
    if (!workload::is_persistence_point(list_[index])) return;
    thread.waits = true;
    if (!succeeds) return;
    completed_[index] = true;
    execution_.completed = execution_.ran.size() - 1;
  }

  const std::vector<Operation>& list_;
  std::mt19937_64& random_;
  std::array<Thread, kThreads> threads_;
  std::vector<std::size_t> points_;
  std::size_t next_point_ = 0;
  std::map<std::size_t, bool> completed_;
  Execution execution_;
};

struct ThreadedLaboratory {
  ThreadedLaboratory(std::uint64_t seed, const adapters::Promises& given)
      : promises(given),
        list(workload::random_operations({.seed = seed,
                                          .rounds = 60,
                                          .directories = 2,
                                          .names = 3,
                                          .largest_blocks = 6,
                                          .threads = kThreads,
                                          .rounds_to_a_join = 20})),
        oracle(Oracle::follow(list, {.promises = promises}).value()),
        random(seed * 7919) {}

  Execution execute() {
    return Scheduler(list, random).run(1 + random() % (list.size() * 3), random() % 30);
  }
  Trees tree_of(const Execution& execution) {
    return ReferenceModel(execution.ran, promises)
        .tree_after({.persisted = execution.completed, .reached = execution.ran.size() - 1},
                    random);
  }

  adapters::Promises promises;
  std::vector<Operation> list;
  Oracle oracle;
  std::mt19937_64 random;
};

std::string description_of(const ThreadedLaboratory& lab, const Execution& execution,
                           const Trees& tree, const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& f : findings)
    text += std::string(name(f.kind)) + " " + f.path + ": expected " + f.expected + ", found " +
            f.found + "\n";
  text += "list, last reported " +
          (execution.reported ? std::to_string(*execution.reported) : "none") + "\n";
  for (std::size_t i = 0; i < lab.list.size(); ++i)
    text += std::to_string(i) + " " + workload::format(lab.list[i]) + "\n";
  text += "ran\n";
  for (const Operation& each : execution.ran) text += workload::format(each) + "\n";
  for (const ObservedObject& object : tree)
    text += object.path + " size " + std::to_string(object.size_bytes) + "\n";
  return text;
}

const std::vector<adapters::Promises> kKinds{{},
                                             {.fsync_keeps_name = true},
                                             {.fsync_keeps_name = true, .fsync_keeps_links = true},
                                             {.fsync_keeps_name = true,
                                              .names = adapters::NameOrder::ordered,
                                              .passing_names = {".exchanged-"}}};
const std::vector<adapters::Promises> kKindsWithoutOrderEither{
    {.names = adapters::NameOrder::unordered, .exposes_stale_data = true},
    {.fsync_keeps_new_name = true, .names = adapters::NameOrder::unordered}};

std::uint64_t thread_seeds() {
  return number_from_environment("HEADCRASH_CUT_SEEDS", 10);
}

TEST(SimulatedThreads, AcceptsAFileSystemThatKeepsItsPromises) {
  for (std::uint64_t seed = 1; seed <= thread_seeds(); ++seed) {
    std::vector<adapters::Promises> kinds = kKinds;
    kinds.insert(kinds.end(), kKindsWithoutOrderEither.begin(), kKindsWithoutOrderEither.end());
    for (const adapters::Promises& promises : kinds) {
      ThreadedLaboratory lab(seed, promises);
      for (int cut = 0; cut < 20; ++cut) {
        const Execution execution = lab.execute();
        if (execution.ran.empty()) continue;
        const Trees tree = lab.tree_of(execution);
        const std::vector<Finding> findings = lab.oracle.judge(execution.reported, tree);
        ASSERT_TRUE(findings.empty()) << "seed " << seed << " cut " << cut << "\n"
                                      << description_of(lab, execution, tree, findings);
      }
    }
  }
}

/// The history as one thread knows it: all operations up to the join before the thread's last
/// reported point, followed by the operations of this thread that may have run.
struct OwnView {
  std::vector<Operation> operations;
  ReferenceModel::Cut cut;
  std::string set;  ///< name of the set of names that the thread owns
};

std::optional<OwnView> view_of(const ThreadedLaboratory& lab, std::uint8_t thread,
                               std::size_t reported) {
  std::optional<std::size_t> point;
  for (std::size_t i = 0; i <= reported; ++i) {
    if (lab.list[i].thread == thread && workload::is_persistence_point(lab.list[i])) point = i;
  }
  if (!point) return std::nullopt;
  OwnView view;
  std::size_t section = 0, joins = 0;
  for (std::size_t i = 0; i < *point; ++i) {
    if (lab.list[i].kind != Operation::Kind::join) continue;
    section = i;
    ++joins;
  }
  if (joins == 0) return std::nullopt;
  bool held = false;  // an earlier point of the section is unreported, so the thread is blocked
  bool ended = false;
  for (std::size_t i = 0; i < lab.list.size(); ++i) {
    Operation operation = lab.list[i];
    const bool is_point = workload::is_persistence_point(operation);
    if (i > section && operation.kind == Operation::Kind::join) break;
    held |= i > section && i > reported && is_point;
    if (ended || (i > section && operation.thread != thread)) continue;
    ended = i > reported && is_point;
    // Replace persistence points before the section with joins, because other threads may have set
    // these points. All later points in the view belong to this thread.
    if (i < section && is_point) operation = {.kind = Operation::Kind::join};
    view.operations.push_back(operation);
    if (i == *point) view.cut.persisted = view.operations.size() - 1;
  }
  if (!held) return std::nullopt;
  view.cut.reached = view.operations.size() - 1;
  view.set = "s" + std::to_string((thread + joins) % kThreads);
  return view;
}

enum class Harm : std::uint8_t { lost_name, lost_write, stale_block, shorter, resurrected };

bool harm(Harm kind, ThreadedLaboratory& lab, const OwnView& view, Trees& tree) {
  const ReferenceModel files(view.operations, lab.promises);
  for (const auto& pinned : files.pinned_names(view.cut)) {
    if (!pinned.path.starts_with(view.set) && pinned.path.find("/" + view.set) == std::string::npos)
      continue;
    const auto at = std::find_if(tree.begin(), tree.end(), [&](const ObservedObject& object) {
      return object.path == pinned.path;
    });
    if (kind == Harm::resurrected) {
      if (pinned.file || !pinned.before || at != tree.end()) continue;
      tree.push_back({.path = pinned.path, .inode = 9999, .links = 1});
      return true;
    }
    if (!pinned.file || at == tree.end()) continue;
    if (kind == Harm::lost_name) {
      std::erase_if(tree, [&](const ObservedObject& object) {
        return object.path == pinned.path || object.path.starts_with(pinned.path + "/");
      });
      return true;
    }
    const auto run = std::find_if(at->runs.begin(), at->runs.end(), [](const ContentRun& each) {
      return each.kind == ContentRun::Kind::stamp;
    });
    if (run == at->runs.end() || !files.data_is_pinned(*pinned.file, view.cut)) continue;
    if (kind == Harm::lost_write) *run = {.first_block = run->first_block, .blocks = 1};
    if (kind == Harm::stale_block) run->file = 4711;
    if (kind == Harm::shorter) at->size_bytes -= 1;
    return true;
  }
  return false;
}

TEST(SimulatedThreads, FindsDamage) {
  for (const Harm kind :
       {Harm::lost_name, Harm::lost_write, Harm::stale_block, Harm::shorter, Harm::resurrected}) {
    int done = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      ThreadedLaboratory lab(seed, kKinds[seed % kKinds.size()]);
      for (int cut = 0; cut < 10; ++cut) {
        const Execution execution = lab.execute();
        if (!execution.reported) continue;
        Trees tree = lab.tree_of(execution);
        const auto thread = static_cast<std::uint8_t>(lab.random() % kThreads);
        const auto view = view_of(lab, thread, *execution.reported);
        if (!view || !harm(kind, lab, *view, tree)) continue;
        ++done;
        ASSERT_FALSE(lab.oracle.judge(execution.reported, tree).empty())
            << "harm " << static_cast<int>(kind) << " seed " << seed << " cut " << cut << " thread "
            << int{thread} << "\n"
            << description_of(lab, execution, tree, {});
      }
    }
    EXPECT_GT(done, 10) << "harm " << static_cast<int>(kind) << " was possible in too few cases";
  }
}

TEST(SimulatedThreads, RejectsAWorkloadWithConflictingThreads) {
  const auto refused = [](const char* text) {
    const auto list = workload::parse_operations(text, "meeting.txt").value();
    const auto oracle = Oracle::follow(list, {});
    return !oracle && oracle.error().message().find("another thread") != std::string::npos;
  };
  EXPECT_TRUE(refused("create a\n@1 write a 0 512 1 1\n"));
  EXPECT_TRUE(refused("create a\njoin\nfsync a\n@1 write a 0 512 1 1\n"));
  EXPECT_TRUE(refused("mkdir d\njoin\n@1 create d/a\nrename d e\n"));
  EXPECT_TRUE(refused("mkdir d\njoin\nrename d e\n@1 create e/a\n"));
  EXPECT_TRUE(refused("create a\njoin\nunlink a\n@1 create a\n"));
  EXPECT_TRUE(refused("create a\nlink a b\njoin\nunlink a\n@1 fsync b\n"));
  EXPECT_FALSE(refused("mkdir d\njoin\ncreate d/a\n@1 create d/b\n@2 fsyncdir d\n@3 sync\n"));
  EXPECT_FALSE(refused("create a\njoin\nunlink a\njoin\n@1 create a\n"));
}

TEST(SimulatedThreads, ASyncCoversOperationsBeforeTheLastJoin) {
  const auto list = workload::parse_operations(
                        "create a\njoin\ncreate b\n@1 create c\n@1 sync\njoin\n@2 sync\n", "l")
                        .value();
  const Oracle oracle = Oracle::follow(list, {}).value();
  const auto empty = [](const char* path, std::uint64_t inode) {
    return ObservedObject{.path = path, .inode = inode, .links = 1};
  };
  EXPECT_TRUE(oracle.judge(4, {empty("a", 1), empty("c", 3)}).empty());
  EXPECT_FALSE(oracle.judge(4, {empty("c", 3)}).empty());
  EXPECT_FALSE(oracle.judge(4, {empty("a", 1)}).empty());
  EXPECT_FALSE(oracle.judge(6, {empty("a", 1), empty("c", 3)}).empty());
}

}  // namespace
}  // namespace headcrash::oracle

// MS-10, MS-11: the time that users wait while a generation is spawned and written, and the
// duration of an fsync.
#include "harness/papers/soares03/measures.h"
#include "harness/papers/soares03/soares03.h"
#include "harness/papers/soares03/steady_load.h"

namespace headcrash::experiment::soares03 {
namespace {

SteadyLoad busy_load(const Context& context) {
  SteadyLoad load{.users = 8, .files_per_s = 400, .lifetime_s = 20, .file_bytes = 8192};
  load.warm_ns = (context.scaled ? 2 : 25) * model::kSecondNs;
  load.measured_ns = (context.scaled ? 12 : 60) * model::kSecondNs;
  return load;
}

Figure worst_of(const std::vector<double>& responses) {
  return quantile_of(responses, 1);
}

}  // namespace

std::vector<ClaimAnswer> stalls(Context& context) {
  ClaimAnswer waits{.id = "MS-11",
                    .part = "stalls",
                    .title = "Responses of 8 users while a generation is spawned and written"};
  ClaimAnswer syncs{
      .id = "MS-10", .part = "stalls", .title = "fsync of one more block every second"};
  SteadyLoad load = busy_load(context);
  const auto run = [&](const Setup& setup) {
    SteadyOutcome seen = run_steady(setup, load, context.seed);
    context.modelled_s += seconds_of(load.warm_ns + load.measured_ns);
    return seen;
  };
  const auto with = [](std::string its_name, snapfs::Spawn spawn) {
    return snapfs_setup(std::move(its_name), {.data = snapfs::DataMode::ordered, .spawn = spawn});
  };
  Figure p99_during, worst_during, worst_beside, worst_forked, worst_barrier, commits;
  for (const Setup& setup :
       {with("KFS+snap, ordered", snapfs::Spawn::concurrent),
        with("a barrier until running operations have ended", snapfs::Spawn::barrier),
        with("a barrier until the generation is committed", snapfs::Spawn::barrier_until_committed),
        setup_of(System::snap_ordered, {.processor = 10})}) {
    const SteadyOutcome seen = run(setup);
    add_row(waits, setup.name, "generations committed", "", {}, seen.of(seen.commits), seen.error);
    for (const double share : {.5, .99, 1.}) {
      const std::string which =
          share == 1 ? "worst" : fmt::format("{:g} of 100 within", 100 * share);
      add_row(waits, setup.name, "no commit under way, " + which, "ms", {},
              quantile_of(seen.beside_ms, share), seen.error);
      add_row(waits, setup.name, "a commit under way, " + which, "ms", {},
              quantile_of(seen.during_ms, share), seen.error);
    }
    if (setup.name == "KFS+snap, ordered") {
      worst_during = worst_of(seen.during_ms);
      worst_beside = worst_of(seen.beside_ms);
      p99_during = quantile_of(seen.during_ms, .99);
      commits = seen.of(seen.commits);
    } else if (setup.name == "a barrier until the generation is committed") {
      worst_barrier = worst_of(seen.during_ms);
    } else if (setup.name == "a barrier until running operations have ended") {
      worst_forked = worst_of(seen.during_ms);
    }
  }
  add_rule(waits, "99 of 100 operations during a commit take at most 5 ms",
           {in_unit(p99_during, "ms")}, [&] { return *p99_during <= 5; });
  mark(waits, RuleClass::ours);
  add_rule(waits,
           "no operation waits for a commit: the maximum is as long as without a commit (within a "
           "factor of 2)",
           {{"during", worst_during, "ms"}, {"without", worst_beside, "ms"}},
           [&] { return *worst_during <= 2 * *worst_beside; });
  require_action(waits, {"generations committed", commits});
  add_rule(waits, "with a barrier until the commit, operations stall at least 5 times as long",
           {{"barrier", worst_barrier}, {"KFS+snap", worst_during}},
           [&] { return *worst_barrier >= 5 * *worst_during; });
  mark(waits, RuleClass::ours);
  add_rule(waits,
           "a barrier until running operations have ended is \"as slow as\" a barrier until the "
           "commit (within a factor of 2)",
           {{"forked", worst_forked}, {"committed", worst_barrier}},
           [&] { return *worst_forked * 2 >= *worst_barrier; });
  waits.remarks.push_back(
      "8 users create 400 files of 8 KiB per second and remove each file 20 s later. The paper "
      "says that a synchronization barrier \"would perform as slow as synchronous file systems\" "
      "(III-B), although the barrier lasts only until the fork. Both barriers have rows. "
      "Operations during a commit wait for the processor, in slices of 10 ms, while the commit "
      "moves inodes and copies blocks. With a processor ten times as fast (counterfactual), "
      "these waits disappear.");

  load.fsync_every_ns = model::kSecondNs;
  Figure mean_snap, mean_journal;
  for (const System system : {System::snap, System::snap_ordered, System::ext3}) {
    const SteadyOutcome seen = run(setup_of(system));
    add_row(syncs, name(system), "fsync, median", "ms", {}, quantile_of(seen.fsync_ms, .5),
            seen.error);
    add_row(syncs, name(system), "fsync, worst", "ms", {}, worst_of(seen.fsync_ms), seen.error);
    if (system == System::snap) mean_snap = quantile_of(seen.fsync_ms, .5);
    if (system == System::ext3) mean_journal = quantile_of(seen.fsync_ms, .5);
  }
  add_rule(syncs,
           "an fsync takes longer than with the journal, because it commits the whole "
           "generation",
           {{"KFS+snap", mean_snap}, {"ext3", mean_journal}},
           [&] { return *mean_snap > *mean_journal; });
  load.files_per_s = 1;
  for (const System system : {System::snap, System::ext3}) {
    const SteadyOutcome seen = run(setup_of(system));
    add_row(syncs, fmt::format("{}; only one other file per second", name(system)), "fsync, median",
            "ms", {}, quantile_of(seen.fsync_ms, .5), seen.error);
  }
  syncs.remarks.push_back(
      "Counterfactual: almost no other changes. In ext2's format, the inodes, maps and blocks of "
      "50 directories are in 50 cylinder groups, and the journal contains all of them; snapfs "
      "packs them. The other triggers (a third of the cache dirty, 10 s, sync) are tested in "
      "fs-adapters/snapfs. A metadata journal with group commit also commits the whole "
      "transaction.");
  return {syncs, waits};
}

}  // namespace headcrash::experiment::soares03

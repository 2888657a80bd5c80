// Tests possible explanations for deviations from the paper's numbers, by changing one parameter at
// a time.
#include <algorithm>
#include <tuple>
#include <utility>

#include "harness/papers/judge.h"
#include "harness/papers/peacock98/crash.h"
#include "harness/papers/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

struct Change {
  std::string label;
  ServerChoice choice;
};

/// A table of knees: one for each of `changes`. `paper_per_s` is the knee in the paper, if the
/// paper prints it.
struct Knees {
  const char* id;
  const char* title;
  Figure paper_per_s;
  std::vector<Change> changes;
};

Knees fast_fsck_on_raid5() {
  const ServerChoice usual{.raid = Raid::raid5, .tuning = Tuning::fast_fsck};
  ServerChoice alone = usual, fcfs = usual, many = usual, no_hot_spot = usual;
  alone.marks_alone = true;
  fcfs.drives_in_order = true;
  many.nfsds = 256;
  no_hot_spot.scheme = "netra-check";
  return {"PK-07, fast fsck",
          "Fast fsck on RAID-5 without Presto",
          298,
          {{"unchanged", usual},
           {"each mark is a separate write", alone},
           {"requests served in order of arrival", fcfs},
           {"256 nfsds", many},
           {"without marks and without a hot spot", no_hot_spot}}};
}

Knees logging_on_raid5() {
  const ServerChoice usual{.raid = Raid::raid5, .tuning = Tuning::vxld};
  ServerChoice few = usual, many = usual, metadata = usual;
  few.nfsds = 16;
  many.nfsds = 256;
  metadata.scheme = "journal-external";
  return {"PK-07, logging",
          "A log on a separate drive, RAID-5 without Presto",
          587,
          {{"unchanged", usual},
           {"16 nfsds", few},
           {"256 nfsds: more requests share a commit", many},
           {"only metadata is logged", metadata}}};
}

Knees sold_on_raid5_presto() {
  const ServerChoice usual{
      .raid = Raid::raid5, .presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
  ServerChoice slow = usual, few = usual, alone = usual;
  slow.processor = .5;
  few.nfsds = 16;
  alone.marks_alone = true;
  return {"PK-08, causes",
          "Bmap + fast fsck on RAID-5 with Presto",
          1466,
          {{"unchanged", usual},
           {"half the processor speed", slow},
           {"16 nfsds", few},
           {"each mark is a separate write", alone}}};
}

/// Varies the percentage of appends. With the bmap cache, each append beyond 96 KiB also writes an
/// indirect block, which needs four or six I/Os on RAID-5.
Knees bmap_by_appends() {
  const ServerChoice with{
      .raid = Raid::raid5, .presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
  ServerChoice without = with;
  without.tuning = Tuning::fast_fsck;
  ServerChoice with_few = with, without_few = without;
  with_few.append_percent = without_few.append_percent = 20;
  return {"PK-03, causes",
          "Gain of the bmap cache, by the share of appends",
          {},
          {{"70 % of writes append, fast fsck", without},
           {"70 % of writes append, bmap + fast fsck", with},
           {"20 % of writes append, fast fsck", without_few},
           {"20 % of writes append, bmap + fast fsck", with_few}}};
}

/// Varies the number of nfsds, and thus the number of requests that share a commit.
Knees batching_by_nfsds() {
  const ServerChoice usual{.raid = Raid::raid0, .tuning = Tuning::vxld};
  ServerChoice few = usual, one = usual;
  few.nfsds = 16;
  one.nfsds = 4;
  return {"PK-19, causes",
          "Batched commits on RAID-0, by the number of nfsds",
          597,
          {{"64 nfsds", usual}, {"16 nfsds", few}, {"4 nfsds", one}}};
}

std::vector<Knees> all_knees() {
  return {fast_fsck_on_raid5(), logging_on_raid5(), sold_on_raid5_presto(), bmap_by_appends(),
          batching_by_nfsds()};
}

ClaimAnswer answer_of(Context& context, const Knees& knees) {
  ClaimAnswer answer{.id = knees.id, .part = "causes", .title = knees.title};
  for (const Change& each : knees.changes) {
    const Curve& curve = Session::of(context).curve(context, each.choice);
    add_row(answer, each.label, "highest rate at 50 ms", "ops/s", knees.paper_per_s,
            curve.knee_per_s(), curve.error);
    add_row(answer, each.label, "response at that rate", "ms", {}, curve.knee_ms(), curve.error);
    if (const CurvePoint* const knee = curve.knee())
      add_row(answer, each.label, "drives busy at that rate", "%", {},
              100 * knee->outcome.drives_busy / 11, {});
  }
  return answer;
}

/// Measures the duration of a check that repairs nothing, as a function of the number of group
/// headers to read.
ClaimAnswer constant_of_fast_fsck(Context& context) {
  ClaimAnswer answer{
      .id = "PK-13, causes", .part = "causes", .title = "Fast fsck of an empty file system, 44 GB"};
  for (const char* const group : {"16M", "8M"}) {
    ServerChoice choice{.presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
    choice.group_size = group;
    if (context.scaled) choice.size_bytes = kGib;
    const CrashOutcome outcome = crash(context, Session::of(context), choice, 0, context.seed);
    context.modelled_s += outcome.modelled_s;
    const std::string cell = fmt::format("groups of {}", group);
    add_row(answer, cell, "recovery", "s", 42, outcome.of(outcome.elapsed_s), outcome.error);
    add_row(answer, cell, "for each request", "ms", 42e3 / 2816,
            outcome.requests > 0
                ? outcome.of(outcome.elapsed_s * 1e3 / static_cast<double>(outcome.requests))
                : std::nullopt,
            outcome.error);
  }
  return answer;
}

/// For each change, adds the recovery time after a power cut at a load of `per_s` requests per
/// second. If `requests` is true, also adds the number of requests that the recovery issues.
void add_recoveries(Context& context, ClaimAnswer& answer, Figure paper_s, double per_s,
                    const std::vector<Change>& changes, bool requests = false) {
  std::vector<Cut> cuts;
  cuts.reserve(changes.size());
  for (const Change& each : changes) {
    cuts.push_back({each.choice, per_s, context.seed});
    if (!context.scaled) continue;
    cuts.back().choice.size_bytes = kGib;
    cuts.back().load = std::min(per_s, 20.);
  }
  const auto outcomes = crash_all(context, cuts);
  if (!outcomes) return;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const CrashOutcome& one = (*outcomes)[i];
    add_row(answer, changes[i].label, "recovery", "s", paper_s, one.of(one.elapsed_s), one.error);
    if (requests)
      add_row(answer, changes[i].label, "requests", "", {},
              one.of(static_cast<double>(one.requests)), one.error);
  }
}

/// Varies the maximum request size of a full check of UFS. This check reads the inodes of all
/// groups, one megabyte in each.
ClaimAnswer requests_of_full_fsck(Context& context) {
  ClaimAnswer answer{
      .id = "PK-13, UFS", .part = "causes", .title = "Full fsck of an empty UFS, 44 GB"};
  std::vector<Change> changes;
  for (const std::uint32_t kib : {56, 16, 8}) {
    changes.push_back(
        {fmt::format("requests of {} KiB", kib), {.presto = Presto::both, .tuning = Tuning::ufs}});
    changes.back().choice.check_sectors = 2 * kib;
  }
  add_recoveries(context, answer, 382, 0, changes);
  return answer;
}

ClaimAnswer requests_of_mkfs(Context& context) {
  ClaimAnswer answer{.id = "PK-21, causes", .part = "causes", .title = "mkfs on 40 GB of RAID-5"};
  for (const std::uint32_t kib : {56, 8, 80, 160}) {
    ServerChoice choice{.raid = Raid::raid5, .tuning = Tuning::ufs};
    choice.check_sectors = 2 * kib;
    if (context.scaled) choice.size_bytes = kGib;
    const auto options = machine_of(choice);
    const auto step = options ? ModelledMachine::time_of_mkfs(*options) : forward_error(options);
    const Figure ours = step ? Figure(seconds_of(step->elapsed_ns)) : std::nullopt;
    add_row(answer, fmt::format("requests of {} KiB", kib), "elapsed", "s", 1378, ours,
            step ? "" : step.error().message());
    context.modelled_s += ours.value_or(0);
  }
  return answer;
}

/// Breaks down the response time at 600 operations/s, the load of PK-15 and PK-18, into its parts.
ClaimAnswer responses(Context& context) {
  ClaimAnswer answer{.id = "PK-18, causes",
                     .part = "causes",
                     .title = "Responses at 600 ops/s, 5 GB on RAID-0, bmap + fast fsck"};
  std::vector<Load> loads;
  std::vector<std::string> labels;
  for (const Presto presto : {Presto::none, Presto::both}) {
    ServerChoice usual{.presto = presto, .tuning = Tuning::bmap_fast_fsck, .size_bytes = 5 * kGib};
    ServerChoice slow = usual, fcfs = usual;
    slow.processor = .25;
    fcfs.drives_in_order = true;
    const char* const with = presto == Presto::none ? "no Presto" : "Presto";
    for (const auto& [label, choice] :
         {std::pair("unchanged", usual), std::pair("a quarter of the processor speed", slow),
          std::pair("requests served in order of arrival", fcfs)}) {
      labels.push_back(fmt::format("{}, {}", with, label));
      loads.push_back({choice, 600});
    }
    // The factor of eight also includes the time of a client's processor and driver in 1998:
    // together with the network, 5 ms for 8 KiB.
    labels.push_back(fmt::format("{}, client and network eight times slower", with));
    loads.push_back({usual, 600, {.network_per_kib_ns = 8 * LaddisOptions().network_per_kib_ns}});
  }
  const auto outcomes = Session::of(context).loads(context, loads);
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    add_row(answer, labels[i], "response", "ms", i < outcomes.size() / 2 ? 12.4 : 2.2,
            outcomes[i].of(outcomes[i].mean_ms), outcomes[i].error);
  return answer;
}

/// Measures the recovery of VxFS, with 5 GB and 600 ops/s, as a function of the size of the
/// replayed log.
ClaimAnswer recovery_by_log(Context& context) {
  ClaimAnswer answer{.id = "PK-16, causes",
                     .part = "causes",
                     .title = "Recovery of VxFS on 5 GB after 600 ops/s, RAID-0 without Presto"};
  const ServerChoice usual{.tuning = Tuning::vxfs, .size_bytes = 5 * kGib};
  ServerChoice larger = usual;
  larger.log_size = "32M";
  add_recoveries(context, answer, 51.9, 600,
                 {{"the default log of 16 MB", usual}, {"a log of 32 MB", larger}});
  return answer;
}

/// Measures fast fsck without Presto, with 5 GB and 600 ops/s, as a function of the number and size
/// of reads.
ClaimAnswer fast_fsck_of_table1(Context& context) {
  ClaimAnswer answer{
      .id = "PK-16, fast fsck",
      .part = "causes",
      .title = "Recovery of fast fsck on 5 GB after 600 ops/s, RAID-0 without Presto"};
  const ServerChoice usual{.tuning = Tuning::bmap_fast_fsck, .size_bytes = 5 * kGib};
  ServerChoice smaller_groups = usual, short_requests = usual, no_bmap = usual;
  smaller_groups.group_size = "8M";
  short_requests.check_sectors = 2 * 8;
  no_bmap.tuning = Tuning::fast_fsck;
  add_recoveries(context, answer, 54, 600,
                 {{"unchanged", usual},
                  {"groups of 8 MB", smaller_groups},
                  {"requests of 8 KiB", short_requests},
                  {"without the bmap cache", no_bmap}},
                 true);
  return answer;
}

/// Compares the settings of the flusher near the limit of the drives, with and without NVRAM. The
/// load of figure 9, 1 500 ops/s, is too low for this comparison. At this load, the writes of one
/// second fill less than a tenth of the NVRAM, so the flusher's limit of 40 % has no effect.
ClaimAnswer tunings_under_pressure(Context& context) {
  ClaimAnswer answer{
      .id = "PK-15, causes",
      .part = "causes",
      .title = "Response time by the flusher's interval and share of time, RAID-0 near saturation"};
  std::vector<Load> loads;
  std::vector<std::string> labels;
  for (const auto& [presto, with, per_s] :
       {std::tuple(Presto::both, "Presto", 2800.), std::tuple(Presto::none, "no Presto", 800.)}) {
    for (const FlusherSetting& setting :
         {kFlusherSettings[0], kFlusherSettings[2], kFlusherSettings[3]}) {
      loads.push_back({with_flusher({.presto = presto, .tuning = Tuning::bmap_fast_fsck}, setting),
                       context.scaled ? 20. : per_s});
      labels.push_back(fmt::format("{}, {:g} ops/s, {}", with, loads.back().per_s, setting.name));
    }
  }
  const auto outcomes = Session::of(context).loads(context, loads);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const LaddisOutcome& one = outcomes[i];
    add_row(answer, labels[i], "response", "ms", {}, one.of(one.mean_ms), one.error);
    add_row(answer, labels[i], "drives busy", "%", {}, one.of(100 * one.drives_busy / 11),
            one.error);
  }
  return answer;
}

}  // namespace

std::vector<ServerChoice> curves_of_causes() {
  std::vector<ServerChoice> choices;
  for (const Knees& knees : all_knees())
    for (const Change& each : knees.changes) choices.push_back(each.choice);
  return choices;
}

std::vector<ClaimAnswer> causes(Context& context) {
  if (!Session::of(context).prepare(context)) return {};
  std::vector<ClaimAnswer> answers;
  for (const Knees& knees : all_knees()) answers.push_back(answer_of(context, knees));
  for (const auto& one : {constant_of_fast_fsck, requests_of_full_fsck, requests_of_mkfs, responses,
                          recovery_by_log, fast_fsck_of_table1, tunings_under_pressure})
    if (!context.interrupted()) answers.push_back(one(context));
  return answers;
}

}  // namespace headcrash::experiment::peacock98

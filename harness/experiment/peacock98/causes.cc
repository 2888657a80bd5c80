// What moves the numbers that are not the paper's: one thing is changed at a time.
#include <utility>

#include "harness/experiment/judge.h"
#include "harness/experiment/peacock98/crash.h"
#include "harness/experiment/peacock98/peacock98.h"

namespace headcrash::experiment::peacock98 {
namespace {

struct Change {
  const char* label;
  ServerChoice choice;
};

/// One tuning's knee, as it is and with each change.
struct Knees {
  const char* id;
  const char* title;
  double paper_per_s;
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
          {{"as it is", usual},
           {"each mark is a write of its own", alone},
           {"drives in order of arrival", fcfs},
           {"256 nfsds", many},
           {"neither marks nor hot spot", no_hot_spot}}};
}

Knees logging_on_raid5() {
  const ServerChoice usual{.raid = Raid::raid5, .tuning = Tuning::vxld};
  ServerChoice few = usual, many = usual, metadata = usual;
  few.nfsds = 16;
  many.nfsds = 256;
  metadata.scheme = "journal-external";
  return {"PK-07, logging",
          "A log on a drive of its own, RAID-5 without Presto",
          587,
          {{"as it is", usual},
           {"16 nfsds", few},
           {"256 nfsds: more requests share a commit", many},
           {"only metadata is logged", metadata}}};
}

Knees sold_on_raid5_presto() {
  const ServerChoice usual{.raid = Raid::raid5, .presto = Presto::both, .tuning = Tuning::bmap_fast_fsck};
  ServerChoice slow = usual, few = usual, alone = usual;
  slow.processor = .5;
  few.nfsds = 16;
  alone.marks_alone = true;
  return {"PK-08, causes",
          "Bmap + fast fsck on RAID-5 with Presto",
          1466,
          {{"as it is", usual},
           {"half the processor", slow},
           {"16 nfsds", few},
           {"each mark is a write of its own", alone}}};
}

std::vector<Knees> all_knees() {
  return {fast_fsck_on_raid5(), logging_on_raid5(), sold_on_raid5_presto()};
}

ClaimAnswer answer_of(Context& context, const Knees& knees) {
  ClaimAnswer answer{.id = knees.id, .part = "causes", .title = knees.title};
  for (const Change& each : knees.changes) {
    const Curve& curve = Session::of(context).curve(context, each.choice);
    add_row(answer, each.label, "most at 50 ms", "ops/s", knees.paper_per_s, curve.knee_per_s(), curve.error);
    add_row(answer, each.label, "response there", "ms", {}, curve.knee_ms(), curve.error);
    if (const CurvePoint* const knee = curve.knee())
      add_row(answer, each.label, "drives busy there", "%", {}, 100 * knee->outcome.drives_busy / 11, {});
  }
  return answer;
}

/// A check without anything to repair, by how many headers there are to read.
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
            outcome.requests > 0 ? outcome.of(outcome.elapsed_s * 1e3 / static_cast<double>(outcome.requests))
                                 : std::nullopt,
            outcome.error);
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
  answers.push_back(constant_of_fast_fsck(context));
  return answers;
}

}  // namespace headcrash::experiment::peacock98

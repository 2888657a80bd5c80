// Counts I/Os: PK-01 (section 3.2), PK-02 (3.3), PK-26 (5.3). Also measures the duration of mkfs,
// PK-21 (5.4).
#include <array>
#include <random>
#include <utility>

#include "fs-adapters/substrate/os/fiber_store.h"
#include "harness/papers/judge.h"
#include "harness/papers/peacock98/peacock98.h"
#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {
namespace {

constexpr std::uint64_t kBlockSectors = 16;

/// The number of requests to the drives (`ios`) and the time (`ms`) for each write of a random
/// block. The writes are issued one after another, without a file system.
struct BlockWrites {
  Figure ios, ms;
  std::string remark;
};

BlockWrites block_writes(Context& context, const char* profile) {
  constexpr std::uint64_t kWrites = 500, kScaledWrites = 50;
  const std::uint64_t writes = context.scaled ? kScaledWrites : kWrites;
  auto options = machine_of({.raid = Raid::raid5, .tuning = Tuning::ufs});
  if (!options) return {.remark = options.error().message()};
  options->profile = profile;
  options->size_bytes = kGib;
  const auto machine = ModelledMachine::start(*options);
  if (!machine) return {.remark = machine.error().message()};
  os::System& system = (*machine)->system();
  std::mt19937_64 random(context.seed);
  os::Account account{.name = "writer"};
  const std::vector<std::byte> block(kBlockSectors * model::kSectorBytes, std::byte{0x5a});
  Result<void> done;
  os::TimeNs took = 0;
  model::DeviceCounters before;
  system.run_as(account, [&] {
    os::FiberStore store(system.queue);
    const auto write = [&] {
      return store.write(random() % (store.sectors() / kBlockSectors) * kBlockSectors, block);
    };
    // The first write is not counted, because it also makes the array mark itself as in use on its
    // members.
    done = write();
    before = (*machine)->device_counters();
    const os::TimeNs begun_at = (*machine)->now();
    for (std::uint64_t i = 0; done && i < writes; ++i) done = write();
    took = (*machine)->now() - begun_at;
  });
  if (!done) return {.remark = done.error().message()};
  const model::DeviceCounters after = (*machine)->device_counters();
  context.modelled_s += seconds_of((*machine)->now());
  return {.ios = static_cast<double>(after.reads + after.writes - before.reads - before.writes) /
                 static_cast<double>(writes),
          .ms = seconds_of(took) * 1e3 / static_cast<double>(writes)};
}

ClaimAnswer raid5_writes(Context& context) {
  ClaimAnswer answer{.id = "PK-01",
                     .part = "counts",
                     .title = "Drive I/Os for a random write of a block on RAID-5 (section 3.2)"};
  const auto row = [&](const char* label, const char* profile, double paper) {
    const BlockWrites ours = block_writes(context, profile);
    add_row(answer, label, "I/Os of drives", "", paper, ours.ios, ours.remark);
    add_row(answer, label, "response", "ms", {}, ours.ms, ours.remark);
    add_rule(answer, fmt::format("{}: {} I/Os (+-1 %)", label, paper), {in_unit(ours.ios, "I/Os")},
             [&] { return std::abs(*ours.ios / paper - 1) <= .01; });
  };
  row("prewrite log on the drives", "netra-raid5", 6);
  row("Presto Lower over the log", "netra-raid5-presto-lower", 4);
  answer.remarks.push_back(
      "The counts do not include the write-back of Presto Lower after an idle second, because "
      "the writes follow each other without a pause.");
  return answer;
}

std::array<std::uint64_t, 10> only(NfsKind kind, std::uint64_t percent = 100) {
  std::array<std::uint64_t, 10> mix{};
  mix[static_cast<std::size_t>(kind)] = percent;
  return mix;
}

/// The driver's requests and KiB for each measured NFS request. The rate is so low that no request
/// has to wait in a queue.
struct PerRequest {
  Figure writes, reads, kib_written;
  double all_writes = 0, creates = 0, removes = 0;
  std::string remark;
};

Load load_of(Tuning tuning, const std::array<std::uint64_t, 10>& mix) {
  constexpr double kSlow = 20;
  return {.choice = {.raid = Raid::raid0, .tuning = tuning},
          .per_s = kSlow,
          .options = {.percent_of_kind = mix},
          .counts_only = true};
}

PerRequest per_request(const LaddisOutcome& outcome) {
  if (!outcome.error.empty()) return {.remark = outcome.error};
  if (outcome.requests == 0) return {.remark = "no request was answered"};
  const auto each = [&](std::uint64_t count) {
    return Figure(static_cast<double>(count) / static_cast<double>(outcome.requests));
  };
  return {.writes = each(outcome.drives.writes),
          .reads = each(outcome.drives.reads),
          .kib_written = each(outcome.drives.sectors_written / 2),
          .all_writes = static_cast<double>(outcome.drives.writes),
          .creates = static_cast<double>(outcome.creates),
          .removes = static_cast<double>(outcome.removes),
          .remark = {}};
}

std::vector<ClaimAnswer> nfs_writes(Context& context) {
  ClaimAnswer answer{.id = "PK-02",
                     .part = "counts",
                     .title = "Disk operations for an NFS write, no Presto, RAID-0 (section 3.3)"};
  ClaimAnswer amplified{.id = "PK-27",
                        .part = "counts",
                        .title = "\"Every datum is written twice\" in a log (section 4), RAID-0"};
  std::vector<Load> loads;
  for (const Tuning tuning : kTunings) loads.push_back(load_of(tuning, only(NfsKind::write)));
  const auto outcomes = Session::of(context).loads(context, loads);
  if (outcomes.empty()) return {};
  std::array<Figure, std::size(kTunings)> ours, kib;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const PerRequest one = per_request(outcomes[i]);
    const bool printed = kTunings[i] == Tuning::ufs;
    add_row(answer, name(kTunings[i]), "writes of drives", "",
            printed ? Figure(2.58) : std::nullopt, one.writes, one.remark);
    add_row(answer, name(kTunings[i]), "reads of drives", "", {}, one.reads, one.remark);
    add_row(amplified, name(kTunings[i]), "written by drives for 8 KiB", "KiB", {}, one.kib_written,
            one.remark);
    ours[i] = one.writes, kib[i] = one.kib_written;
  }
  const auto of = [&](Tuning tuning) { return ours[static_cast<std::size_t>(tuning)]; };
  const Figure ufs = of(Tuning::ufs), bmap = of(Tuning::bmap), fast = of(Tuning::fast_fsck),
               both = of(Tuning::bmap_fast_fsck);
  add_rule(answer, "UFS needs 2.3 to 3 operations for each write", {in_unit(ufs, "")},
           [&] { return *ufs >= 2.3 && *ufs <= 3; });
  add_rule(answer, "the bmap cache saves one write for most appends (.4 to .7 of all writes)",
           {{"UFS", ufs}, {"bmap", bmap}},
           [&] { return *ufs - *bmap >= .4 && *ufs - *bmap <= .7; });
  add_rule(answer, "fast fsck adds writes; the bmap cache saves more writes than that",
           {{"UFS", ufs}, {"fast fsck", fast}, {"bmap + fast fsck", both}},
           [&] { return *fast > *ufs && *both < *ufs; });
  const Figure logged = kib[static_cast<std::size_t>(Tuning::vxld)];
  add_rule(amplified, "a log with data writes 8 KiB at least twice", {in_unit(logged, "KiB")},
           [&] { return *logged >= 16; });
  return {answer, amplified};
}

std::vector<ClaimAnswer> link_tags(Context& context) {
  ClaimAnswer answer{
      .id = "PK-26",
      .part = "counts",
      .title = "Writes for a create and for a remove, no Presto, RAID-0 (section 5.3)"};
  const Tuning kTwo[] = {Tuning::ufs, Tuning::fast_fsck};
  auto both = only(NfsKind::create, 50);
  both[static_cast<std::size_t>(NfsKind::remove)] = 50;
  std::vector<Load> loads;
  for (const Tuning tuning : kTwo) {
    loads.push_back(load_of(tuning, only(NfsKind::create)));
    loads.push_back(load_of(tuning, both));
  }
  const auto outcomes = Session::of(context).loads(context, loads);
  if (outcomes.empty()) return {};
  std::array<Figure, 2> removes;
  for (std::size_t i = 0; i < 2; ++i) {
    const PerRequest create = per_request(outcomes[2 * i]),
                     mixed = per_request(outcomes[2 * i + 1]);
    if (create.writes && mixed.removes > 0)
      removes[i] = (mixed.all_writes - mixed.creates * *create.writes) / mixed.removes;
    add_row(answer, name(kTwo[i]), "writes of drives, create", "", {}, create.writes,
            create.remark);
    add_row(answer, name(kTwo[i]), "writes of drives, remove", "", {}, removes[i], mixed.remark);
  }
  const Figure more = removes[0] && removes[1] ? Figure(*removes[1] - *removes[0]) : std::nullopt;
  add_row(answer, "fast fsck over UFS", "writes for a remove", "", 1., more, Cell::kNotBuilt);
  add_rule(answer, "a remove costs one additional write (+-.25)", {in_unit(more, "writes")},
           [&] { return std::abs(*more - 1) <= .25; });
  return {answer};
}

}  // namespace

std::vector<ClaimAnswer> counts(Context& context) {
  std::vector<ClaimAnswer> answers;
  answers.push_back(raid5_writes(context));
  for (const auto& part : {nfs_writes, link_tags})
    for (ClaimAnswer& each : part(context)) answers.push_back(std::move(each));
  return answers;
}

std::vector<ClaimAnswer> mkfs(Context& context) {
  ClaimAnswer answer{
      .id = "PK-21", .part = "mkfs", .title = "mkfs on 40 GB of RAID-5 (section 5.4)"};
  const auto run = [&](bool lazy, double paper) -> Figure {
    auto options = machine_of({.raid = Raid::raid5, .tuning = Tuning::ufs});
    const char* const label = lazy ? "last-inode counters" : "standard UFS";
    if (!options) return std::nullopt;
    if (lazy) options->mkfs["lazy-inodes"] = "1";
    if (context.scaled) options->size_bytes = kGib;
    const auto step = ModelledMachine::time_of_mkfs(*options);
    const Figure ours = step ? Figure(seconds_of(step->elapsed_ns)) : std::nullopt;
    const std::string remark = step ? "" : step.error().message();
    add_row(answer, label, "elapsed", "s", paper, ours, remark);
    add_row(answer, label, "requests", "", {},
            step ? Figure(static_cast<double>(step->requests)) : std::nullopt, remark);
    context.modelled_s += ours.value_or(0);
    return ours;
  };
  const Figure standard = run(false, 1378), lazy = run(true, 97), times = part_of(standard, lazy);
  add_row(answer, "standard over last-inode", "elapsed", "times", 14., times, "");
  add_rule(answer, "mkfs with last-inode counters is at least 10 times as fast",
           {in_unit(times, "times")}, [&] { return *times >= 10; });
  add_rule(answer, "mkfs with last-inode counters takes 97 s (+-25 %)", {in_unit(lazy, "s")},
           [&] { return std::abs(*lazy / 97 - 1) <= .25; });
  add_rule(answer, "mkfs without them takes 1378 s (+-25 %)", {in_unit(standard, "s")},
           [&] { return std::abs(*standard / 1378 - 1) <= .25; });
  return {answer};
}

}  // namespace headcrash::experiment::peacock98

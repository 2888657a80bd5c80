// A run on a disk with faults, and what its medium shows (io_errors.h).
#include "harness/lab/in_process/io_errors.h"

#include <fmt/format.h>

#include <cerrno>
#include <optional>

#include "fs-adapters/os/memory_machine.h"
#include "fs-adapters/ufs/fsck.h"
#include "fs-adapters/ufs/geometry.h"
#include "harness/lab/in_process/check_state.h"
#include "harness/lab/in_process/state_disk.h"
#include "harness/workload/open_files.h"
#include "plugin/model/random.h"

namespace headcrash::in_process {
namespace {

using model::TimeNs;

constexpr TimeNs kFaultyDiskLatency = 10 * model::kMillisecondNs;
constexpr TimeNs kRest = 70 * model::kSecondNs;  // two rounds of the sweep, and work items between
constexpr std::uint64_t kOnePauseIn = 4;
constexpr std::size_t kImagesOfFailures = 3, kImagesOfSyncs = 5;  // of a run

/// The medium at one instant.
struct Image {
  std::string when;
  std::vector<std::byte> bytes;
  std::optional<std::size_t> persisted;
};

/// What happened, before anybody has judged it.
struct FaultyRun {
  IoErrorOutcome outcome;
  std::size_t executed = 0;  ///< operations, the one that ended it included
  std::vector<workload::Mishap> mishaps;
  std::vector<Image> images;
  std::vector<std::byte> unmounted;  ///< the medium right after it
  bool written_later = false;
};

class RunWithFaults final : public os::DiskTracer {
 public:
  RunWithFaults(StateDisk& medium, const ufs::SchemeVariant& scheme,
                std::span<const workload::Operation> operations, const IoErrorOptions& options)
      : medium_(medium),
        scheme_(scheme),
        operations_(operations),
        options_(options),
        random_(options.seed),
        machine_(
            medium,
            {.latency_ns = kFaultyDiskLatency,
             .queue = scheme.queue,
             .cache = {.bytes = options.cache_bytes, .block_copy = scheme.block_copy, .lock_data = true}}) {}

  Result<FaultyRun> run() {
    machine_.syncer.start();
    executor_.spawn(os::Executor::Kind::user, account_, [this] { user(); });
    executor_.run();
    executor_.halt();
    if (error_) return tl::unexpected<Error>(*error_);
    return std::move(run_);
  }

  void completed(const os::DiskTrace& request) override {
    if (request.status == model::Status::ok) return;
    if (failures_++ < kImagesOfFailures) keep(fmt::format("after failure {}", failures_));
  }

 private:
  void user() {
    auto mounted = ufs::FileSystem::mount(
        {executor_, machine_.cpu, machine_.queue, machine_.cache, machine_.syncer}, scheme_.mount);
    if (!mounted) {
      error_ = mounted.error();
      return;
    }
    filesystem_ = std::move(*mounted);
    open_files_.emplace(*filesystem_);
    for (const os::DiskFault& fault : options_.faults) machine_.faulty_disk.add(fault);
    machine_.queue.trace(this);
    while (run_.executed < operations_.size() && run_.outcome.ended.empty()) {
      operation(run_.executed++);
      pause();
    }
    executor_.sleep_until(executor_.now() + kRest);
    keep("at the end");
    unmount();
    machine_.queue.trace(nullptr);
    machine_.disk.power_cut();
    filesystem_.reset();
  }

  void operation(std::size_t number) {
    const workload::Operation& operation = operations_[number];
    const auto done = workload::execute(operation, *filesystem_, *open_files_);
    if (done) {
      if (!workload::is_persistence_point(operation)) return;
      persisted_ = number;
      if (failures_ > 0 && syncs_++ < kImagesOfSyncs)
        keep(fmt::format("after operation {} ({}), which succeeded", number, workload::format(operation)));
      return;
    }
    const int error = done.error().value;
    const auto outcome =
        workload::outcome_of(operation, {.error = error, .skipped_before = !run_.mishaps.empty()});
    if (error == EIO && only_persists(operation)) {
      ++run_.outcome.failed_syncs;
      run_.mishaps.push_back({number, workload::Outcome::skipped});
    } else if (outcome == workload::Outcome::failed) {
      run_.outcome.ended =
          fmt::format("operation {} ({}), errno {}", number, workload::format(operation), error);
    } else {
      run_.mishaps.push_back({number, outcome});
    }
  }

  static bool only_persists(const workload::Operation& operation) {
    using Word = workload::Operation::Kind;
    return operation.kind == Word::fsync || operation.kind == Word::fdatasync ||
           operation.kind == Word::fsync_directory || operation.kind == Word::sync ||
           operation.kind == Word::syncfs;
  }

  void unmount() {
    open_files_.reset();
    run_.outcome.unmounted_clean = filesystem_->unmount().has_value();
    machine_.queue.drain();
    run_.unmounted.assign(medium_.bytes().begin(), medium_.bytes().end());
    executor_.sleep_until(executor_.now() + kRest);
    run_.written_later = !std::ranges::equal(run_.unmounted, medium_.bytes());
    run_.outcome.failed_requests = machine_.faulty_disk.failed();
  }

  void keep(std::string when) {
    run_.images.push_back({std::move(when), {medium_.bytes().begin(), medium_.bytes().end()}, persisted_});
  }

  void pause() {
    if (options_.pause_ns_max == 0 || random_.below(kOnePauseIn) != 0) return;
    const auto pause = random_.below(static_cast<std::uint64_t>(options_.pause_ns_max));
    executor_.sleep_until(executor_.now() + static_cast<TimeNs>(pause));
  }

  StateDisk& medium_;
  const ufs::SchemeVariant& scheme_;
  std::span<const workload::Operation> operations_;
  const IoErrorOptions& options_;
  model::Random random_;
  os::MemoryMachine machine_;
  os::Executor& executor_ = machine_.executor;
  os::Account account_{.name = "user"};
  FaultyRun run_;
  std::uint64_t failures_ = 0, syncs_ = 0;
  std::optional<std::size_t> persisted_;
  std::unique_ptr<ufs::FileSystem> filesystem_;
  std::optional<workload::OpenFiles> open_files_;
  std::optional<Error> error_;
};

/// As after a power cut: fsck, and the oracle on what it leaves.
Result<void> judge_images(const ufs::SchemeVariant& scheme, std::span<const workload::Operation> operations,
                          FaultyRun& run) {
  ufs::Fsck fsck;
  for (const Image& image : run.images) {
    StateDisk disk(image.bytes);
    auto checker = StateChecker::create(scheme, disk, fsck, operations.first(run.executed), run.mishaps);
    if (!checker) return pass_on(checker);
    StepTimes times = {};
    const StateOutcome seen = checker->check({.persisted = image.persisted}, Way::plain, times);
    ++run.outcome.images;
    if (!keeps_rules(seen))
      run.outcome.broken.push_back(fmt::format("at worst a cut: {}: {}: {}", image.when,
                                               crash::name(seen.judgement.verdict), seen.judgement.summary));
  }
  return {};
}

void judge_unmount(FaultyRun& run) {
  ufs::Fsck fsck;
  StateDisk disk(run.unmounted);
  const auto found = fsck.check(disk);
  const bool says_clean = found && found->was_clean;
  if (says_clean && !found->nothing_found())
    run.outcome.broken.push_back("honest unmount: clean, and fsck finds: " + found->findings.front().text);
  if (run.outcome.unmounted_clean && !says_clean)
    run.outcome.broken.emplace_back("honest unmount: it succeeded, and the disk does not say clean");
  if (run.written_later)
    run.outcome.broken.emplace_back("nothing later: the medium has changed after the unmount");
}

}  // namespace

Result<std::vector<os::DiskFault>> draw_faults(const FormattedDisk& formatted, std::uint64_t seed) {
  constexpr std::uint64_t kAnywhereOneIn = 3, kAnywhereNthMax = 120, kSecondOneIn = 3;
  const StateDisk disk(formatted.bytes);
  std::vector<std::byte> bytes(ufs::kSuperblockBytes);
  if (auto read = disk.read(ufs::kSuperblockByte / ufs::kSectorBytes, bytes); !read) return pass_on(read);
  const auto super = ufs::decode_superblock(bytes, formatted.bytes.size());
  if (!super) return pass_on(super);
  const ufs::Geometry geometry(*super);
  const auto range = [&](ufs::FragmentAddress from, ufs::FragmentAddress end) {
    return os::SectorRange{geometry.lba_of(from), geometry.lba_of(end)};
  };
  std::vector<os::SectorRange> areas;
  areas.push_back({0, geometry.lba_of(geometry.header(0))});  // the superblock
  areas.push_back(range(geometry.header(0), geometry.inode_table(0)));
  areas.push_back(range(geometry.inode_table(0), geometry.data_start(0)));
  areas.push_back({geometry.lba_of(geometry.data_start(0))});
  if (super->journal.fragments > 0)
    areas.push_back(range(super->journal.at, super->journal.at + super->journal.fragments));
  const std::vector<os::SectorRange> anywhere(1);

  model::Random random(seed);
  std::vector<os::DiskFault> faults;
  do {
    const bool in_an_area = random.below(kAnywhereOneIn) != 0;
    faults.push_back(os::draw_fault(random, in_an_area ? areas : anywhere));
    if (!in_an_area) faults.back().nth = 1 + random.below(kAnywhereNthMax);
  } while (faults.size() < 2 && random.below(kSecondOneIn) == 0);
  return faults;
}

Result<IoErrorOutcome> run_with_io_errors(const FormattedDisk& formatted, const ufs::SchemeVariant& scheme,
                                          std::span<const workload::Operation> operations,
                                          const IoErrorOptions& options) {
  if (workload::threads_of(operations) > 1)
    return fail("workload", "has several threads, and a run with I/O errors has one",
                "use one without threads");
  StateDisk medium(formatted.bytes);
  auto run = RunWithFaults(medium, scheme, operations, options).run();
  if (!run) return pass_on(run);
  if (!scheme.control)
    if (auto judged = judge_images(scheme, operations, *run); !judged) return pass_on(judged);
  judge_unmount(*run);
  return std::move(run->outcome);
}

}  // namespace headcrash::in_process

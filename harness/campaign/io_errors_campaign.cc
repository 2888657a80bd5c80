// Cells, each with a server and guests of its own, some at a time (io_errors_campaign.h).
#include "harness/campaign/io_errors_campaign.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <thread>

#include "harness/campaign/io_errors_cell.h"
#include "plugin/base/scratch_folder.h"

namespace headcrash::campaign {
namespace {

constexpr std::uint64_t kSeed = 2020;

/// What a cell runs on: its adapter, with its mount option, and the guest that has the tools.
struct Subject {
  adapters::LinuxAdapter adapter;
  vm::GuestImage image;
};

Result<std::map<std::string, Subject>> subjects_of(const std::vector<IoErrorCell>& cells,
                                                   const std::filesystem::path& cache) {
  std::map<std::string, Subject> subjects;
  for (const IoErrorCell& cell : cells) {
    if (subjects.contains(cell.filesystem)) continue;
    auto adapter = adapters::load_adapter(cell.adapter());
    if (!adapter) return pass_on(adapter);
    const std::string option = cell.mount_option();
    if (!option.empty()) adapter->mount_options += (adapter->mount_options.empty() ? "" : ",") + option;
    auto image = vm::guest_image(cache, adapter->guest);
    if (!image) return pass_on(image);
    subjects.emplace(cell.filesystem, Subject{std::move(*adapter), std::move(*image)});
  }
  return subjects;
}

class IoErrorsRun {
 public:
  IoErrorsRun(const CampaignOptions& options, db::Database& database, run::StoredRun run,
              std::vector<IoErrorCell> cells, std::map<std::string, Subject> subjects,
              vm::Accelerator accelerator)
      : options_(options),
        database_(database),
        run_(std::move(run)),
        cells_(std::move(cells)),
        subjects_(std::move(subjects)),
        accelerator_(accelerator) {
    outcome_.run = run_.id;
    outcome_.planned = cells_.size();
    std::erase_if(cells_, [&](const IoErrorCell& cell) { return run_.finished.contains(cell.key()); });
    outcome_.done_before = outcome_.planned - cells_.size();
  }

  Result<CampaignOutcome> run() {
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < std::min(options_.jobs, cells_.size()); ++i)
      workers.emplace_back([this] { work(); });
    for (std::thread& worker : workers) worker.join();
    if (error_) return tl::unexpected(*error_);
    outcome_.interrupted = outcome_.done_before + outcome_.done_now < outcome_.planned;
    if (!outcome_.interrupted)
      if (const auto finished = database_.finish_run(run_.id); !finished) return pass_on(finished);
    return outcome_;
  }

 private:
  bool stopped() const { return error_ || (options_.interrupted != nullptr && *options_.interrupted); }

  void work() {
    while (true) {
      std::size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopped() || next_ == cells_.size()) return;
        index = next_++;
      }
      const Result<void> done = measure(cells_[index]);
      const std::lock_guard lock(mutex_);
      if (!done && !stopped()) error_ = done.error();
    }
  }

  Result<void> measure(const IoErrorCell& cell) {
    const auto scratch = base::ScratchFolder::make();
    if (!scratch) return pass_on(scratch);
    const Subject& subject = subjects_.at(cell.filesystem);
    const auto record = measure_io_errors(cell, subject.adapter,
                                          {.image = subject.image,
                                           .accelerator = accelerator_,
                                           .cache = options_.cache,
                                           .scratch = scratch->path(),
                                           .seed = kSeed,
                                           .interrupted = options_.interrupted});
    if (!record) return pass_on(record);
    const std::lock_guard lock(mutex_);
    if (const auto kept = database_.record_trial(run_.id, *record); !kept) return pass_on(kept);
    ++outcome_.done_now;
    if (options_.on_progress)
      options_.on_progress({.done = outcome_.done_before + outcome_.done_now,
                            .planned = outcome_.planned,
                            .trial = &*record,
                            .running = record->key});
    return {};
  }

  const CampaignOptions& options_;
  db::Database& database_;
  run::StoredRun run_;
  std::vector<IoErrorCell> cells_;  // to be measured
  std::map<std::string, Subject> subjects_;
  vm::Accelerator accelerator_;
  std::mutex mutex_;  // of all below, and of the database
  std::size_t next_ = 0;
  CampaignOutcome outcome_;
  std::optional<Error> error_;
};

}  // namespace

Result<CampaignOutcome> run_io_errors_campaign(const IoErrorsCampaign& campaign,
                                               const CampaignOptions& options) {
  auto cells = io_error_cells(campaign, options.shard);
  if (!cells) return pass_on(cells);
  auto subjects = subjects_of(*cells, options.cache);
  if (!subjects) return pass_on(subjects);
  auto database = db::Database::open(options.database, db::Database::Access::read_write);
  if (!database) return pass_on(database);
  const vm::Accelerator accelerator = vm::probe_accelerator(options.cache).accelerator;
  const std::string configuration =
      fmt::format("{} {} {} seed={}", kIoErrorsName, campaign.filesystem, campaign.failed, kSeed);
  auto run = run::open_run(
      *database, {.kind = "campaign",
                  .name = std::string(kIoErrorsName),
                  .configuration = configuration,
                  .seed = kSeed,
                  .digest = configuration,
                  .shard = options.shard,
                  .trials = cells->size(),
                  .guest_kernel = cells->empty() ? "" : subjects->begin()->second.image.kernel_version,
                  .accelerator = accelerator,
                  .resume = options.resume,
                  .redo_errors = options.redo_errors});
  if (!run) return pass_on(run);
  base::sweep_scratch_folders();
  return IoErrorsRun(options, *database, std::move(*run), std::move(*cells), std::move(*subjects),
                     accelerator)
      .run();
}

}  // namespace headcrash::campaign

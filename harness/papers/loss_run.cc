// Runs a user and a reader, and examines the medium (loss_run.h).
#include "harness/papers/loss_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

#include "harness/papers/loaded_machine.h"
#include "harness/papers/probe_files.h"
#include "plugin/base/random.h"

namespace headcrash::experiment {
namespace {

using os::TimeNs;

constexpr std::uint64_t kReadBytes = 64 << 20;
constexpr std::uint64_t kChangedBlockBytes = 8192, kOverwrittenBlocks = 2048;
constexpr std::uint64_t kFileBytes = 4096, kRecordBytes = 1024;
constexpr std::uint64_t kLogs = 4, kFolders = 8;
constexpr double kChangeRate = 10, kReadRate = 5;

std::string folder_of(std::uint64_t number) {
  return fmt::format("d{}", number % kFolders);
}
std::string first_name(std::uint64_t number) {
  return fmt::format("{}/f{}", folder_of(number), number);
}
std::string second_name(std::uint64_t number) {
  return fmt::format("{}/r{}", folder_of(number), number);
}

/// Returns the contents that the change with this number writes. No two changes write the same
/// contents.
std::vector<std::byte> contents(std::uint64_t number, std::uint64_t bytes) {
  std::vector<std::byte> made(bytes);
  Random random(number);
  for (std::uint64_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(&made[at], &word, sizeof word);
  }
  return made;
}

/// Presents the current contents of the medium. Keeps the writes of a repair in memory.
class CutImage final : public model::SectorStore {
 public:
  explicit CutImage(const model::SectorStore& medium) : medium_(medium) {}

  std::uint64_t sectors() const override { return medium_.sectors(); }
  Result<void> read(std::uint64_t lba, std::span<std::byte> into) const override {
    if (auto below = medium_.read(lba, into); !below || written_.empty()) return below;
    const std::uint64_t end = lba + into.size() / model::kSectorBytes;
    for (auto at = written_.lower_bound(lba); at != written_.end() && at->first < end; ++at)
      std::ranges::copy(at->second, into.subspan((at->first - lba) * model::kSectorBytes).begin());
    return {};
  }
  Result<void> write(std::uint64_t lba, std::span<const std::byte> data) override {
    for (std::size_t at = 0; at < data.size(); at += model::kSectorBytes)
      std::ranges::copy(data.subspan(at, model::kSectorBytes),
                        written_[lba + at / model::kSectorBytes].begin());
    return {};
  }
  Result<void> write_zeroes(std::uint64_t lba, std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) written_[lba + i] = {};
    return {};
  }

 private:
  const model::SectorStore& medium_;
  std::map<std::uint64_t, std::array<std::byte, model::kSectorBytes>> written_;
};

struct Change {
  enum class Kind : std::uint8_t { overwrite, create, write, append, rename, remove };
  Kind kind = Kind::overwrite;
  std::uint64_t number = 0;   ///< determines the contents that the change writes
  std::uint64_t subject = 0;  ///< number of the changed block, file or log
  std::uint64_t offset = 0, bytes = 0;
  TimeNs returned_at = 0;
  bool promised = false;  ///< covered by an fsync call that returned
};

/// The state of a file. States are indexed by file number; files are numbered in order of creation.
struct FileLife {
  bool renamed = false, removal_begun = false;
};

/// Determines which changes are contained in an image of the file system.
class Survivors {
 public:
  Survivors(const adapters::ImageReader& reader, const std::vector<FileLife>& files)
      : reader_(reader), files_(files) {
    walked_ = reader.walk([this](const std::string& path, const adapters::ImageInode& inode) {
      inodes_.emplace(path, inode.number);
    });
  }
  const Result<void>& walked() const { return walked_; }

  bool counts(const Change& change) const {
    const bool of_a_file = change.kind == Change::Kind::create ||
                           change.kind == Change::Kind::write ||
                           change.kind == Change::Kind::rename;
    return !of_a_file || !files_[change.subject].removal_begun;
  }
  bool there(const Change& change) const {
    using enum Change::Kind;
    switch (change.kind) {
      case overwrite:
        return holds("written", change);
      case append:
        return holds(fmt::format("log{}", change.subject), change);
      case create:
        return has(first_name(change.subject)) || has(second_name(change.subject));
      case write:
        return holds(first_name(change.subject), change) ||
               holds(second_name(change.subject), change);
      case rename:
        return has(second_name(change.subject));
      case remove:
        return !has(first_name(change.subject)) && !has(second_name(change.subject));
    }
    return false;
  }

 private:
  bool has(const std::string& path) const { return inodes_.contains(path); }
  bool holds(const std::string& path, const Change& change) const {
    const auto found = inodes_.find(path);
    if (found == inodes_.end()) return false;
    std::vector<std::byte> bytes(change.bytes);
    const auto got = reader_.read(found->second, change.offset, bytes);
    return got && *got == bytes.size() && bytes == contents(change.number, change.bytes);
  }

  const adapters::ImageReader& reader_;
  const std::vector<FileLife>& files_;
  std::map<std::string, std::uint64_t> inodes_;
  Result<void> walked_;
};

class LossRun {
 public:
  LossRun(const LossAsked& asked, LoadedMachine& machine)
      : asked_(asked),
        machine_(machine),
        system_(*asked.machine.system),
        begin_(machine.now()),
        warm_(begin_ + asked.warm_ns),
        end_(warm_ + asked.measured_ns),
        random_(asked.seed),
        syncs_(asked.seed + 4000),
        blocks_(kOverwrittenBlocks) {
    std::iota(blocks_.begin(), blocks_.end(), std::uint64_t{0});
    for (std::size_t i = blocks_.size(); i > 1; --i)
      std::swap(blocks_[i - 1], blocks_[random_.below(i)]);
  }

  LossSeen run() {
    os::Executor& executor = machine_.modelled().system().executor;
    executor.spawn(os::Executor::Kind::user, reader_account_, [this] { read(); });
    executor.spawn(os::Executor::Kind::user, user_account_, [this] { change(); });
    std::vector<TimeNs> instants;
    Random instants_random(asked_.seed + 1000);
    instants.reserve(asked_.instants);
    for (std::size_t i = 0; i < asked_.instants; ++i)
      instants.push_back(warm_ + static_cast<TimeNs>(instants_random.below(
                                     static_cast<std::uint64_t>(asked_.measured_ns))));
    std::ranges::sort(instants);
    executor.run_until(warm_);
    const std::uint64_t before = machine_.modelled().device_counters().sectors_written;
    for (const TimeNs at : instants) {
      executor.run_until(at);
      if (machine_.good() && seen_.error.empty()) keep(find_lost(at));
    }
    if (asked_.cut_at_last) return cut();
    executor.run_until(end_);
    const std::uint64_t sectors = machine_.modelled().device_counters().sectors_written - before;
    seen_.written_kb_s =
        static_cast<double>(sectors * model::kSectorBytes) / 1000 / seconds_of(asked_.measured_ns);
    executor.run();
    seen_.modelled_s = seconds_of(machine_.now());
    if (!machine_.good()) seen_.error = machine_.error();
    return std::move(seen_);
  }

 private:
  /// Calls `each` at random times until the run ends or a call of `each` fails.
  template <typename Each>
  void at_random(Random random, double per_s, const Each& each) {
    auto due = static_cast<double>(begin_);
    while (machine_.now() < end_) {
      due += -std::log(uniform_of(random.next())) / per_s * static_cast<double>(model::kSecondNs);
      if (due > static_cast<double>(machine_.now())) machine_.sleep_until(static_cast<TimeNs>(due));
      if (over_ || !each(random)) return;
    }
  }

  void read() {
    const auto file = machine_.vfs().open("read", {});
    if (!machine_.ok(file)) return;
    at_random(Random(asked_.seed + 2000), kReadRate, [&](Random& random) {
      const TimeNs from = machine_.now();
      const std::uint64_t at = random.below(kReadBytes / kChangedBlockBytes) * kChangedBlockBytes;
      if (!machine_.read(*file, at, kChangedBlockBytes)) return false;
      if (from >= warm_) seen_.read_ms.push_back(seconds_of(machine_.now() - from) * 1000);
      return true;
    });
  }

  void change() {
    at_random(Random(asked_.seed + 3000), kChangeRate, [&](Random& random) {
      const TimeNs from = machine_.now();
      const std::uint64_t kind = random.below(10);
      const bool done = kind < 4   ? overwrite()
                        : kind < 6 ? create()
                        : kind < 8 ? append(random.below(kLogs))
                        : kind < 9 ? rename()
                                   : remove();
      if (done && from >= warm_)
        seen_.change_ms.push_back(seconds_of(machine_.now() - from) * 1000);
      return done;
    });
  }

  void returned(Change change) {
    change.returned_at = machine_.now();
    changes_.push_back(change);
  }
  bool write(const std::string& path, Change change) {
    const auto file = machine_.vfs().open(path, {});
    if (!machine_.ok(file)) return false;
    change.number = ++numbers_;
    const bool written = machine_.ok(
        machine_.vfs().pwrite(*file, change.offset, contents(change.number, change.bytes)));
    if (written) returned(change);
    if (written && asked_.synced > 0 && uniform_of(syncs_.next()) < asked_.synced) {
      if (!machine_.ok(machine_.vfs().fsync(*file))) return false;
      changes_.back().promised = true;
    }
    return machine_.ok(machine_.vfs().close(*file)) && written;
  }

  bool overwrite() {
    const std::uint64_t block = blocks_[overwritten_++ % blocks_.size()];
    return write("written", {.kind = Change::Kind::overwrite,
                             .subject = block,
                             .offset = block * kChangedBlockBytes,
                             .bytes = kChangedBlockBytes});
  }
  bool append(std::uint64_t log) {
    const std::uint64_t offset = lengths_.at(log);
    lengths_.at(log) += kRecordBytes;
    return write(
        fmt::format("log{}", log),
        {.kind = Change::Kind::append, .subject = log, .offset = offset, .bytes = kRecordBytes});
  }
  bool create() {
    const std::uint64_t number = files_.size();
    files_.push_back({});
    const auto file = machine_.vfs().open(first_name(number), {.create = true, .exclusive = true});
    if (!machine_.ok(file)) return false;
    returned({.kind = Change::Kind::create, .subject = number});
    return machine_.ok(machine_.vfs().close(*file)) &&
           write(first_name(number),
                 {.kind = Change::Kind::write, .subject = number, .bytes = kFileBytes});
  }
  /// Renames the oldest file that still has its first name.
  bool rename() {
    if (renamed_ >= files_.size()) return true;
    const std::uint64_t number = renamed_++;
    if (files_[number].removal_begun) return true;
    files_[number].renamed = true;
    if (!machine_.ok(
            machine_.vfs().rename(first_name(number), second_name(number), RenameMode::replace)))
      return false;
    returned({.kind = Change::Kind::rename, .subject = number});
    return true;
  }
  /// Removes the newest file. In about half of the cases, the file has never been written to the
  /// disk.
  bool remove() {
    for (std::size_t number = files_.size(); number-- > 0;) {
      FileLife& file = files_[number];
      if (file.removal_begun) continue;
      file.removal_begun = true;
      if (!machine_.ok(
              machine_.vfs().unlink(file.renamed ? second_name(number) : first_name(number))))
        return false;
      returned({.kind = Change::Kind::remove, .subject = number});
      return true;
    }
    return true;
  }

  struct Lost {
    double oldest_s = 0, changes = 0, bytes = 0;
    std::array<double, kChangeKinds.size()> oldest_of_kind_s = {};
  };

  void keep(const Lost& lost) {
    seen_.oldest_s.push_back(lost.oldest_s);
    for (std::size_t kind = 0; kind < kChangeKinds.size(); ++kind)
      seen_.oldest_of_kind_s.at(kind) =
          std::max(seen_.oldest_of_kind_s.at(kind), lost.oldest_of_kind_s.at(kind));
    seen_.lost_changes.push_back(lost.changes);
    seen_.lost_kb.push_back(lost.bytes / 1000);
  }

  /// Cuts the power. All calls by users fail afterwards.
  LossSeen cut() {
    const TimeNs at = machine_.now();
    // Set `over_` before the cut. Otherwise, the user and the reader would continue to work with
    // cached data.
    over_ = true;
    machine_.modelled().cut();
    const auto recovered = machine_.modelled().recover(asked_.repair);
    seen_.modelled_s = seconds_of(machine_.now());
    if (!recovered) {
      seen_.error = recovered.error().message();
      return std::move(seen_);
    }
    seen_.recovery = *recovered;
    if (machine_.modelled().medium() != nullptr) {
      const Lost lost = find_lost(at);
      seen_.cut_oldest_s = lost.oldest_s;
      seen_.cut_lost_changes = lost.changes;
    }
    return std::move(seen_);
  }

  void judge(const adapters::CheckReport& report) {
    const auto beyond = std::ranges::find_if(
        report.findings,
        [&](const adapters::CheckFinding& one) { return !system_.may_leave(one.kind); });
    if (beyond == report.findings.end()) return;
    if (seen_.damaged++ == 0) seen_.first_damage = beyond->text;
  }

  Lost find_lost(TimeNs at) {
    CutImage image(*machine_.modelled().medium());
    const auto repaired = system_.type().checker()->repair(image, {});
    if (!repaired) {
      seen_.error = repaired.error().message();
      return {};
    }
    judge(*repaired);
    const auto reader = system_.type().open_image(image);
    if (!reader) {
      seen_.error = reader.error().message();
      return {};
    }
    const Survivors survivors(**reader, files_);
    if (!survivors.walked()) {
      seen_.error = survivors.walked().error().message();
      return {};
    }
    Lost lost;
    for (const Change& change : changes_) {
      if (!survivors.counts(change)) continue;
      const bool there = survivors.there(change);
      seen_.promised += change.promised ? 1 : 0;
      seen_.broken += change.promised && !there ? 1 : 0;
      if (there) continue;
      const double age_s = seconds_of(at - change.returned_at);
      double& of_kind_s = lost.oldest_of_kind_s.at(static_cast<std::size_t>(change.kind));
      of_kind_s = std::max(of_kind_s, age_s);
      lost.oldest_s = std::max(lost.oldest_s, age_s);
      ++lost.changes;
      lost.bytes += static_cast<double>(change.bytes);
    }
    return lost;
  }

  const LossAsked& asked_;
  LoadedMachine& machine_;
  const adapters::SystemUnderTest& system_;
  TimeNs begin_, warm_, end_;
  Random random_, syncs_;
  std::vector<std::uint64_t> blocks_;  ///< in the order in which they were overwritten
  std::uint64_t overwritten_ = 0, renamed_ = 0, numbers_ = 0;
  std::array<std::uint64_t, kLogs> lengths_ = {};
  std::vector<FileLife> files_;
  std::vector<Change> changes_;
  bool over_ = false;
  os::Account reader_account_{.name = "reader"}, user_account_{.name = "user"};
  LossSeen seen_;
};

}  // namespace

VfsResult<void> make_loss_files(Vfs& vfs) {
  for (std::uint64_t i = 0; i < kFolders; ++i) TRY(vfs.mkdir(folder_of(i), 0755));
  for (std::uint64_t i = 0; i < kLogs; ++i) TRY(make_file(vfs, fmt::format("log{}", i), i, 0));
  TRY(make_file(vfs, "written", 1, kOverwrittenBlocks * kChangedBlockBytes));
  return make_file(vfs, "read", 2, kReadBytes);
}

LossSeen run_loss(const LossAsked& asked) {
  ModelledMachineOptions options = asked.machine;
  if (!options.image) options.populate = make_loss_files;
  LoadedMachine machine(options);
  if (!machine.good()) return {.error = machine.error()};
  return LossRun(asked, machine).run();
}

}  // namespace headcrash::experiment

// Simulates days of office work (office.h).
#include "harness/workload/timed/office.h"

#include <fmt/format.h>

#include <algorithm>

namespace headcrash::timed {
namespace {

constexpr std::uint32_t kFolders = 40;  // per user
constexpr std::size_t kLogs = 3;
constexpr std::uint64_t kLogBytes = 1 << 20;
constexpr std::uint64_t kBlock = Layout::kBlockBytes;
constexpr std::uint64_t kLongestFile = 2 << 20, kMostInPlace = 64 << 10;
constexpr std::uint64_t kTemporaryJobs = 20;
constexpr std::uint32_t kSerialsOfAUser = 1U << 26;
constexpr std::int64_t kHours = 24, kMorning = 9, kWorkingHours = 8;
constexpr std::uint64_t kDaysOfAWeek = 7, kWorkingDays = 5;

std::string folder_of(const std::string& home, std::uint32_t folder) {
  return fmt::format("{}/f{}", home, folder);
}

}  // namespace

std::uint64_t office_file_bytes(RandomSource& random) {
  // The base-2 logarithm of the size has a mean of 11.25 and a standard deviation of 3.17. The
  // constants are in units of 1/4096. The sum of twelve uniform random numbers approximates a
  // normal distribution.
  constexpr std::int64_t kOne = 4096, kMean = 46'080, kDeviation = 12'984;
  std::int64_t sum = -6 * kOne;
  for (int i = 0; i < 12; ++i) sum += static_cast<std::int64_t>(random.below(kOne));
  const auto logarithm = static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(kMean + kDeviation * sum / kOne, kOne, 21 * kOne));
  const std::uint64_t power = std::uint64_t{1} << (logarithm / kOne);
  return std::min(power + power * (logarithm % kOne) / kOne, kLongestFile);
}

OfficeWorker::OfficeWorker(const User& user)
    : user_(user),
      kept_bytes_((argument(user.arguments, "in-use-kib") << 10) /
                  argument(user.arguments, "users")),
      day_bytes_((argument(user.arguments, "written-kib") << 10) /
                 argument(user.arguments, "users")),
      day_ns_(static_cast<std::int64_t>(argument(user.arguments, "day-s")) * kNsPerSecond),
      random_(mixed_seed(user.seed, user.number, 1)) {}

std::string OfficeWorker::home() const {
  return fmt::format("u{}", user_.number);
}

TimedFile OfficeWorker::named(const File& file) const {
  return {.path = fmt::format("{}/{}", folder_of(home(), file.folder), file.serial),
          .number = static_cast<std::uint32_t>(user_.number) * kSerialsOfAUser + file.serial,
          .bytes = file.bytes,
          .rewritten = file.rewritten};
}

TimedFile OfficeWorker::temporary(const File& file) const {
  TimedFile named_so = named(file);
  named_so.path = fmt::format("{}/tmp/{}", home(), file.serial);
  return named_so;
}

std::vector<TimedFile> OfficeWorker::files() const {
  std::vector<File> sorted = files_;
  std::ranges::sort(sorted, {}, &File::changed);
  std::vector<TimedFile> all;
  all.reserve(sorted.size());
  for (const File& file : sorted) all.push_back(named(file));
  return all;
}

OfficeWorker::File OfficeWorker::new_file(std::uint64_t bytes) {
  return {.serial = serial_++,
          .folder = static_cast<std::uint32_t>(random_.below(kFolders)),
          .bytes = bytes,
          .changed = ++changes_};
}

/// Selects four files at random, and returns the one that was changed last.
std::size_t OfficeWorker::worked_on() {
  std::size_t latest = kLogs + random_.below(files_.size() - kLogs);
  for (int i = 1; i < 4; ++i) {
    const std::size_t other = kLogs + random_.below(files_.size() - kLogs);
    if (files_[other].changed > files_[latest].changed) latest = other;
  }
  return latest;
}

PhaseResult OfficeWorker::move_in(FileWork* work) {
  if (work != nullptr) {
    std::vector<std::string> folders{home(), home() + "/tmp"};
    for (std::uint32_t i = 0; i < kFolders; ++i) folders.push_back(folder_of(home(), i));
    for (const std::string& folder : folders) {
      TRY(work->make_folder(folder));
    }
  }
  while (files_.size() <= kLogs || bytes_ < kept_bytes_) {
    const bool log = files_.size() < kLogs;
    if (!log) {
      TRY(make_file(work));
      continue;
    }
    files_.push_back(new_file(0));
    if (work == nullptr) continue;
    TRY(work->create(named(files_.back())));
  }
  return {};
}

PhaseResult OfficeWorker::work_days(std::uint64_t first, std::uint64_t end, FileWork* work) {
  const std::int64_t start_ns = work == nullptr ? 0 : user_.pace.now_ns();
  for (std::uint64_t day = first; day < end; ++day) {
    const std::int64_t midnight_ns = start_ns + static_cast<std::int64_t>(day - first) * day_ns_;
    TRY(work_day(day, midnight_ns, work));
    if (work != nullptr) user_.pace.sleep_until(midnight_ns + day_ns_);
  }
  return {};
}

PhaseResult OfficeWorker::work_day(std::uint64_t day, std::int64_t midnight_ns, FileWork* work) {
  if (day % kDaysOfAWeek >= kWorkingDays) return {};
  written_ = 0;
  while (written_ < day_bytes_) {
    if (work != nullptr) {
      const std::int64_t hours_ns = day_ns_ / kHours * kWorkingHours;
      const auto into_ns = static_cast<std::int64_t>(static_cast<double>(hours_ns) /
                                                     static_cast<double>(day_bytes_) *
                                                     static_cast<double>(written_));
      user_.pace.sleep_until(midnight_ns + day_ns_ / kHours * kMorning + into_ns);
    }
    TRY(job(work));
  }
  return remove_temporaries(work, true);
}

PhaseResult OfficeWorker::job(FileWork* work) {
  ++jobs_;
  const auto doing = [&]() -> PhaseResult {
    const std::uint64_t which = random_.below(20);
    if (which < 7) return make_temporary(work);
    if (which < 11) return make_file(work);
    if (which < 16) return edit(work);
    if (which < 18) return append_to_log(work);
    return overwrite(work);
  };
  TRY(doing());
  TRY(remove_temporaries(work, false));
  return tidy_up(work);
}

PhaseResult OfficeWorker::make_temporary(FileWork* work) {
  const File file = new_file(office_file_bytes(random_));
  temporaries_.push_back({.file = file, .until_job = jobs_ + 1 + random_.below(kTemporaryJobs)});
  written_ += file.bytes;
  return work == nullptr ? PhaseResult{} : work->create(temporary(file));
}

PhaseResult OfficeWorker::remove_temporaries(FileWork* work, bool all) {
  for (std::size_t i = 0; i < temporaries_.size();) {
    if (!all && temporaries_[i].until_job > jobs_) {
      ++i;
      continue;
    }
    const std::string path = temporary(temporaries_[i].file).path;
    temporaries_.erase(temporaries_.begin() + static_cast<std::ptrdiff_t>(i));
    if (work == nullptr) continue;
    TRY(work->remove(path));
  }
  return {};
}

PhaseResult OfficeWorker::make_file(FileWork* work) {
  files_.push_back(new_file(office_file_bytes(random_)));
  bytes_ += files_.back().bytes;
  written_ += files_.back().bytes;
  return work == nullptr ? PhaseResult{} : work->create(named(files_.back()));
}

PhaseResult OfficeWorker::edit(FileWork* work) {
  File& file = files_[worked_on()];
  const std::uint64_t before = file.bytes, quarter = before / 4;
  file.bytes = std::min(before - quarter + random_.below(2 * quarter + 1), kLongestFile);
  file.changed = ++changes_;
  ++file.rewritten;
  bytes_ = bytes_ - before + file.bytes;
  written_ += file.bytes;
  if (work == nullptr) return {};
  const TimedFile target = named(file);
  TimedFile next = target;
  next.path += "~";
  const auto safe = work->with_open(
      next, {.create = true, .exclusive = true}, "create", [&](FileHandle handle) -> PhaseResult {
        TRY(work->write_at(handle, next, 0, next.bytes));
        return FileWork::phase_result(user_.vfs.fsync(handle), "fsync", next.path);
      });
  if (!safe) return safe;
  return FileWork::phase_result(user_.vfs.rename(next.path, target.path, RenameMode::replace),
                                "rename", next.path);
}

PhaseResult OfficeWorker::append_to_log(FileWork* work) {
  const std::size_t which = random_.below(kLogs);
  File& log = files_[which];
  const std::uint64_t bytes = kBlock / 8 + random_.below(2 * kBlock);
  written_ += bytes;
  if (log.bytes > kLogBytes) {
    const std::string old = named(log).path;
    log = new_file(0);
    if (work != nullptr) {
      TRY(work->remove(old));
      TRY(work->create(named(log)));
    }
  }
  const std::uint64_t end = log.bytes;
  log.bytes += bytes;
  log.changed = ++changes_;
  if (work == nullptr) return {};
  const TimedFile file = named(log);
  return work->with_open(file, {}, "open", [&](FileHandle handle) {
    return work->write_at(handle, file, end, bytes);
  });
}

/// Overwrites a range with the bytes that it already contains, so that verification is simple. The
/// blocks are written nevertheless, because no file system under test compares contents.
PhaseResult OfficeWorker::overwrite(FileWork* work) {
  File& file = files_[worked_on()];
  const std::uint64_t offset = random_.below(file.bytes / kBlock + 1) * kBlock;
  const std::uint64_t bytes =
      std::min(file.bytes - std::min(offset, file.bytes), kBlock + random_.below(kMostInPlace));
  file.changed = ++changes_;
  written_ += bytes;
  if (work == nullptr) return {};
  const TimedFile whole = named(file);
  return work->with_open(whole, {}, "open", [&](FileHandle handle) {
    return work->write_at(handle, whole, offset, bytes);
  });
}

PhaseResult OfficeWorker::tidy_up(FileWork* work) {
  while (bytes_ > kept_bytes_ && files_.size() > kLogs + 1) {
    const std::size_t which = kLogs + random_.below(files_.size() - kLogs);
    const std::string path = named(files_[which]).path;
    bytes_ -= files_[which].bytes;
    files_[which] = files_.back();
    files_.pop_back();
    if (work == nullptr) continue;
    TRY(work->remove(path));
  }
  return {};
}

}  // namespace headcrash::timed

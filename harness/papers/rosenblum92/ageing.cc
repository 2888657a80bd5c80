// Generates the load that ages a file system (ageing.h).
#include "harness/papers/rosenblum92/ageing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "harness/papers/rosenblum92/prototype.h"
#include "plugin/base/invariant.h"
#include "plugin/base/random.h"

namespace headcrash::experiment::rosenblum92 {
namespace {

/// Time between the creations of successive initial files. It gives each file a distinct age.
constexpr std::int64_t kBetweenFilesNs = 1000;
constexpr std::uint64_t kSyncedAtOnce = 4 << 20;
constexpr std::uint64_t kWriteBytes = 64 << 10;

/// Returns the value below which the standard normal distribution has the probability `share`.
double normal_quantile(double share) {
  double low = -9, high = 9;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Returns one size per file. The sizes are the midpoints of equally likely parts of the
/// distribution, scaled so that their mean is `file_bytes`.
std::vector<std::uint64_t> sizes_of(const AgeingOptions& options) {
  const auto files =
      static_cast<std::size_t>(std::lround(options.bytes_in_use / options.file_bytes));
  invariant(files > 0, "a load must have files");
  std::vector<double> shape(files);
  for (std::size_t i = 0; i < files; ++i)
    shape[i] = std::exp(options.size_spread * normal_quantile((static_cast<double>(i) + .5) /
                                                              static_cast<double>(files)));
  const auto most = static_cast<double>(options.file_bytes_max);
  const auto sum = [&](double median) {
    double bytes = 0;
    for (const double each : shape) bytes += std::clamp(each * median, 1.0, most);
    return bytes;
  };
  double low = 0, high = options.file_bytes;
  while (sum(high) < options.bytes_in_use && high < most) high *= 2;
  constexpr int kHalvings = 40;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (sum(middle) < options.bytes_in_use ? low : high) = middle;
  }
  std::vector<std::uint64_t> sizes(files);
  for (std::size_t i = 0; i < files; ++i)
    sizes[i] = static_cast<std::uint64_t>(std::llround(std::clamp(shape[i] * low, 1.0, most)));
  return sizes;
}

}  // namespace

const std::vector<ProductionDisk>& production_disks() {
  static const std::vector<ProductionDisk> kAll{
      {"/src/kernel", 1280, .814, 31.2, 4.2, 89754, .740, .296, 1.36},
      {"/local", 500, .552, 37.1, 2.0, 78803, .362, .205, 1.88},
      {"/swap1", 633, .383, 88.3, 13.1, 100095, .463, .281, 1.81},
      {"/tmp", 287, .216, 23.7, 1.7, 13962, .832, .144, 1.20},
      {"/pcs", 990, .631, 10.5, 2.1, 37294, .583, .177, 1.53},
      {"/src", 954, .722, 16.7, 1.6, 17831, .704, .280, 1.41},
      {"/X11", 954, .698, 44.2, .8, 11569, .612, .552, 1.77},
      {"/user1", 633, .731, 8.9, 2.9, 34163, .509, .321, 1.77},
      {"/user4", 631, .784, 24.9, 1.6, 21906, .562, .328, 1.68},
      {"/user6", 1280, .739, 23.1, 4.4, 98752, .701, .210, 1.39},
      {"/user5", 954, .711, 20.3, 2.9, 12155, .612, .226, 1.52},
  };
  return kAll;
}

const ProductionDisk& production_disk(const std::string& name) {
  const auto found = std::ranges::find(production_disks(), name, &ProductionDisk::name);
  invariant(found != production_disks().end(), "the file system must be in table 6-2");
  return *found;
}

AgeingOptions ageing_of(const ProductionDisk& disk) {
  constexpr double kKilobyte = 1024;
  AgeingOptions options{.bytes_in_use = disk.megabytes * kMegabyte * disk.in_use,
                        .file_bytes = disk.file_kilobytes * kKilobyte,
                        .bytes_per_hour = disk.megabytes_per_hour * kMegabyte};
  if (disk.name == "/swap1") {
    options.sparseness = 4;
    options.in_place = .5;
  }
  return options;
}

Ageing::Ageing(const AgeingOptions& options) : options_(options), sizes_(sizes_of(options)) {
  Random random(options.seed);
  // Shuffles the sizes (Fisher-Yates).
  for (std::size_t i = sizes_.size(); i > 1; --i) std::swap(sizes_[i - 1], sizes_[random.below(i)]);
  const double written_each_time = 1 - options.in_place * (1 - options.blocks_in_place);
  mean_lifetime_hours_ = static_cast<double>(bytes_in_use()) * written_each_time /
                         options.bytes_per_hour / (1 - options.folder_share);
  const double variance = options.lifetime_spread * options.lifetime_spread;
  median_lifetime_hours_ = mean_lifetime_hours_ * std::exp(-variance / 2);
  // At the start, each file is in the middle of its life. A long life is more likely to be in
  // progress than a short one; the factor exp(variance) accounts for this. The file's age is
  // uniformly distributed over its life.
  const auto files = static_cast<std::uint32_t>(sizes_.size());
  groups_ = (files + options.files_together - 1) / options.files_together;
  if (options.folder_share > 0) {
    invariant(options.files_together == 1, "if folder_share is set, files_together must be 1");
    folders_ = (files + options.files_per_folder - 1) / options.files_per_folder;
  }
  std::vector<double> ages(groups_);
  for (std::uint32_t unit = 0; unit < groups_ + folders_; ++unit) {
    const double life = lifetime(unit, 0) * std::exp(variance);
    const double age = life * uniform_of(random.next());
    deaths_.push({life - age, unit, 0});
    if (!is_folder(unit)) {
      ages[unit] = age;
      continue;
    }
    // A file is as old as the later of its last rewrite and its folder's last removal.
    const auto [first, end] = files_of(unit);
    for (std::uint32_t number = first; number < end; ++number)
      ages[number] = std::min(ages[number], age);
  }
  by_age_.resize(groups_);
  std::iota(by_age_.begin(), by_age_.end(), 0U);
  std::ranges::stable_sort(by_age_,
                           [&](std::uint32_t a, std::uint32_t b) { return ages[a] > ages[b]; });
  if (options.hours > 0) stretch();
}

std::uint64_t Ageing::bytes_in_use() const {
  return std::accumulate(sizes_.begin(), sizes_.end(), std::uint64_t{0});
}

Random Ageing::drawn(std::uint32_t number, std::uint32_t life) const {
  return Random(Random(options_.seed ^ (std::uint64_t{number} << 32U | life)).next());
}

double Ageing::lifetime(std::uint32_t unit, std::uint32_t life) const {
  // This bit separates the random numbers of units from those of files.
  constexpr std::uint32_t kUnit = 1U << 31;
  Random random = drawn(unit | kUnit, life);
  const double hours =
      median_lifetime_hours_ * std::exp(options_.lifetime_spread * normal_of(random));
  // The rates of removals and rewrites have the ratio of their shares.
  return is_folder(unit) ? hours * (1 - options_.folder_share) / options_.folder_share : hours;
}

/// Scales all times. Simulates the load without a file system to determine the amount that it
/// writes in the given period.
void Ageing::stretch() {
  const double wanted = options_.bytes_per_hour * options_.hours;
  Deaths deaths = deaths_;
  double written = 0, reached = 0;
  while (written < wanted) {
    const Death death = deaths.top();
    deaths.pop();
    const auto [first, end] = files_of(death.unit);
    for (std::uint32_t number = first; number < end; ++number)
      written += static_cast<double>(bytes_at_end(number, death));
    reached = death.at_hours;
    deaths.push(next(death));
  }
  const double factor = options_.hours / reached;
  mean_lifetime_hours_ *= factor;
  median_lifetime_hours_ *= factor;
  Deaths stretched;
  for (; !deaths_.empty(); deaths_.pop()) {
    const Death& death = deaths_.top();
    stretched.push({death.at_hours * factor, death.unit, death.life});
  }
  deaths_ = std::move(stretched);
}

std::pair<std::uint32_t, std::uint32_t> Ageing::files_of(std::uint32_t unit) const {
  const std::uint32_t each = is_folder(unit) ? options_.files_per_folder : options_.files_together;
  const std::uint32_t first = (is_folder(unit) ? unit - groups_ : unit) * each;
  return {first, std::min(first + each, static_cast<std::uint32_t>(sizes_.size()))};
}

std::optional<std::vector<std::uint64_t>> Ageing::blocks_in_place(std::uint32_t number,
                                                                  std::uint32_t life) const {
  Random random = drawn(number, life);
  if (uniform_of(random.next()) >= options_.in_place) return std::nullopt;
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t i = 0; i < blocks_of(number); ++i)
    if (uniform_of(random.next()) < options_.blocks_in_place) blocks.push_back(i);
  return blocks;
}

std::uint64_t Ageing::bytes_at_end(std::uint32_t number, const Death& death) const {
  if (is_folder(death.unit)) return sizes_[number];
  const auto blocks = blocks_in_place(number, death.life);
  return blocks ? blocks->size() * options_.block_bytes : sizes_[number];
}

std::string Ageing::path(std::uint32_t file) const {
  return fmt::format("d{}/f{}", file / options_.files_per_folder, file);
}

os::TimeNs Ageing::model_time(double hours) const {
  const double whole = std::floor(hours);
  return static_cast<os::TimeNs>((whole + (hours - whole) * options_.busy_share) * kHourNs);
}

std::uint64_t Ageing::sparse_offset(std::uint32_t file, std::uint64_t block) const {
  const std::uint64_t within =
      Random(std::uint64_t{file} << 32U | block).below(options_.sparseness);
  return (block * options_.sparseness + within) * options_.block_bytes;
}

namespace {

/// Returns the data to write. It is always zeroes, because only the placement of data matters.
std::span<const std::byte> zeroes(std::uint64_t bytes) {
  static const std::vector<std::byte> kZeroes(kWriteBytes);
  return std::span(kZeroes).first(bytes);
}

}  // namespace

VfsResult<void> Ageing::write_whole(Vfs& vfs, FileHandle file, std::uint32_t number) const {
  const std::uint64_t size = sizes_[number];
  VfsResult<void> written;
  if (options_.sparseness == 1) {
    for (std::uint64_t at = 0; written && at < size; at += kWriteBytes)
      written = vfs.pwrite(file, at, zeroes(std::min(kWriteBytes, size - at)));
    return written;
  }
  std::vector<std::uint64_t> order(blocks_of(number));
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  Random random(number);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  for (std::size_t i = 0; written && i < order.size(); ++i)
    written = vfs.pwrite(file, sparse_offset(number, order[i]), zeroes(options_.block_bytes));
  return written;
}

VfsResult<void> Ageing::write_blocks(Vfs& vfs, std::uint32_t number,
                                     const std::vector<std::uint64_t>& blocks) const {
  TRY(const auto file, vfs.open(path(number), {}));
  VfsResult<void> written;
  for (std::size_t i = 0; written && i < blocks.size(); ++i)
    written = vfs.pwrite(file, sparse_offset(number, blocks[i]), zeroes(options_.block_bytes));
  const auto closed = vfs.close(file);
  return written ? closed : written;
}

bool Ageing::keeps_name(std::uint32_t number, const Death& death) const {
  if (options_.folder_share > 0) return !is_folder(death.unit);
  // This bit separates the random numbers that decide about the name from those that select blocks.
  constexpr std::uint32_t kName = 1U << 30;
  Random random = drawn(number | kName, death.life);
  return uniform_of(random.next()) < options_.overwritten;
}

VfsResult<void> Ageing::begin_life(Vfs& vfs, std::uint32_t number, const Death& death) {
  bytes_written_ += bytes_at_end(number, death);
  if (!is_folder(death.unit))
    if (const auto blocks = blocks_in_place(number, death.life))
      return write_blocks(vfs, number, *blocks);
  const bool same_name = keeps_name(number, death);
  if (!same_name) TRY(vfs.unlink(path(number)));
  TRY(const auto file, vfs.open(path(number), {.create = !same_name, .truncate = same_name}));
  const auto written = write_whole(vfs, file, number);
  const auto closed = vfs.close(file);
  return written ? closed : written;
}

VfsResult<void> Ageing::populate(Vfs& vfs) const {
  const std::size_t folders =
      (sizes_.size() + options_.files_per_folder - 1) / options_.files_per_folder;
  VfsResult<void> done;
  for (std::size_t i = 0; done && i < folders; ++i) done = vfs.mkdir(fmt::format("d{}", i), 0755);
  std::uint64_t bytes = 0;
  for (const std::uint32_t group : by_age_) {
    const auto [first, end] = files_of(group);
    for (std::uint32_t number = first; done && number < end; ++number) {
      TRY(const auto file, vfs.open(path(number), {.create = true, .exclusive = true}));
      done = write_whole(vfs, file, number);
      if (auto closed = vfs.close(file); done && !closed) done = closed;
      vfs.cpu(kBetweenFilesNs);
      bytes += sizes_[number];
      if (done && bytes >= kSyncedAtOnce) {
        done = vfs.syncfs();
        bytes = 0;
      }
    }
  }
  return done;
}

VfsResult<void> Ageing::run_until(Vfs& vfs, os::Executor& executor, os::TimeNs until) {
  while (model_time(deaths_.top().at_hours) < until) {
    const Death death = deaths_.top();
    deaths_.pop();
    executor.sleep_until(std::max(executor.now(), model_time(death.at_hours)));
    const auto [first, end] = files_of(death.unit);
    if (is_folder(death.unit)) {
      ++removals_;
      files_removed_ += end - first;
      for (std::uint32_t number = first; number < end; ++number) bytes_removed_ += sizes_[number];
    }
    for (std::uint32_t number = first; number < end; ++number) TRY(begin_life(vfs, number, death));
    deaths_.push(next(death));
  }
  executor.sleep_until(std::max(executor.now(), until));
  return {};
}

}  // namespace headcrash::experiment::rosenblum92

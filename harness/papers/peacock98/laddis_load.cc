// Creates the file set, issues the requests, and collects their results (laddis_load.h).
#include "harness/papers/peacock98/laddis_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "plugin/base/random.h"

namespace headcrash::experiment::peacock98 {
namespace {

using os::TimeNs;
using timed::laddis_load::kFileKib;
using timed::laddis_load::kFilesPerFolder;
using timed::laddis_load::kFilesPerLink;
using timed::laddis_load::kKibPerOperation;
using timed::laddis_load::kTransferBytes;
using timed::laddis_load::kUsedShare;

constexpr std::uint64_t kFileBytes = kFileKib << 10, kFileBlocks = kFileBytes / kTransferBytes;
constexpr double kSecondsThatWait = 2;
/// Number of files that a process creates between two syncs, chosen so that dirty blocks fit into
/// kImageCacheBytes.
constexpr std::uint64_t kFilesBetweenSyncs = 2;
constexpr std::uint64_t kModeSlot = ~std::uint64_t{0};
/// Number of distinct modes that set_attributes uses, starting with 0400.
constexpr std::uint32_t kModes = 0200;

/// The first bytes of each block that a request writes.
struct Stamp {
  std::uint64_t version = 0, file = 0, block = 0;
};

}  // namespace

struct LaddisLoad::Written {
  std::uint64_t slot = 0, version = 0;  ///< `slot` is a block number or kModeSlot
  TimeNs arrived_at = 0, replied_at = 0;
};

struct LaddisLoad::Used {
  std::string handle, name;
  std::size_t folder = 0;
  std::uint64_t bytes = kFileBytes;
  std::vector<Written> history = {};
};

struct LaddisLoad::Made {
  std::size_t top = 0;
  std::string name;
  bool there = false, removing = false, removed = false;
};

FileSet FileSet::of(double operations_per_s) {
  const auto files = static_cast<std::uint64_t>(
      operations_per_s * static_cast<double>(kKibPerOperation) / static_cast<double>(kFileKib));
  return {.files_of_process = std::max<std::uint64_t>(1, files / kProcesses)};
}

std::uint64_t FileSet::used_of_process() const {
  return std::max<std::uint64_t>(1, files_of_process / kUsedShare);
}

std::string FileSet::folder(std::uint64_t process, std::uint64_t file) const {
  return fmt::format("p{}/d{}", process, file / kFilesPerFolder);
}

std::string FileSet::path(std::uint64_t process, std::uint64_t file) const {
  return fmt::format("{}/f{}", folder(process, file), file);
}

std::string FileSet::link(std::uint64_t process, std::uint64_t number) const {
  return fmt::format("p{}/l{}", process, number);
}

VfsResult<void> FileSet::make(Vfs& vfs, const std::function<void()>& forget_data,
                              std::uint64_t files_there) const {
  const std::vector<std::byte> zeroes(kFileBytes);
  for (std::uint64_t process = 0; process < kProcesses && files_there == 0; ++process)
    TRY(vfs.mkdir(fmt::format("p{}", process), 0755));
  for (std::uint64_t file = files_there; file < files_of_process; ++file) {
    // Limit the number of dirty blocks. If the cache were full of dirty blocks, each search for a
    // block to write would take long.
    if (file % kFilesBetweenSyncs == kFilesBetweenSyncs - 1) {
      if (forget_data) forget_data();
      TRY(vfs.syncfs());
    }
    for (std::uint64_t process = 0; process < kProcesses; ++process) {
      if (file % kFilesPerFolder == 0) TRY(vfs.mkdir(folder(process, file), 0755));
      TRY(const auto handle, vfs.open(path(process, file), {.create = true}));
      TRY(vfs.pwrite(handle, 0, zeroes));
      TRY(vfs.close(handle));
      if (file % kFilesPerLink == 0)
        TRY(vfs.symlink(path(process, file), link(process, file / kFilesPerLink)));
    }
  }
  return {};
}

LaddisLoad::LaddisLoad(ModelledMachine& machine, const LaddisOptions& options, std::uint64_t seed)
    : machine_(machine),
      options_(options),
      set_(FileSet::of(options.operations_per_s)),
      random_(seed) {
  std::uint64_t percent = 0;
  for (const std::uint64_t each : options_.percent_of_kind) percent += each;
  if (percent == 0) options_.percent_of_kind = timed::laddis_load::kPercentOfKind;
}

LaddisLoad::~LaddisLoad() = default;

std::uint64_t LaddisLoad::folders_of_process() const {
  return FileSet::file_of_used(set_.used_of_process() - 1) / kFilesPerFolder + 1;
}

std::uint64_t LaddisLoad::links_of_process() const {
  return FileSet::file_of_used(set_.used_of_process() - 1) / kFilesPerLink + 1;
}

std::size_t LaddisLoad::folder_of(std::uint64_t process, std::uint64_t file) const {
  return process * folders_of_process() + file / kFilesPerFolder;
}

void LaddisLoad::fail_with(const char* what, int error) {
  if (outcome_.error.empty()) outcome_.error = fmt::format("{} failed: errno {}", what, error);
  stops_ = true;
}

/// Looks up the handles of a process's files, and reads the data of these files into memory.
void LaddisLoad::find(std::uint64_t process) {
  Vfs& vfs = machine_.vfs();
  const auto handle_of = [&](const std::string& path) -> std::string {
    const auto status = vfs.stat(path);
    if (!status) return fail_with(path.c_str(), status.error().value), std::string();
    return InodeName{.inode = status->inode, .generation = status->generation}.path();
  };
  const std::uint64_t used = set_.used_of_process();
  tops_[process] = handle_of(fmt::format("p{}", process));
  std::vector<std::byte> bytes(64 << 10);
  for (std::uint64_t at = 0; at < used && !stops_; ++at) {
    const std::uint64_t file = FileSet::file_of_used(at);
    std::string& folder = folders_[folder_of(process, file)];
    if (folder.empty()) folder = handle_of(set_.folder(process, file));
    std::string& link = links_[process * links_of_process() + file / kFilesPerLink];
    if (link.empty()) link = handle_of(set_.link(process, file / kFilesPerLink));
    Used& one = used_[process * used + at];
    one = {.handle = handle_of(set_.path(process, file)),
           .name = fmt::format("f{}", file),
           .folder = folder_of(process, file)};
    if (stops_ || bytes_read_before_ >= options_.read_before_bytes) continue;
    bytes_read_before_ += kFileBytes;
    const auto open = vfs.open(one.handle, {});
    if (!open) return fail_with("open", open.error().value);
    for (std::uint64_t offset = 0; offset < kFileBytes; offset += bytes.size())
      if (const auto got = vfs.pread(*open, offset, bytes); !got)
        return fail_with("read", got.error().value);
    if (const auto closed = vfs.close(*open); !closed)
      return fail_with("close", closed.error().value);
  }
}

bool LaddisLoad::begin() {
  const std::uint64_t used = set_.used_of_process();
  used_.resize(used * FileSet::kProcesses);
  tops_.resize(FileSet::kProcesses);
  folders_.resize(FileSet::kProcesses * folders_of_process());
  links_.resize(FileSet::kProcesses * links_of_process());
  os::Executor& executor = machine_.system().executor;
  for (std::uint64_t process = 0; process < FileSet::kProcesses; ++process) {
    accounts_.push_back({.name = fmt::format("reader {}", process)});
    executor.spawn(os::Executor::Kind::user, accounts_.back(), [this, process] { find(process); });
  }
  executor.run();
  if (!outcome_.error.empty()) return false;
  front_ = std::make_unique<NfsFront>(
      executor, machine_.vfs(), options_.front,
      [this](const NfsRequest& request, const NfsReply& reply) { replied(request, reply); });
  counts_from_ = machine_.now() + options_.warm_ns;
  counts_until_ = counts_from_ + options_.measured_ns;
  front_->start();
  accounts_.push_back({.name = "clients"});
  executor.spawn(os::Executor::Kind::user, accounts_.back(), [this] { generate(); });
  return true;
}

void LaddisLoad::generate() {
  os::Executor& executor = machine_.system().executor;
  const double mean_ns = static_cast<double>(model::kSecondNs) / options_.operations_per_s;
  const auto most_waiting =
      static_cast<std::size_t>(options_.operations_per_s * kSecondsThatWait) + 100;
  auto due = static_cast<double>(executor.now());
  bool counts = false;
  while (!stops_ && !executor.halted()) {
    due -= std::log(uniform_of(random_())) * mean_ns;
    executor.sleep_until(static_cast<TimeNs>(due));
    if (stops_ || executor.halted()) break;
    if (!counts && executor.now() >= counts_from_) {
      counts = true;
      take_snapshot(true);
    }
    if (executor.now() >= counts_until_) break;
    arrived_ += counts ? 1 : 0;
    if (options_.goes_on && front_->waiting() > most_waiting) {
      outcome_.saturated = true;
    } else if (!front_->submit(draw()) || front_->waiting() > most_waiting) {
      outcome_.saturated = true;
      if (!options_.goes_on) break;
    }
  }
  counts_until_ = std::min(counts_until_, executor.now());
  if (counts) take_snapshot(false);
  if ((outcome_.saturated && !options_.goes_on) || stops_)
    front_->abort();
  else
    front_->close();
}

void LaddisLoad::draw_write(NfsRequest& request, std::uint64_t at) {
  Used& file = used_[at];
  request.offset = below(file.bytes / kTransferBytes) * kTransferBytes;
  if (below(100) < options_.append_percent && file.bytes < 2 * kFileBytes) {
    request.offset = file.bytes;
    file.bytes += kTransferBytes;
  }
  request.data.resize(kTransferBytes);
  const Stamp stamp{.version = ++versions_, .file = at, .block = request.offset / kTransferBytes};
  std::memcpy(request.data.data(), &stamp, sizeof stamp);
  request.tag = file.history.size();
  if (options_.keeps_history)
    file.history.push_back(
        {.slot = stamp.block, .version = stamp.version, .arrived_at = machine_.now()});
}

NfsRequest LaddisLoad::draw() {
  std::uint64_t drawn = below(100);
  std::size_t kind = 0;
  while (drawn >= options_.percent_of_kind[kind]) drawn -= options_.percent_of_kind[kind++];
  NfsRequest request{.kind = static_cast<NfsKind>(kind)};
  const std::uint64_t at = below(used_.size());
  Used& file = used_[at];
  request.object = file.handle;
  while (!made_.empty() && made_.front().removed) {
    made_.pop_front();
    ++first_made_;
  }
  const auto oldest =
      std::ranges::find_if(made_, [](const Made& one) { return one.there && !one.removing; });
  if (request.kind == NfsKind::remove && oldest == made_.end())
    request.kind = NfsKind::get_attributes;
  switch (request.kind) {
    case NfsKind::lookup:
      request.directory = folders_[file.folder];
      request.name = file.name;
      break;
    case NfsKind::read:
      // Read only within the initial size of the file, because earlier appends may not have been
      // executed yet.
      request.offset = below(kFileBlocks) * kTransferBytes;
      request.bytes = kTransferBytes;
      request.tag = at;
      break;
    case NfsKind::write:
      draw_write(request, at);
      request.name = file.name;
      request.bytes = static_cast<std::uint32_t>(at);
      break;
    case NfsKind::read_link:
      request.object = links_[below(links_.size())];
      break;
    case NfsKind::read_directory:
      request.object = folders_[file.folder];
      break;
    case NfsKind::create: {
      const std::size_t top = at % tops_.size();
      request.tag = first_made_ + made_.size();
      made_.push_back({.top = top, .name = fmt::format("n{}", request.tag)});
      request.directory = tops_[top];
      request.name = made_.back().name;
      break;
    }
    case NfsKind::remove:
      oldest->removing = true;
      request.tag = first_made_ + static_cast<std::uint64_t>(oldest - made_.begin());
      request.directory = tops_[oldest->top];
      request.name = oldest->name;
      break;
    case NfsKind::set_attributes: {
      const std::uint64_t version = ++versions_ % kModes;
      request.mode = 0400U + static_cast<std::uint32_t>(version);
      request.tag = file.history.size();
      request.bytes = static_cast<std::uint32_t>(at);
      if (options_.keeps_history)
        file.history.push_back(
            {.slot = kModeSlot, .version = version, .arrived_at = machine_.now()});
      break;
    }
    case NfsKind::get_attributes:
    case NfsKind::space:
      break;
  }
  return request;
}

void LaddisLoad::replied(const NfsRequest& request, const NfsReply& reply) {
  if (reply.error != 0) {
    if (machine_.has_power())
      fail_with(request.name.empty() ? "a request" : request.name.c_str(), reply.error);
    return;
  }
  const TimeNs now = machine_.now();
  if (request.kind == NfsKind::read) {
    Stamp stamp;
    if (reply.data.size() != kTransferBytes) return fail_with("a read with a short reply", 0);
    std::memcpy(&stamp, reply.data.data(), sizeof stamp);
    if (stamp.version != 0 &&
        (stamp.file != request.tag || stamp.block != request.offset / kTransferBytes))
      return fail_with("a read that returned another block's data", 0);
  }
  if (options_.keeps_history &&
      (request.kind == NfsKind::write || request.kind == NfsKind::set_attributes))
    used_[request.bytes].history[request.tag].replied_at = now;
  if (request.kind == NfsKind::create || request.kind == NfsKind::remove) {
    Made& made = made_[request.tag - first_made_];
    (request.kind == NfsKind::create ? made.there : made.removed) = true;
  }
  replied_ += measuring(now) ? 1 : 0;
  if (!measuring(request.arrived_at)) return;
  const auto kib = static_cast<TimeNs>((request.data.size() + reply.data.size()) >> 10);
  const TimeNs response = now - request.arrived_at + kib * options_.network_per_kib_ns;
  responses_.record(response);
  ++outcome_.requests;
  if (request.kind == NfsKind::create) ++outcome_.creates;
  if (request.kind == NfsKind::remove) ++outcome_.removes;
  if (request.kind != NfsKind::write) return;
  ++outcome_.writes;
  writes_ns_ += static_cast<double>(response);
}

void LaddisLoad::take_snapshot(bool begins) {
  // Assigned in two steps, because g++ 12 loses `this` if a braced list is assigned to the
  // conditional expression.
  Snapshot& snapshot = begins ? before_ : after_;
  snapshot.drives = machine_.device_counters();
  snapshot.array =
      machine_.array() == nullptr ? model::ArrayCounters() : machine_.array()->array_counters();
  snapshot.hits = machine_.write_hits();
  snapshot.front = front_->counters();
  snapshot.cpu_ns = machine_.system().cpu.busy_ns();
  snapshot.at = machine_.now();
}

LaddisOutcome LaddisLoad::outcome() const {
  constexpr double kMs = 1e-6;
  LaddisOutcome made = outcome_;
  made.offered_per_s = options_.operations_per_s;
  const double seconds = seconds_of(after_.at - before_.at);
  made.modelled_s = seconds_of(machine_.now());
  if (seconds <= 0) return made;
  made.achieved_per_s = static_cast<double>(replied_) / seconds;
  made.arrived_per_s = static_cast<double>(arrived_) / seconds;
  const LatencySummary summary = responses_.summary();
  made.mean_ms = summary.mean_ns * kMs;
  made.p50_ms = static_cast<double>(summary.p50_ns) * kMs;
  made.p95_ms = static_cast<double>(responses_.quantile_ns(.95)) * kMs;
  made.p99_ms = static_cast<double>(summary.p99_ns) * kMs;
  if (made.writes > 0) made.writes_mean_ms = writes_ns_ / static_cast<double>(made.writes) * kMs;
  made.front = front_->counters();
  made.drives = after_.drives;
  made.drives.reads -= before_.drives.reads;
  made.drives.writes -= before_.drives.writes;
  made.drives.sectors_read -= before_.drives.sectors_read;
  made.drives.sectors_written -= before_.drives.sectors_written;
  made.drives.media_writes -= before_.drives.media_writes;
  made.drives.busy_ns -= before_.drives.busy_ns;
  made.hits = after_.hits;
  for (std::size_t i = 0; i < made.hits.size() && i < before_.hits.size(); ++i) {
    made.hits[i].writes -= before_.hits[i].writes;
    made.hits[i].dirty_hits -= before_.hits[i].dirty_hits;
    made.hits[i].block_hits -= before_.hits[i].block_hits;
  }
  made.array = after_.array;
  made.array.full_stripe_writes -= before_.array.full_stripe_writes;
  made.array.read_modify_writes -= before_.array.read_modify_writes;
  made.array.reconstruct_writes -= before_.array.reconstruct_writes;
  made.array.prewrites -= before_.array.prewrites;
  made.cpu_busy = seconds_of(after_.cpu_ns - before_.cpu_ns) / seconds;
  made.drives_busy = seconds_of(made.drives.busy_ns) / seconds;
  return made;
}

LaddisOutcome LaddisLoad::run_out() {
  machine_.system().executor.run();
  return outcome();
}

LaddisOutcome LaddisLoad::run_and_cut(TimeNs for_ns) {
  machine_.system().executor.run_until(machine_.now() + for_ns);
  counts_until_ = std::min(counts_until_, machine_.now());
  take_snapshot(false);
  stops_ = true;
  front_->abort();
  machine_.cut();
  return outcome();
}

/// Returns the broken promises. A slot must not contain the write `found` if an acknowledged write
/// to the slot arrived after the reply to `found`. An acknowledged write that arrived earlier may
/// be missing, because the two writes may have overlapped.
std::vector<std::string> LaddisLoad::broken_promises() {
  std::vector<std::string> broken;
  if (!options_.keeps_history) return broken;
  Vfs& vfs = machine_.vfs();
  const auto judge = [&](const Used& file, std::uint64_t slot, std::uint64_t found) {
    // Time of the reply to the write that produced `found`. INT64_MAX if there was no reply; 0 if
    // the load did not write `found`.
    TimeNs until = 0;
    for (const Written& one : file.history)
      if (one.slot == slot && one.version == found)
        until = one.replied_at == 0 ? os::TimeNs{INT64_MAX} : one.replied_at;
    for (const Written& one : file.history)
      if (one.slot == slot && one.replied_at != 0 && one.arrived_at > until)
        return broken.push_back(
            fmt::format("{}: slot {} has version {} instead of the acknowledged version {}",
                        file.name, static_cast<std::int64_t>(slot), found, one.version));
  };
  os::Account account{.name = "auditor"};
  machine_.system().run_as(account, [&] {
    std::vector<std::byte> bytes(kTransferBytes);
    for (std::size_t at = 0; at < used_.size(); ++at) {
      const Used& file = used_[at];
      if (file.history.empty()) continue;
      const auto status = vfs.stat(file.handle);
      const auto open = vfs.open(file.handle, {});
      if (!status || !open) {
        broken.push_back(file.name + " is gone");
        continue;
      }
      judge(file, kModeSlot, status->mode - 0400U);
      for (std::uint64_t block = 0; block < file.bytes / kTransferBytes; ++block) {
        Stamp stamp;
        const auto got = vfs.pread(*open, block * kTransferBytes, bytes);
        if (got && *got >= sizeof stamp) std::memcpy(&stamp, bytes.data(), sizeof stamp);
        judge(file, block, stamp.version);
      }
      (void)vfs.close(*open);
    }
    for (const Made& made : made_) {
      const bool there = vfs.stat(tops_[made.top] + "/" + made.name).has_value();
      if (made.there && !made.removing && !there)
        broken.push_back(made.name + ": is missing, although its creation was acknowledged");
      if (made.removed && there)
        broken.push_back(made.name + ": exists, although its removal was acknowledged");
    }
  });
  return broken;
}

}  // namespace headcrash::experiment::peacock98

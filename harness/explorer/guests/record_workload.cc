// Records mkfs, workloads and applications on a stage (record_workload.h).
#include "harness/explorer/guests/record_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "harness/explorer/guests/application_run.h"
#include "harness/explorer/guests/check_state.h"
#include "harness/explorer/guests/match_issuers.h"
#include "harness/explorer/guests/slow_writes.h"
#include "harness/oracle/list_of_tree.h"
#include "harness/oracle/oracle.h"
#include "plugin/base/printable.h"
#include "plugin/base/text_file.h"
#include "plugin/record/recording.h"

namespace headcrash::explorer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBeginMark = "phase workload";
constexpr std::string_view kEndMark = "phase end";
constexpr std::string_view kPowerCrash = "power";
constexpr std::string_view kFailedWord = "#failed ";
constexpr std::string_view kEarlierFailedWord =
    "#mishap ";  // word that earlier versions wrote; has the same length as kFailedWord

/// The range of events in which the workload ran. An event number is the number of events that
/// precede a point in the recording.
struct Bounds {
  std::uint64_t from = 0, to = 0;
  std::vector<std::size_t> persisted;  ///< operations named by the marks in this range
};

Result<Bounds> find_bounds(const fs::path& recording) {
  TRY(auto reader, record::RecordingReader::open(recording));
  Bounds bounds;
  std::optional<std::uint64_t> end;
  std::uint64_t ordinal = 0;
  for (;; ++ordinal) {
    TRY(const auto event, reader.next());
    if (!event) break;
    // In the recording of a campaign's trial, the workload ends with the power cut; the recovery
    // follows in the same recording.
    if (event->kind == record::Kind::power && event->detail == 0 && bounds.from > 0 && !end)
      end = ordinal;
    if (event->kind != record::Kind::mark) continue;
    const std::string_view text(reinterpret_cast<const char*>(event->payload.data()),
                                event->payload.size());
    if (text == kBeginMark) bounds.from = ordinal + 1;
    if (const auto operation = workload::parse_persisted_mark(text))
      bounds.persisted.push_back(*operation);
    if (text == kEndMark && !end) end = ordinal;
  }
  bounds.to = end.value_or(ordinal);
  return bounds;
}

Result<workload::FailedOperation> parse_failed_operation(std::string_view line,
                                                         const std::string& subject) {
  line.remove_prefix(kFailedWord.size());
  workload::FailedOperation failed;
  const auto number = std::from_chars(line.data(), line.data() + line.size(), failed.operation);
  const std::string_view outcome = line.substr(static_cast<std::size_t>(number.ptr - line.data()));
  if (number.ec != std::errc{} || (outcome != " skipped" && outcome != " partial"))
    return fail(subject, "use \"#failed N skipped\" or \"#failed N partial\"");
  if (outcome == " partial") failed.outcome = workload::Outcome::partial;
  return failed;
}

Result<void> read_operations(RecordedWorkload& workload) {
  const fs::path path = operations_file(workload.recording);
  std::error_code error;
  if (!fs::exists(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail(path.string(), "cannot be read");
  TRY(auto operations, workload::parse_operations(text, path.string()));
  workload.operations = std::move(operations);
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!line.starts_with(kFailedWord) && !line.starts_with(kEarlierFailedWord)) continue;
    TRY(const auto failed,
        parse_failed_operation(line, fmt::format("{}:{}", path.string(), number)));
    workload.failed_operations.push_back(failed);
  }
  return {};
}

Result<void> check_size_of_request(const std::vector<workload::Operation>& operations,
                                   const std::string& file_name) {
  // Maximum size of a request that the agent's protocol permits, minus a margin for the other parts
  // of the request.
  constexpr std::size_t kRequestBytesMost = (1U << 20U) - 4096;
  std::size_t bytes = 0;
  for (const workload::Operation& operation : operations)
    bytes += nlohmann::json(workload::format(operation)).dump().size() + 1;
  if (bytes <= kRequestBytesMost) return {};
  return fail(file_name,
              fmt::format("requires a request of {} bytes to the guest; the limit is {}", bytes,
                          kRequestBytesMost),
              "shorten it, for example with fill:BYTES for a long attribute value");
}

}  // namespace

Result<void> check_list(const std::string& text, const std::string& file_name,
                        const adapters::Promises& promises) {
  TRY(auto operations, workload::parse_operations(text, file_name));
  TRY(check_size_of_request(operations, file_name));
  // The oracle can follow the list only up to its first crash, because the state after a crash is
  // not known in advance.
  const auto crash =
      std::ranges::find(operations, workload::Operation::Kind::crash, &workload::Operation::kind);
  operations.erase(crash, operations.end());
  TRY(oracle::Oracle::follow(
      operations, {.promises = promises, .subjects = workload::subjects_of(text, file_name)}));
  return {};
}

namespace {

Result<void> check_belongs(const RecordedWorkload& workload,
                           const std::vector<std::size_t>& persisted) {
  if (workload.operations.empty()) return {};
  for (const std::size_t number : persisted) {
    const bool there = number < workload.operations.size();
    if (there && workload::is_persistence_point(workload.operations[number])) continue;
    return fail(
        workload.recording.string(),
        fmt::format(
            "has the mark \"{}\", but the list of operations {}; the list belongs to another run",
            workload::persisted_mark(number),
            there ? fmt::format("has \"{}\" at this position (counted from 0)",
                                workload::format(workload.operations[number]))
                  : fmt::format("has only {} operations", workload.operations.size())),
        fmt::format("use the executed list, which was stored in {}",
                    operations_file(workload.recording).filename().string()));
  }
  return {};
}

/// Removes an existing recording. A recording must not exist before it is written, and the existing
/// one is useless because an interrupted run left it.
void clear_way(const fs::path& recording) {
  std::error_code error;
  fs::remove(recording, error);
  fs::remove(operations_file(recording), error);
  fs::remove(application_file(recording), error);
  fs::remove(issuers_file(recording), error);
}

}  // namespace

std::string uuid_from(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return uuid_from(random);
}

std::string uuid_from(std::mt19937_64& random) {
  const std::uint64_t high = random(), low = random();
  return fmt::format("{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff,
                     high & 0xfff, 0x8000 | ((low >> 48) & 0x3fff), low & 0xffff'ffff'ffff);
}

fs::path operations_file(const fs::path& recording) {
  return fs::path(recording).replace_extension(".operations.txt");
}

Result<void> write_operations(const RecordedWorkload& workload) {
  const fs::path path = operations_file(workload.recording);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (const workload::FailedOperation& failed : workload.failed_operations) {
    file << fmt::format("{}{} {}\n", kFailedWord, failed.operation,
                        failed.outcome == workload::Outcome::partial ? "partial" : "skipped");
  }
  for (const workload::Operation& operation : workload.operations)
    file << workload::format(operation) << '\n';
  file.close();
  if (!file)
    return fail(path.string(), "cannot be written", "free some space, or choose another folder");
  return {};
}

Result<RecordedWorkload> open_recorded_workload(const fs::path& recording,
                                                std::vector<workload::Operation> operations) {
  TRY(const auto bounds, find_bounds(recording));
  RecordedWorkload workload{.recording = recording,
                            .operations = std::move(operations),
                            .application = std::nullopt,
                            .from_event = bounds.from,
                            .to_event = bounds.to};
  const bool crashes =
      std::ranges::any_of(workload.operations, [](const workload::Operation& each) {
        return each.kind == workload::Operation::Kind::crash;
      });
  if (crashes)
    return fail(recording.string(), "contains only the operations after the last crash of the list",
                "omit the list; the operations are stored next to the recording");
  if (workload.operations.empty()) TRY(read_operations(workload));
  TRY(check_belongs(workload, bounds.persisted));
  TRY(auto application, read_application(recording));
  workload.application = std::move(application);
  return workload;
}

Result<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                  const fs::path& recording, const std::string& uuid,
                                  const DiskOptions& options) {
  clear_way(recording);
  device::StageLoad empty = guest.empty_disks();
  empty.used_disk = options.used && !guest.machine().is_array();
  empty.record = fs::absolute(recording);
  TRY(guest.load(empty));
  TRY(guest.create_stack(filesystem, uuid));
  TRY(const auto made,
      run::with_tool_remedy(guest.exec(run::in_guest(filesystem.mkfs.argv, uuid)), filesystem));
  if (!filesystem.mkfs.good(made.exit_code)) {
    return run::stop(ErrorKind::other,
                     fmt::format("mkfs failed with exit code {}: {}", made.exit_code, made.output));
  }
  TRY(guest.stop_stack());
  TRY(const auto events, guest.server().seal(guest.stage()));
  return formatted_disk(recording, events, guest.machine(), options);
}

FormattedDisk formatted_disk(const fs::path& recording, std::uint64_t events,
                             const StageMachine& machine, const DiskOptions& options) {
  // After a clean shutdown, the members of an array hold all data, so the last physical state is
  // complete.
  return {.recording = recording,
          .state = fmt::format("{}{}", machine.is_array() ? 'p' : 'w', events),
          .options = options};
}

namespace {

struct Ran {
  run::RunOutcome outcome;
  Bounds bounds;
  bool disk_full = false;  // set only after a failure
  std::optional<IssuerShare> issuers = {};
};

/// The state from which a recording starts: a formatted disk, or the state that a crash has left.
struct Start {
  FormattedDisk disk;
  bool crashed = false;
  std::span<const workload::Operation> list = {};  ///< the whole list, including its crashes
  /// Operations that failed before the previous crash. Each crash also counts as a failed
  /// operation.
  std::vector<workload::FailedOperation> failed_before = {};
  SlowPlaces slow = {};
};

/// Mounts the disk, which holds a fresh file system or the state that a crash has left.
Result<void> mount_start(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                         bool crashed) {
  std::string why, log;
  TRY(const auto mounted,
      crashed ? guest.recover_and_mount(filesystem, why, log) : guest.mount(filesystem, &why));
  if (mounted) return {};
  return run::stop(
      crashed ? ErrorKind::unmountable : ErrorKind::other,
      fmt::format("the {} could not be mounted: {}",
                  crashed ? "file system after a crash inside the list" : "fresh file system",
                  why));
}

/// Returns true if less than a sixteenth of the mounted file system is free.
Result<bool> is_full(StageGuest& guest) {
  TRY(const auto done,
      guest.exec({"sh", "-c",
                  fmt::format("set -- $(busybox stat -f -c '%a %b' {}) && [ $(($1 * 16)) -lt $2 ]",
                              run::kMountPoint)}));
  return done.exit_code == 0;
}

/// Returns the size and the numbering of the blocks of the file system on a disk.
FileSystemBlocks blocks_of(const states::RunHistory& run, model::DeviceId device) {
  std::vector<std::byte> beginning(kFileSystemBlocksBytes);
  const auto image = run.image({.device = device, .event = run.events()}, device);
  return image && image->read(0, beginning) ? file_system_blocks(beginning) : FileSystemBlocks{};
}

/// Matches the guest's trace with the recording, and stores the issuers in a file next to the
/// recording.
Result<IssuerShare> store_issuers(const run::WriteTrace& trace, const fs::path& recording,
                                  const DiskOptions& options) {
  TRY(const auto parsed, parse_block_trace(trace.text));
  TRY(const auto run, states::RunHistory::load(recording));
  std::vector<model::DeviceId> disks = run->disks();
  if (disks.empty()) disks = {0};
  std::vector<TracedDevice> devices;
  for (std::size_t i = 0; i < disks.size(); ++i) {
    const fs::path path = i == 0 ? std::string(run::kStageDisk) : adapters::disk_path(i);
    const auto found = trace.devices.find(path.filename().string());
    if (found == trace.devices.end()) continue;
    devices.push_back({disks[i], found->second, blocks_of(*run, disks[i])});
  }
  MatchedIssuers matched = match_issuers(*run, devices, parsed.events);
  if (options.describe_issuers) {
    TRY(options.describe_issuers(matched.issuers));
  }
  TRY(base::write_text_file(issuers_file(recording).string(), matched.issuers.text()));
  return IssuerShare{matched.requests, matched.matched, parsed.lost};
}

/// Mounts the disk and runs the workload. Sets one mark before the workload and one after it. Calls
/// `prepare` before the first mark.
Result<Ran> record_between_marks(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                 const Start& start, const fs::path& recording,
                                 const std::function<Result<void>()>& prepare,
                                 const std::function<Result<run::RunOutcome>()>& work) {
  clear_way(recording);
  const FormattedDisk& disk = start.disk;
  TRY(guest.load({.recording = fs::absolute(disk.recording),
                  .state = disk.state,
                  .record = fs::absolute(recording),
                  .delay_us = guest.machine().is_array() ? 0 : disk.options.delay_us,
                  .delay_seed = disk.options.seed,
                  .slow = start.slow,
                  .slow_us = disk.options.slow_us,
                  .faults = guest.machine().faults}));
  if (disk.options.issuers) {
    TRY(guest.start_trace());
  }
  TRY(guest.assemble_stack(filesystem, StageGuest::Assembly::before_workload));
  TRY(mount_start(guest, filesystem, start.crashed));
  TRY(prepare());

  device::StateServer& server = guest.server();
  const std::size_t stage = guest.stage();
  TRY(server.mark(stage, std::string(kBeginMark)));
  TRY(auto ran, work());
  TRY(server.mark(stage, std::string(kEndMark)));
  TRY(server.seal(stage));
  std::optional<IssuerShare> issuers;
  if (disk.options.issuers) {
    TRY(const auto trace, guest.stop_trace());
    TRY(issuers, store_issuers(trace, recording, disk.options));
  }
  bool disk_full = false;
  if (ran.failure) {
    TRY(disk_full, is_full(guest));
  }
  TRY(guest.unmount());

  TRY(const auto bounds, find_bounds(recording));
  return Ran{std::move(ran), bounds, disk_full, issuers};
}

/// Returns a list of operations that creates the tree left by a crash. Also marks the whole tree as
/// persistent.
Result<std::vector<workload::Operation>> list_of_start(StageGuest& guest, const Start& start) {
  TRY(auto tree, guest.dump());
  TRY(auto list, oracle::list_of_tree(tree, start.list));
  TRY(guest.server().mark(guest.stage(), workload::persisted_mark(list.size() - 1)));
  return list;
}

Result<RecordedWorkload> record_leg(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                    const Start& start,
                                    std::span<const workload::Operation> operations,
                                    const fs::path& recording) {
  std::vector<workload::Operation> list;
  // The operations that the agent executes. After a crash, `list` begins with the operations that
  // would create the recovered tree. This tree is already on the disk, so the agent executes a join
  // in place of each of these operations.
  std::vector<workload::Operation> sent;
  TRY(const auto ran, record_between_marks(
                          guest, filesystem, start, recording,
                          [&]() -> Result<void> {
                            if (start.crashed) {
                              TRY(auto base, list_of_start(guest, start));
                              list = std::move(base);
                              sent.assign(list.size(), {.kind = workload::Operation::Kind::join});
                            }
                            list.insert(list.end(), operations.begin(), operations.end());
                            sent.insert(sent.end(), operations.begin(), operations.end());
                            return {};
                          },
                          [&] { return guest.run(sent, start.failed_before); }));
  // The run ended at a failed operation; the operations after it were not executed.
  list.resize(std::min(ran.outcome.done, list.size()));
  RecordedWorkload workload{.recording = recording,
                            .operations = std::move(list),
                            .application = std::nullopt,
                            .failed_operations = ran.outcome.failed_operations,
                            .from_event = ran.bounds.from,
                            .to_event = ran.bounds.to,
                            .failure = ran.outcome.failure,
                            .issuers = ran.issuers,
                            .disk_full = ran.disk_full};
  TRY(write_operations(workload));
  return workload;
}

/// Records the workload. With DiskOptions::slow, makes two recordings: the first shows which writes
/// are of the kind to be delayed, and the second delays these writes. An array has its own timing,
/// so for an array only one recording is made.
Result<RecordedWorkload> record_slowly(
    const StageGuest& guest, const adapters::LinuxAdapter& filesystem, Start start,
    const std::function<Result<RecordedWorkload>(const Start&)>& record) {
  auto recorded = record(start);
  const std::string& kind = start.disk.options.slow;
  if (kind.empty() || guest.machine().is_array() || !recorded || recorded->failure) return recorded;
  TRY(auto places, places_of_kind(recorded->recording, filesystem.type, kind, recorded->from_event,
                                  recorded->to_event));
  start.slow = std::move(places);
  return record(start);
}

/// Ends a leg, the part of a list before a `crash` operation, and returns the state that the crash
/// leaves. This state must keep the promises of the leg. If it does not, the function stores the
/// judgement in `at_crash` and fails.
Result<std::string> crash_after(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                const RecordedWorkload& leg, const std::string& how,
                                std::optional<oracle::Judgement>* at_crash) {
  TRY(auto run, states::RunHistory::load(leg.recording));
  const std::string state = fmt::format("{}{}{}", filesystem.has_several_disks() ? 'a' : 'w',
                                        leg.to_event, how == kPowerCrash ? "-" : "");
  TRY(const auto parsed, states::parse_crash_state(state));
  TRY(const auto checker, StateChecker::create(filesystem, leg, run));
  const StateOutcome outcome =
      checker.check(guest, parsed, {.wholly_in_guest = true, .fresh_guest = false});
  if (!is_failure(outcome)) return state;
  const oracle::Judgement judgement{
      outcome.judgement.verdict,
      base::printable_lines(fmt::format("at the crash inside the list, {} of {}: {}", state,
                                        leg.recording.filename().string(),
                                        outcome.judgement.summary))};
  if (at_crash != nullptr) *at_crash = judgement;
  return fail("", judgement.summary);
}

}  // namespace

fs::path leg_recording(const fs::path& recording, int number) {
  return fs::path(recording).replace_extension(fmt::format(".leg-{}.hcrec", number));
}

Result<RecordedWorkload> record_workload(StageGuest& guest,
                                         const adapters::LinuxAdapter& filesystem,
                                         const FormattedDisk& disk,
                                         const std::vector<workload::Operation>& operations,
                                         const fs::path& recording,
                                         std::optional<oracle::Judgement>* at_crash) {
  Start start{.disk = disk, .list = operations};
  std::span<const workload::Operation> rest = operations;
  for (int number = 1;; ++number) {
    const auto crash =
        std::ranges::find(rest, workload::Operation::Kind::crash, &workload::Operation::kind);
    if (crash == rest.end())
      return record_slowly(guest, filesystem, start, [&](const Start& from) {
        return record_leg(guest, filesystem, from, rest, recording);
      });
    if (guest.machine().is_array())
      return fail(ErrorKind::other, "", "a list with a crash needs a single disk, not an array");
    const auto length = static_cast<std::size_t>(crash - rest.begin());
    auto leg = record_slowly(guest, filesystem, start, [&](const Start& from) {
      return record_leg(guest, filesystem, from, rest.first(length),
                        leg_recording(recording, number));
    });
    if (!leg || leg->failure) return leg;
    TRY(const auto state, crash_after(guest, filesystem, *leg, crash->target, at_crash));
    start.disk = {.recording = leg->recording, .state = state, .options = disk.options};
    start.crashed = true;
    // Count the crash as a failed operation, because it may have removed objects that the list
    // created earlier.
    start.failed_before.emplace_back();
    rest = rest.subspan(length + 1);
  }
}

Result<RecordedWorkload> record_application(StageGuest& guest,
                                            const adapters::LinuxAdapter& filesystem,
                                            const FormattedDisk& disk,
                                            const workload::Application& application,
                                            const fs::path& recording) {
  return record_slowly(
      guest, filesystem, {.disk = disk}, [&](const Start& from) -> Result<RecordedWorkload> {
        TRY(const auto ran, record_between_marks(
                                guest, filesystem, from, recording,
                                [&] { return prepare_application(guest, application); },
                                [&] { return guest.run_application(application); }));
        RecordedWorkload workload{.recording = recording,
                                  .operations = {},
                                  .application = application,
                                  .failed_operations = {},
                                  .from_event = ran.bounds.from,
                                  .to_event = ran.bounds.to,
                                  .failure = ran.outcome.failure,
                                  .issuers = ran.issuers,
                                  .disk_full = ran.disk_full};
        TRY(write_application_name(recording, application));
        if (!workload.failure) {
          TRY(workload.report, read_report(guest, application));
        }
        return workload;
      });
}

Result<RecordedWorkload> record_unformatted(StageGuest& guest,
                                            const workload::Application& application,
                                            const fs::path& recording, const DiskOptions& options) {
  clear_way(recording);
  device::StageLoad empty = guest.empty_disks();
  empty.used_disk = options.used;
  empty.record = fs::absolute(recording);
  empty.delay_us = options.delay_us;
  empty.delay_seed = options.seed;
  TRY(guest.load(empty, /*fresh_guest=*/true));
  TRY(prepare_application(guest, application));
  device::StateServer& server = guest.server();
  TRY(server.mark(guest.stage(), std::string(kBeginMark)));
  TRY(const auto ran, guest.run_application(application));
  TRY(server.mark(guest.stage(), std::string(kEndMark)));
  TRY(server.seal(guest.stage()));
  TRY(const auto bounds, find_bounds(recording));
  RecordedWorkload workload{.recording = recording,
                            .operations = {},
                            .application = application,
                            .from_event = bounds.from,
                            .to_event = bounds.to,
                            .failure = ran.failure};
  if (!workload.failure) {
    TRY(workload.report, read_report(guest, application));
  }
  return workload;
}

}  // namespace headcrash::explorer

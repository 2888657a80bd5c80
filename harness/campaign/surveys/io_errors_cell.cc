// Measures a cell (io_errors_cell.h). While faults are active, requests bypass GuestSession,
// because kernel warnings are then part of the result and must not end the cell.
#include "harness/campaign/surveys/io_errors_cell.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "harness/campaign/surveys/io_errors_faults.h"
#include "harness/campaign/surveys/io_errors_plan.h"
#include "harness/campaign/surveys/io_errors_verdict.h"
#include "harness/explorer/explain/block_kind.h"
#include "harness/workload/operation.h"
#include "plugin/base/result.h"
#include "plugin/base/stopwatch.h"
#include "plugin/base/wall_clock.h"
#include "plugin/record/recording.h"

namespace headcrash::campaign {
namespace {

// References to documents that describe the result of a cell. We have read every document that is
// cited. A missing entry does not mean that the behaviour is undocumented.

/// Cites the documents that describe this result, with one sentence about each. Returns an empty
/// string if no such document is known. `type` is the file system type of the adapter.
std::string documents_of(const IoErrorCell& cell, std::string_view type, const IoErrorOutcome& o) {
  std::vector<std::string> places;
  const bool data =
      cell.failed == FailedRequest::data_overwrite || cell.failed == FailedRequest::data_append;
  const bool metadata = cell.failed == FailedRequest::metadata;
  const bool success_after_error =
      o.first_fsync > 0 &&
      (o.second_fsync == 0 || o.reopened_fsync == 0 || o.fsync_after_sync == 0);
  if (success_after_error) {
    places.emplace_back(
        "Linux, Documentation/filesystems/vfs.rst, \"Handling errors during writeback\": an error is "
        "reported "
        "once to each open file, and later calls succeed unless more errors come; PostgreSQL, "
        "data_sync_retry: "
        "a second attempt may report success although the data is lost");
  }
  const bool stays_writable = o.state == MountState::read_write;
  if (type == "ext4" && data && stays_writable && cell.mount_option().empty())
    places.emplace_back("ext4(5), data_err=ignore (default): an error in file data has no effect");
  if (type == "ext4" && data && !stays_writable && cell.mount_option() == "data_err=abort")
    places.emplace_back(
        "ext4(5), data_err=abort: an error in file data in ordered mode aborts the journal");
  if (type == "xfs" && metadata && cell.lasting)
    places.emplace_back(
        "Linux, Documentation/admin-guide/xfs.rst, \"Error handling\": metadata writes are retried up to "
        "error/metadata/EIO/max_retries times, and not during an unmount (fail_at_unmount)");
  return fmt::format("{}", fmt::join(places, "; "));
}

// The failed requests to the first device in a recording. Excludes requests that failed because the
// device had no power.

struct FailedRequests {
  std::size_t count = 0;
  /// Description of the first request that failed, for example "write of 4096+8: journal commit
  /// block of transaction 7" or "flush".
  std::string first;
};

std::string describe(const record::Event& request, std::string_view type) {
  if (request.op == model::Op::flush) return "flush";
  const std::string range = fmt::format("{}+{}", request.lba, request.sectors);
  if (request.payload.empty()) return "request of " + range;
  return fmt::format("write of {}: {}", range,
                     explorer::describe_write(type, request.lba, request.payload));
}

/// Finds the failed requests. `type` is the file system type as in mount(2). Fails if the recording
/// cannot be read.
Result<FailedRequests> failed_requests(const std::filesystem::path& recording,
                                       std::string_view type) {
  TRY(auto reader, record::RecordingReader::open(recording));
  std::unordered_map<model::RequestId, record::Event> waiting;
  FailedRequests failed;
  while (true) {
    TRY(auto event, reader.next());
    if (!event) return failed;
    if (event->device != 0) continue;
    if (event->kind == record::Kind::submit) {
      const model::RequestId id = event->request;
      waiting.insert_or_assign(id, std::move(*event));
      continue;
    }
    if (event->kind != record::Kind::ack) continue;
    const auto request = waiting.find(event->request);
    if (request == waiting.end()) continue;
    if (event->detail == static_cast<std::uint32_t>(model::Status::medium_error) &&
        failed.count++ == 0)
      failed.first = describe(request->second, type);
    waiting.erase(request);
  }
}

using nlohmann::json;
using Files = IoErrorFiles;
using Lines = std::vector<std::string>;

constexpr std::int64_t kStepTimeoutS = 180;
constexpr std::size_t kKernelWordsMost = 3000;
constexpr std::uint64_t kBlock = 512;

std::string write_line(std::string_view path, std::uint64_t first_block, std::uint64_t blocks,
                       std::uint32_t file, std::uint32_t version) {
  return fmt::format("write {} {} {} {} {}", path, first_block * kBlock, blocks * kBlock, file,
                     version);
}

class CellRun : private SurveyCellRun {
 public:
  CellRun(const IoErrorCell& cell, const adapters::LinuxAdapter& filesystem,
          const SurveyContext& context)
      : SurveyCellRun(filesystem, context, context.seed, kStepTimeoutS), cell_(cell) {
    const bool over = cell.failed == FailedRequest::data_overwrite;
    written_ = {"a",
                Files::kFileA,
                over ? Files::kOverwrittenFrom : Files::kBlocksOfA,
                Files::kWrittenBlocks,
                over ? std::optional(Files::kOldVersion) : std::nullopt,
                Files::kFailedVersion};
  }

  Result<db::TrialRecord> run();

 private:
  /// Sends a request to the guest's agent. If the agent refuses it (ErrorKind::refused), the guest
  /// is still alive. After any other failure, the guest is no longer usable.
  Result<json> ask(const json& request, const vm::EventHandler& on_event = {});
  std::vector<int> do_all(const Lines& lines);
  std::vector<oracle::ObservedObject> look(std::string_view how, bool* readable);
  RangeContent inspect_write(std::string_view how);
  void arm();
  void note(std::string step, std::string result) {
    io_.steps.push_back({std::move(step), std::move(result)});
  }

  Result<void> course();
  Result<void> format_and_set_up();
  Result<void> write_metadata_sooner();
  bool waits_for_metadata() const {
    return filesystem_.type == "xfs" && cell_.failed == FailedRequest::metadata;
  }
  void work();
  void sync_and_look();
  void more_work();
  void read_mount_state();
  Result<void> end_session();
  Result<void> recover();
  Result<void> check();
  void judge_tree(const std::vector<oracle::ObservedObject>& tree);
  void conclude(const std::filesystem::path& recording);
  Result<run::GuestOutcome> exec(const Lines& argv) { return session_->exec(argv); }

  const IoErrorCell& cell_;
  WrittenRange written_;
  ArmedFaults faults_;
  /// Result of creating a new file at the end: 0, an errno, kNotReached or kHung.
  int create_ = kNotReached;
  // True if the guest hangs or has died. Only a power cut is then possible.
  bool gone_ = false;
  std::optional<std::string> malformed_;  ///< the first malformed answer from the agent
  IoErrorOutcome outcome_;
  db::IoErrorRecord io_;
};

Result<db::TrialRecord> CellRun::run() {
  const base::Stopwatch watch;
  db::TrialRecord record{.key = cell_.key(),
                         .filesystem = cell_.filesystem,
                         .device = kSurveyDrive,
                         .workload = std::string(kIoErrorsName),
                         .seed = static_cast<std::int64_t>(context_.seed),
                         .clock = "off",
                         .cut = std::string(name(cell_.end)),
                         .verdict = db::kMeasured,
                         .expected = "any",
                         .started_at = base::now_utc()};
  TRY(start_drive());
  Result<void> done = course();
  if (done && malformed_) done = run::stop(ErrorKind::malformed, *malformed_);
  if (interrupted()) return fail(record.key, "interrupted");
  TRY(end_guest_and_drive());
  if (done) {
    conclude(recording());
    record.summary = io_.surprise;
  } else {
    const oracle::Judgement judgement = oracle::judgement_of(done.error());
    record.verdict = oracle::name(judgement.verdict);
    record.summary = judgement.summary;
  }
  record.operations = static_cast<std::int64_t>(io_.steps.size());
  io_.failed_request = name(cell_.failed);
  io_.lasting = cell_.lasting;
  io_.ending = name(cell_.end);
  record.io_error = std::move(io_);
  record.wall_ms = watch.ms();
  return record;
}

Result<void> CellRun::course() {
  TRY(start_guest());
  TRY(format_and_set_up());
  if (!faults_.late) arm();
  work();
  if (faults_.late) arm();
  sync_and_look();
  more_work();
  TRY(end_session());
  return recover();
}

Result<json> CellRun::ask(const json& request, const vm::EventHandler& on_event) {
  if (gone_) return fail(ErrorKind::guest_died, "", "the guest has died");
  auto answer = guest_->call(request, std::chrono::seconds(kStepTimeoutS), on_event,
                             [this] { return interrupted(); });
  if (answer || answer.error().kind == ErrorKind::refused) return answer;
  gone_ = true;
  if (answer.error().kind == ErrorKind::malformed) malformed_ = answer.error().problem;
  const bool died = answer.error().kind == ErrorKind::guest_died;
  outcome_.state = died ? MountState::died : MountState::hung;
  return answer;
}

/// Runs the operations and returns their results. The guest reports only completed persistence
/// points, so after a hang the results of all other operations are unknown.
std::vector<int> CellRun::do_all(const Lines& lines) {
  std::vector<int> answers(lines.size(), 0);
  std::size_t reported = 0;  // number of operations that are known to be complete
  const auto on_event = [&](const json& event) {
    const auto operation = event.value("operation", std::size_t{0});
    if (operation >= answers.size()) return;
    answers[operation] = event.value("errno", 0);
    reported = operation + 1;
  };
  const auto answer = ask({{"do", "run"},
                           {"root", run::kMountPoint},
                           {"operations", lines},
                           {"mark", ""},
                           {"continue_after_failure", true}},
                          on_event);
  if (!answer) {
    for (std::size_t i = reported; i < lines.size(); ++i) answers[i] = kNotReached;
    if (gone_ && reported < lines.size()) answers[reported] = kHung;
  }
  for (std::size_t i = 0; i < lines.size(); ++i) note(lines[i], answer_name(answers[i]));
  return answers;
}

void CellRun::arm() {
  for (const std::string& spec : faults_.specs) {
    const auto added = device_->control().request({{"fault", "add"}, {"spec", spec}});
    note("fault " + spec, added ? "armed" : added.error().message());
  }
}

Result<void> CellRun::format_and_set_up() {
  TRY(make_file_system());
  TRY(write_metadata_sooner());
  TRY(mount_fresh());
  do_all({"create a", write_line("a", 0, Files::kBlocksOfA, Files::kFileA, Files::kOldVersion),
          "create b", write_line("b", 0, Files::kBlocksOfB, Files::kFileB, Files::kOldVersion)});
  const auto settled = ask({{"do", "settle"}, {"device", "vda"}});
  note("sync", settled ? "ok" : "failed");
  bool readable = false;
  const auto tree = look("setup", &readable);
  const auto a = std::ranges::find(tree, std::string("a"), &oracle::ObservedObject::path);
  if (a == tree.end())
    return fail(ErrorKind::other, "", "the setup failed: the tree has no file a");
  faults_ = faults_of(cell_, filesystem_.type, a->inode);
  TRY(session_->kernel_log());
  return {};
}

/// Makes XFS write metadata to its final place after the log has been idle for one second instead
/// of half a minute. Only cells that wait for such a write use this, because XFS then also writes
/// log records, which would trigger the faults of other cells.
Result<void> CellRun::write_metadata_sooner() {
  if (!waits_for_metadata()) return {};
  TRY(exec({"busybox", "sh", "-c", "echo 100 > /proc/sys/fs/xfs/xfssyncd_centisecs"}));
  return {};
}

void CellRun::work() {
  const auto answers = do_all({"open a %a",
                               write_line("%a", written_.first_block, written_.blocks,
                                          Files::kFileA, Files::kFailedVersion),
                               "fsync %a", "fsync %a", "close %a", "fsync a"});
  outcome_.first_fsync = answers[2];
  outcome_.second_fsync = answers[3];
  outcome_.reopened_fsync = answers[5];
}

std::vector<oracle::ObservedObject> CellRun::look(std::string_view how, bool* readable) {
  std::vector<oracle::ObservedObject> tree;
  const auto dumped = ask({{"do", "dump"}, {"root", run::kMountPoint}}, [&](const json& event) {
    if (event.value("event", "") != "entry") return;
    auto object = oracle::parse_entry(event);
    if (object && tree.size() < run::kTreeObjectsMost) tree.push_back(std::move(*object));
    if (!object && !malformed_) malformed_ = object.error().message();
  });
  *readable = dumped.has_value();
  if (!dumped && !gone_) note(fmt::format("read ({})", how), "refused: " + dumped.error().problem);
  return tree;
}

RangeContent CellRun::inspect_write(std::string_view how) {
  bool readable = false;
  const auto tree = look(how, &readable);
  if (gone_) return RangeContent::unseen;
  const RangeContent content = readable ? content_of(tree, written_) : RangeContent::unreadable;
  note(fmt::format("read a ({})", how), std::string(name(content)));
  return content;
}

/// Calls sync(2) and then syncfs(2), because only syncfs(2) reports errors. If the cell's fault
/// affects a late write of metadata, waits for 4 s between the two calls, so that the kernel issues
/// this write.
void CellRun::sync_and_look() {
  const auto settled = ask({{"do", "settle"}, {"device", "vda"}});
  note("sync", settled ? "ok" : gone_ ? "hang" : settled.error().problem);
  if (waits_for_metadata())
    static_cast<void>(
        ask({{"do", "exec"}, {"argv", {"busybox", "sleep", "4"}}, {"timeout_ms", 60'000}}));
  const auto answers = do_all({"syncfs", "fsync a"});
  outcome_.syncfs = answers[0];
  outcome_.fsync_after_sync = answers[1];
  outcome_.cached = inspect_write("page cache");
}

void CellRun::more_work() {
  const std::uint64_t blocks = Files::kWrittenBlocks;
  const auto answers = do_all(
      {write_line("a", Files::kLaterFrom, blocks, Files::kFileA, Files::kLaterVersion), "fsync a",
       write_line("b", 0, blocks, Files::kFileB, Files::kFailedVersion), "fsync b", "create c",
       write_line("c", 0, blocks, Files::kFileC, Files::kOldVersion), "fsync c"});
  outcome_.later_write = answers[0];
  // Each fsync in the list tests the write before it. If that write failed, its error is the
  // result, because the success of the fsync then means nothing.
  outcome_.later_fsync = answers[0] == 0 ? answers[1] : answers[0];
  outcome_.other_fsync = answers[2] == 0 ? answers[3] : answers[2];
  create_ = answers[4];
  outcome_.new_file_fsync = answers[4] != 0   ? answers[4]
                            : answers[5] != 0 ? answers[5]
                                              : answers[6];
  if (gone_) return;
  read_mount_state();
  static_cast<void>(ask({{"do", "exec"},
                         {"argv", {"busybox", "sh", "-c", "echo 3 > /proc/sys/vm/drop_caches"}},
                         {"timeout_ms", 60'000}}));
  outcome_.reread = inspect_write("after dropping caches");
}

/// Reads the mount's state from /proc/mounts, and tries to create an empty file. Data could be
/// written to a faulty block and cause a different error.
void CellRun::read_mount_state() {
  const auto mounts = ask({{"do", "exec"},
                           {"argv", {"busybox", "grep", run::kMountPoint, "/proc/mounts"}},
                           {"timeout_ms", 60'000}});
  if (gone_) return;
  const std::string line = mounts ? mounts->value("stdout", "") : "";
  const bool says_ro =
      line.find(" ro,") != std::string::npos || line.find(" ro ") != std::string::npos;
  outcome_.state = says_ro || create_ == EROFS ? MountState::read_only
                   : create_ == 0              ? MountState::read_write
                                               : MountState::shut_down;
  note("/proc/mounts", line.substr(0, line.find('\n')));
}

Result<void> CellRun::end_session() {
  if (const auto log = ask({{"do", "log"}}))
    io_.kernel_log = log->value("text", "").substr(0, kKernelWordsMost);
  if (!gone_ && guest_->oops()) note("kernel", *guest_->oops());
  bool cut = cell_.end == SessionEnd::cut;
  if (!cut) {
    const auto unmounted = ask({{"do", "unmount"}, {"target", run::kMountPoint}});
    note("unmount", unmounted ? "ok" : gone_ ? "hang" : unmounted.error().problem);
    if (gone_) cut = true;  // after a hang, only a power cut can end the session
  }
  if (cut) {
    TRY(control({{"power", "cut"}}));
    note("power cut", "");
  }
  guest_->kill();
  TRY(control({{"fault", "clear"}}));
  if (cut) return control({{"power", "on"}});
  return {};
}

Result<void> CellRun::recover() {
  TRY(start_guest());
  gone_ = false;
  std::string why;
  if (filesystem_.replay_by_mount) {
    TRY(const auto mounted, session_->mount(filesystem_, &why));
    if (mounted) TRY(session_->unmount());
    note("replay by mount", mounted ? "ok" : "refused: " + why);
  } else if (!filesystem_.replay.argv.empty()) {
    TRY(const auto replayed, exec(run::in_guest(filesystem_.replay.argv)));
    note(fmt::format("{}", fmt::join(filesystem_.replay.argv, " ")),
         fmt::format("exit {}", replayed.exit_code));
  }
  TRY(check());
  TRY(const auto mounted, session_->mount(filesystem_, &why));
  if (!mounted) {
    outcome_.after_recovery = AfterRecovery::mount_refused;
    outcome_.refusal = why.substr(0, why.find('\n'));
    outcome_.recovered = RangeContent::unreadable;
    note("mount", "refused: " + why);
    return {};
  }
  bool readable = false;
  const auto tree = look("recovered", &readable);
  if (gone_ || !readable) return fail(ErrorKind::other, "", "the recovered tree cannot be read");
  judge_tree(tree);
  return session_->unmount();
}

Result<void> CellRun::check() {
  TRY(const auto checked, exec(run::in_guest(filesystem_.check.argv)));
  const bool good = filesystem_.check.good(checked.exit_code);
  outcome_.after_recovery = good ? AfterRecovery::clean : AfterRecovery::damage;
  note(fmt::format("{}", fmt::join(filesystem_.check.argv, " ")),
       good ? "clean"
            : fmt::format("exit {}: {}", checked.exit_code, checked.output.substr(0, 400)));
  if (good || filesystem_.repair.argv.empty()) return {};
  TRY(const auto repaired, exec(run::in_guest(filesystem_.repair.argv)));
  outcome_.after_recovery = filesystem_.repair.good(repaired.exit_code)
                                ? AfterRecovery::repaired
                                : AfterRecovery::not_repaired;
  note(fmt::format("{}", fmt::join(filesystem_.repair.argv, " ")),
       fmt::format("exit {}", repaired.exit_code));
  return {};
}

void CellRun::judge_tree(const std::vector<oracle::ObservedObject>& tree) {
  const auto see = [&](const WrittenRange& range) { return content_of(tree, range); };
  const std::uint64_t blocks = Files::kWrittenBlocks;
  outcome_.recovered = see(written_);
  // These blocks are between the second write and the failed write. They were synced in the setup
  // and have not been written since.
  outcome_.rest =
      see({"a", Files::kFileA, Files::kLaterFrom + blocks, blocks, {}, Files::kOldVersion});
  outcome_.later = see(
      {"a", Files::kFileA, Files::kLaterFrom, blocks, Files::kOldVersion, Files::kLaterVersion});
  outcome_.other = see({"b", Files::kFileB, 0, blocks, Files::kOldVersion, Files::kFailedVersion});
  outcome_.new_file = see({"c", Files::kFileC, 0, blocks, {}, Files::kOldVersion});
  note("read a (recovered)", std::string(name(outcome_.recovered)));
  note("read the rest of a, its later write, b, c",
       fmt::format("{}, {}, {}, {}", name(outcome_.rest), name(outcome_.later),
                   name(outcome_.other), name(outcome_.new_file)));
}

void CellRun::conclude(const std::filesystem::path& recording) {
  outcome_.control = cell_.failed == FailedRequest::none;
  if (const auto failed = failed_requests(recording, filesystem_.type)) {
    io_.requests_failed = static_cast<std::int64_t>(failed->count);
    io_.failed_block =
        failed->count == 0 ? "" : fmt::format("{} ({})", faults_.what, failed->first);
  }
  const auto said = surprises_of(outcome_);
  io_.surprise = fmt::format("{}", fmt::join(said, "; "));
  io_.documented = documents_of(cell_, filesystem_.type, outcome_);
  io_.first_fsync = answer_name(outcome_.first_fsync);
  io_.second_fsync = answer_name(outcome_.second_fsync);
  io_.reopened_fsync = answer_name(outcome_.reopened_fsync);
  io_.sync_fs = answer_name(outcome_.syncfs);
  io_.fsync_after_sync = answer_name(outcome_.fsync_after_sync);
  io_.later_fsync = answer_name(outcome_.later_fsync);
  io_.other_fsync = answer_name(outcome_.other_fsync);
  io_.new_file_fsync = answer_name(outcome_.new_file_fsync);
  io_.state = name(outcome_.state);
  io_.cached = name(outcome_.cached);
  io_.reread = name(outcome_.reread);
  io_.recovered = name(outcome_.recovered);
  io_.rest = name(outcome_.rest);
  io_.later = name(outcome_.later);
  io_.other = name(outcome_.other);
  io_.new_file = name(outcome_.new_file);
  io_.after_recovery = outcome_.after_recovery_text();
}

}  // namespace

Result<db::TrialRecord> measure_io_errors(const IoErrorCell& cell,
                                          const adapters::LinuxAdapter& filesystem,
                                          const SurveyContext& context) {
  return CellRun(cell, filesystem, context).run();
}

}  // namespace headcrash::campaign

#pragma once
// Runs a workload on a fresh file system on a stage, and records it.
//
//   empty disk --mkfs--> formatted.hcrec          once per file system and size; reused
//   formatted  --mount, operations, marks, seal--> workload.hcrec (base: last state of the former)
//
// On a stage under an array (stage_machine.h), both contain the members' writes, and the base is a
// physical state.
//
// A list with `crash` is recorded in legs. Each starts with the state left by the previous crash:
//
//   formatted --operations--> workload.leg-1.hcrec --crash, recovery, operations--> workload.hcrec
//
// States of the last leg are judged by a list that creates the tree found after the crash
// (harness/oracle/list_of_tree.h), followed by the operations since. The previous leg judges that
// tree.
//
// With DiskOptions::issuers, the guest's kernel traces its writes from the mount to the end of the
// workload, and NAME.issuers.txt next to the recording holds the result (explain/issuers.h).
//
// NAME.operations.txt next to a workload's recording holds the list that the agent executed, one
// operation per line (harness/workload/operation.h), with lines "#failed N skipped|partial" for
// operations that the file system did not execute. A recording without it can be explored, but the
// oracle cannot judge it.

#include <random>

#include "harness/explorer/guests/stage_guest.h"
#include "harness/oracle/oracle.h"

namespace headcrash::explorer {

/// How a workload is recorded, and how its disk behaves. Arrays ignore the options of the disk:
/// their members are empty, and they have their own timing.
struct DiskOptions {
  /// Fills the disk with recognisable bytes before mkfs. Trims do not change these bytes. This
  /// exposes blocks on which the file system relies but which it did not write.
  bool used = true;
  /// Maximum delay of writes and flushes during the workload. Delayed writes overtake each other,
  /// so a write for which the file system did not wait may be in flight at the next flush. If 0,
  /// all requests complete at once.
  std::uint32_t delay_us = 8000;
  std::uint64_t seed = 1;  ///< seed for the delays
  /// Delays writes of this kind by an additional `slow_us`. The kind is a text returned by
  /// kind_of_write(), such as "inode table"; empty for no kind. The workload is then recorded
  /// twice: the first recording determines which writes are of this kind.
  std::string slow = {};
  std::uint32_t slow_us = 100'000;
  /// Also records who issued each write and flush (explain/issuers.h), from the guest's kernel.
  bool issuers = false;
};

struct FormattedDisk {
  std::filesystem::path recording;
  std::string state;  ///< the last state of the recording, with all writes
  DiskOptions options = {};
};
/// Formats a disk and records it. Replaces an existing recording. `uuid` becomes the file system's
/// UUID, so that runs are reproducible.
Result<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                  const std::filesystem::path& recording, const std::string& uuid,
                                  const DiskOptions& options = {});

/// Returns the disk that was formatted in an existing recording with this number of events.
FormattedDisk formatted_disk(const std::filesystem::path& recording, std::uint64_t events,
                             const StageMachine& machine, const DiskOptions& options = {});

/// How many writes and flushes of a recording have an issuer.
struct IssuerShare {
  std::size_t requests = 0, known = 0;
  std::uint64_t lost_events = 0;  ///< number of events that the guest's buffer could not hold
};

struct RecordedWorkload {
  std::filesystem::path recording;
  std::vector<workload::Operation> operations;  ///< empty if unknown; then there is no oracle
  /// If set, replaces the operations, and its verifier judges the states.
  std::optional<workload::Application> application;
  std::string report;       ///< content of the application's report (Application::report)
  oracle::TreeJudge judge;  ///< if set, judges the trees in place of the oracle
  std::vector<workload::FailedOperation> failed_operations;
  /// Event of the mark "phase workload"; earlier cuts are not explored.
  std::uint64_t from_event = 0;
  std::uint64_t to_event = 0;  ///< event of the mark "phase end", before the unmount
  std::optional<std::string> failure;
  std::optional<IssuerShare> issuers = {};  ///< if they were recorded
  bool disk_full = false;  ///< the file system had almost no free space after the failure
};
/// Checks that a correct file system can execute the list `text`, up to the first crash in it.
/// Errors name the file and the line.
Result<void> check_list(const std::string& text, const std::string& file_name,
                        const adapters::Promises& promises);

/// Records a workload. If the state left by a crash inside the list fails its check, the recording
/// fails, and `at_crash`, if not null, receives the judgement on the file system.
Result<RecordedWorkload> record_workload(StageGuest& guest,
                                         const adapters::LinuxAdapter& filesystem,
                                         const FormattedDisk& disk,
                                         const std::vector<workload::Operation>& operations,
                                         const std::filesystem::path& recording,
                                         std::optional<oracle::Judgement>* at_crash = nullptr);

/// Records an application's `run` commands instead of operations. `prepare` runs before the first
/// mark.
Result<RecordedWorkload> record_application(StageGuest& guest,
                                            const adapters::LinuxAdapter& filesystem,
                                            const FormattedDisk& disk,
                                            const workload::Application& application,
                                            const std::filesystem::path& recording);

/// Returns the path of the recording for a leg that ends with a crash. Legs are numbered from 1.
std::filesystem::path leg_recording(const std::filesystem::path& recording, int number);

/// Returns the path of a recording's list of operations.
std::filesystem::path operations_file(const std::filesystem::path& recording);
Result<void> write_operations(const RecordedWorkload& workload);

/// Opens an existing recording of an exploration or a trial, or an imported recording. `operations`
/// is its list; if empty, the list is read from the file next to the recording, if there is one.
/// Fails if a file cannot be read or parsed. Also fails if the list belongs to another run, that
/// is, if a mark names an operation that is not a persistence point.
Result<RecordedWorkload> open_recorded_workload(const std::filesystem::path& recording,
                                                std::vector<workload::Operation> operations = {});

/// Returns a version 4 UUID derived from a seed. Runs are then reproducible, whereas mkfs would
/// choose a random UUID.
std::string uuid_from(std::uint64_t seed);
std::string uuid_from(std::mt19937_64& random);

}  // namespace headcrash::explorer

#pragma once
// Runs a workload on a fresh file system on a stage, and records it.
//
//   empty disk --mkfs--> formatted.hcrec          once per file system and size; reused
//   formatted  --mount, operations, marks, seal--> workload.hcrec (base: end of formatted.hcrec)
//
// On a stage under an array (stage_machine.h), both recordings contain the members' writes, and the
// base is a physical state.
//
// A list with `crash` operations is recorded in legs. Each leg starts with the state that the
// previous crash left:
//
//   formatted --operations--> workload.leg-1.hcrec --crash, recovery, operations--> workload.hcrec
//
// The tree that is found after the crash is judged by the promises of the previous leg. The states
// of the last leg are judged by a list of operations. The list first creates the tree that was
// found (harness/oracle/list_of_tree.h), and then has the operations after the crash.
//
// With DiskOptions::issuers, the guest's kernel traces its writes from the mount to the end of the
// workload, and NAME.issuers.txt next to the recording holds the result (explain/issuers.h).
//
// NAME.operations.txt, next to a workload's recording, holds the list that the agent executed, with
// one operation on each line (harness/workload/operation.h). Lines "#failed N skipped|partial" name
// the operations that the file system did not execute. A recording without this file can be
// explored, but the oracle cannot judge its states.

#include <functional>
#include <random>

#include "harness/explorer/explain/issuers.h"
#include "harness/explorer/guests/stage_guest.h"
#include "harness/oracle/oracle.h"

namespace headcrash::explorer {

/// Options for recording a workload. The options of the disk do not apply to arrays: the members of
/// an array are empty, and an array has its own timing.
struct DiskOptions {
  /// If true, fills the disk with recognisable bytes before mkfs. Trims do not change these bytes.
  /// The bytes expose blocks on which the file system relies although it did not write them.
  bool used = true;
  /// Maximum delay of writes and flushes during the workload. Delayed writes may overtake each
  /// other. If the file system does not wait for a write, that write may therefore still be in
  /// flight at the next flush. If 0, all requests complete at once.
  std::uint32_t delay_us = 8000;
  std::uint64_t seed = 1;  ///< seed of the delays
  /// Delays writes of this kind by an additional `slow_us`. A kind is a text that kind_of_write()
  /// returns, such as "inode table"; an empty text delays no writes. The workload is recorded
  /// twice, because the first recording determines which writes are of this kind.
  std::string slow = {};
  std::uint32_t slow_us = 100'000;
  /// Also records which thread issued each write and flush, according to the guest's kernel
  /// (explain/issuers.h).
  bool issuers = false;
  /// Changes the issuers before they are stored, for example to add source lines; may be empty.
  std::function<Result<void>(Issuers& issuers)> describe_issuers = {};
};

struct FormattedDisk {
  std::filesystem::path recording;
  std::string state;  ///< last state of the recording; it contains all writes
  DiskOptions options = {};
};
/// Formats a disk and records the requests. Replaces an existing recording. `uuid` becomes the file
/// system's UUID, so that runs are reproducible.
Result<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                  const std::filesystem::path& recording, const std::string& uuid,
                                  const DiskOptions& options = {});

/// Describes a disk whose formatting has already been recorded. `events` is the number of events in
/// that recording.
FormattedDisk formatted_disk(const std::filesystem::path& recording, std::uint64_t events,
                             const StageMachine& machine, const DiskOptions& options = {});

/// The number of writes and flushes in a recording, and the number of those with a known issuer.
struct IssuerShare {
  std::size_t requests = 0, known = 0;
  std::uint64_t lost_events = 0;  ///< number of events that the guest's buffer could not hold
};

struct RecordedWorkload {
  std::filesystem::path recording;
  std::vector<workload::Operation> operations;  ///< empty if unknown; the oracle then cannot judge
  /// If set, the application ran instead of the operations, and its verifier judges the states.
  std::optional<workload::Application> application;
  std::string report;       ///< contents of the application's report (Application::report)
  oracle::TreeJudge judge;  ///< if set, replaces the oracle as the judge of trees
  std::vector<workload::FailedOperation> failed_operations;
  /// Event number of the mark "phase workload". Earlier cuts are not explored.
  std::uint64_t from_event = 0;
  std::uint64_t to_event = 0;  ///< event number of the mark "phase end", which precedes the unmount
  std::optional<std::string> failure;
  std::optional<IssuerShare> issuers = {};  ///< nullopt if no issuers were recorded
  bool disk_full = false;  ///< at the time of `failure`, the file system had almost no free space
};
/// Checks that a correct file system can execute the list in `text`, up to the first `crash`
/// operation. Errors name the file and the line.
Result<void> check_list(const std::string& text, const std::string& file_name,
                        const adapters::Promises& promises);

/// Records a workload. Fails if a `crash` operation in the list leaves a state that fails its
/// check. In that case, the judgement is stored in `at_crash`, if not null.
Result<RecordedWorkload> record_workload(StageGuest& guest,
                                         const adapters::LinuxAdapter& filesystem,
                                         const FormattedDisk& disk,
                                         const std::vector<workload::Operation>& operations,
                                         const std::filesystem::path& recording,
                                         std::optional<oracle::Judgement>* at_crash = nullptr);

/// Records an application. Runs its `prepare` commands before the first mark, and its `run`
/// commands instead of a list of operations.
Result<RecordedWorkload> record_application(StageGuest& guest,
                                            const adapters::LinuxAdapter& filesystem,
                                            const FormattedDisk& disk,
                                            const workload::Application& application,
                                            const std::filesystem::path& recording);

/// Records an application that formats and mounts the guest's first disk itself. The disk is empty,
/// and the guest is fresh, so that nothing of an earlier application remains.
Result<RecordedWorkload> record_unformatted(StageGuest& guest,
                                            const workload::Application& application,
                                            const std::filesystem::path& recording,
                                            const DiskOptions& options);

/// Returns the path of a leg's recording. A leg is the part of a list up to its next crash; legs
/// are numbered from 1.
std::filesystem::path leg_recording(const std::filesystem::path& recording, int number);

std::filesystem::path operations_file(const std::filesystem::path& recording);
Result<void> write_operations(const RecordedWorkload& workload);

/// Opens an existing recording of an exploration, a trial or an import. If `operations` (the
/// workload's list) is empty, reads the list from operations_file() if that file exists. Fails if a
/// file cannot be read or parsed. Also fails if a mark names an operation that is not a persistence
/// point: the list then belongs to another run.
Result<RecordedWorkload> open_recorded_workload(const std::filesystem::path& recording,
                                                std::vector<workload::Operation> operations = {});

/// Returns a version 4 UUID derived from a seed, so that runs are reproducible. mkfs itself would
/// choose a random UUID.
std::string uuid_from(std::uint64_t seed);
std::string uuid_from(std::mt19937_64& random);

}  // namespace headcrash::explorer

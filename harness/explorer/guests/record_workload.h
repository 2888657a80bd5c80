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
// NAME.operations.txt next to a workload's recording holds the list that the agent executed, one
// operation per line (harness/workload/operation.h), with lines "#failed N skipped|partial" for
// operations that the file system did not execute. A recording without it can be explored, but the
// oracle cannot judge it.

#include <random>

#include "harness/explorer/guests/stage_guest.h"

namespace headcrash::explorer {

/// The behaviour of the disk on which a workload is recorded. Not applicable to an array, which
/// consists of empty members and has its own timing.
struct DiskOptions {
  /// Fill the disk with bytes from before mkfs, which trims do not change. This exposes omitted
  /// writes.
  bool used = true;
  /// Maximum delay of writes and flushes during the workload. Delayed writes overtake each other,
  /// so a write for which the file system does not wait is in flight at the next flush. 0 answers
  /// at once.
  std::uint32_t delay_us = 8000;
  std::uint64_t seed = 1;  ///< seed of the delays
  /// Text of kind_of_write(), such as "inode table": writes of this kind take `slow_us` longer. The
  /// workload is then recorded twice, first to find their places. Empty for none.
  std::string slow = {};
  std::uint32_t slow_us = 100'000;
};

struct FormattedDisk {
  std::filesystem::path recording;
  std::string state;  ///< its last state, with all writes
  DiskOptions options = {};
};
/// Formats a disk and records it. Replaces an existing recording. `uuid` is that of the file
/// system, so that runs are reproducible.
run::Step<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const std::filesystem::path& recording,
                                     const std::string& uuid, const DiskOptions& options = {});

/// Returns the disk that was formatted in a recording with this number of events.
FormattedDisk formatted_disk(const std::filesystem::path& recording, std::uint64_t events,
                             const StageMachine& machine, const DiskOptions& options = {});

struct RecordedWorkload {
  std::filesystem::path recording;
  std::vector<workload::Operation> operations;  ///< empty if unknown; then there is no oracle
  /// Replaces the operations, and judges the states.
  std::optional<workload::Application> application;
  std::vector<workload::FailedOperation> failed_operations;
  std::uint64_t from_event = 0;  ///< the mark "phase workload"; earlier cuts are not explored
  std::uint64_t to_event = 0;    ///< the mark "phase end", before the unmount
  std::optional<std::string> failure;
};
/// Checks that a correct file system can execute the list `text`, up to a crash in it. Errors name
/// file and line.
Result<void> check_list(const std::string& text, const std::string& file_name,
                        const adapters::Promises& promises);

/// Records a workload. An error is a verdict on the file system if the state at a crash inside the
/// list fails.
run::Step<RecordedWorkload> record_workload(StageGuest& guest,
                                            const adapters::LinuxAdapter& filesystem,
                                            const FormattedDisk& disk,
                                            const std::vector<workload::Operation>& operations,
                                            const std::filesystem::path& recording);

/// Records an application's `run` in place of operations. It is prepared before its marks begin.
run::Step<RecordedWorkload> record_application(StageGuest& guest,
                                               const adapters::LinuxAdapter& filesystem,
                                               const FormattedDisk& disk,
                                               const workload::Application& application,
                                               const std::filesystem::path& recording);

/// Returns the recording of a leg that ends with a crash, numbered from 1.
std::filesystem::path leg_recording(const std::filesystem::path& recording, int number);

/// Returns the path of a recording's list of operations.
std::filesystem::path operations_file(const std::filesystem::path& recording);
Result<void> write_operations(const RecordedWorkload& workload);

/// Opens an existing recording made by an exploration or a trial, or an imported one. `operations`
/// is its list; if empty, uses the file next to the recording, if any. Fails if a file cannot be
/// read or parsed, or if the list belongs to another run (a mark names an operation that is not a
/// persistence point).
Result<RecordedWorkload> open_recorded_workload(const std::filesystem::path& recording,
                                                std::vector<workload::Operation> operations = {});

/// Returns a version 4 UUID derived from a seed. mkfs would draw a random one, and runs would not
/// be reproducible.
std::string uuid_from(std::uint64_t seed);
std::string uuid_from(std::mt19937_64& random);

}  // namespace headcrash::explorer

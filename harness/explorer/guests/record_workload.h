#pragma once
// A workload run on a fresh file system on a stage, recorded.
//
//   empty disk --mkfs--> formatted.hcrec          once for a file system and size; kept and used again
//   formatted  --mount, operations, marks, seal--> workload.hcrec (base: the last state of the former)
//
// On a stage under an array (stage_machine.h) both have what the members did, and the base is a
// physical state.
//
// A list with `crash` is recorded in legs, each on the state that the crash before it has left:
//
//   formatted --operations--> workload.leg-1.hcrec --crash, recovery, operations--> workload.hcrec
//
// What the last leg's states are judged by is a list that makes the tree which was found after the
// crash (harness/oracle/list_of_tree.h), and the operations since. That tree itself is judged by
// the leg before.
//
// Beside a workload's recording lies what it did: NAME.operations.txt, the list that the agent
// executed, one operation a line (harness/workload/operation.h), with lines "#failed N
// skipped|partial" for what the file system could not do. A recording without it can be explored,
// but not judged by the oracle.

#include <random>

#include "harness/explorer/guests/stage_guest.h"

namespace headcrash::explorer {

/// How the disk behaves on which a workload is recorded. An array is made of empty members and has
/// times of its own: it takes none of this.
struct DiskOptions {
  /// Full of bytes from before mkfs, which trims leave alone: what a file system forgets to write
  /// is seen.
  bool used = true;
  /// Writes and flushes take up to so long while the workload runs, and overtake each other: what a
  /// file system forgets to wait for is in flight at the next flush. 0: answers at once.
  std::uint32_t delay_us = 8000;
  std::uint64_t seed = 1;  ///< of the delays
  /// Writes of this kind take `slow_us` longer; words of kind_of_write(), "inode table". The work
  /// is recorded twice, first to learn where they are. Empty: none.
  std::string slow = {};
  std::uint32_t slow_us = 100'000;
};

struct FormattedDisk {
  std::filesystem::path recording;
  std::string state;  ///< its last one, all writes there
  DiskOptions options = {};
};
/// Replaces the recording if there is one. `uuid`: of the file system, so that runs repeat.
run::Step<FormattedDisk> format_disk(StageGuest& guest, const adapters::LinuxAdapter& filesystem,
                                     const std::filesystem::path& recording,
                                     const std::string& uuid, const DiskOptions& options = {});

/// The one that was being made in the recording that has this number of events.
FormattedDisk formatted_disk(const std::filesystem::path& recording, std::uint64_t events,
                             const StageMachine& machine, const DiskOptions& options = {});

struct RecordedWorkload {
  std::filesystem::path recording;
  std::vector<workload::Operation> operations;  ///< empty: not known, no oracle
  std::optional<workload::Application>
      application;  ///< then there are no operations, and it judges
  std::vector<workload::FailedOperation> failed_operations;
  std::uint64_t from_event = 0;  ///< the mark "phase workload": cuts before it are of no interest
  std::uint64_t to_event = 0;    ///< the mark "phase end", before the unmount
  std::optional<std::string> failure;
};
/// Whether a correct file system can do the list `text`, up to a crash in it. Errors name file and
/// line.
Result<void> check_list(const std::string& text, const std::string& file_name,
                        const adapters::Promises& promises);

/// Errors that are a verdict on a file system: the state at a crash inside of the list fails.
run::Step<RecordedWorkload> record_workload(StageGuest& guest,
                                            const adapters::LinuxAdapter& filesystem,
                                            const FormattedDisk& disk,
                                            const std::vector<workload::Operation>& operations,
                                            const std::filesystem::path& recording);

/// The same with an application's `run` in place of operations; prepared before its marks begin.
run::Step<RecordedWorkload> record_application(StageGuest& guest,
                                               const adapters::LinuxAdapter& filesystem,
                                               const FormattedDisk& disk,
                                               const workload::Application& application,
                                               const std::filesystem::path& recording);

/// Of a leg that ends with a crash, from 1.
std::filesystem::path leg_recording(const std::filesystem::path& recording, int number);

/// Where the operations of a recording are kept.
std::filesystem::path operations_file(const std::filesystem::path& recording);
Result<void> write_operations(const RecordedWorkload& workload);

/// A recording that exists: made by the lab, by a trial of a campaign, or imported. `operations`:
/// what was done; empty: as the file beside it says, if that is there. Errors: a file that cannot
/// be read or understood; a list of another run, which the oracle would judge by (a mark says that
/// an operation is persistent that is not a persistence point).
Result<RecordedWorkload> open_recorded_workload(const std::filesystem::path& recording,
                                                std::vector<workload::Operation> operations = {});

/// Version 4, from a seed: mkfs would draw one of its own, and runs would not repeat.
std::string uuid_from(std::uint64_t seed);
std::string uuid_from(std::mt19937_64& random);

}  // namespace headcrash::explorer

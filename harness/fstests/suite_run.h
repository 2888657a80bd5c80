#pragma once
// Runs one test of fstests in a guest, records its scratch disk, and explores the crash states of
// the recording.
//
//   guest                            recording of the scratch disk
//     test device, in memory
//     /dev/vda  scratch   ------->   mkfs  mount .. sync .. unmount  mount .. unmount  fsck
//     ./check generic/034                    |---- period ----|       |- period -|
//                                            states are explored in these periods
//
// The suite is not modified: programs that replace mount, umount, sync and xfs_io in PATH write the
// marks (guest/stand-in.sh). A state is recovered, checked and mounted, and its tree is compared
// with what was durable (durable_tree.h).

#include <string>
#include <vector>

#include "harness/explorer/guests/exploration.h"
#include "harness/explorer/guests/guest_pool.h"
#include "harness/fstests/durable_tree.h"
#include "harness/fstests/suite.h"

namespace headcrash::fstests {

/// The outcome of a test itself, without a power cut.
enum class SuiteVerdict : std::uint8_t { passed, failed, not_run };
std::string_view name(SuiteVerdict verdict);

struct SuiteOutcome {
  SuiteVerdict verdict = SuiteVerdict::failed;
  std::string output;               ///< output of the suite
  std::filesystem::path recording;  ///< empty if the test was not recorded
  /// Returns the reason why the test was not run, or the line that explains its failure.
  std::string reason() const;
};

/// Parses the result file of guest/run.sh.
SuiteOutcome parse_result(const std::string& text);

struct SuiteRun {
  std::string test;  ///< such as "generic/034"
  std::string type;  ///< type of the file system
  std::uint64_t test_device_bytes = 0;
  std::vector<std::string> more_arguments;  ///< further arguments of `check`
  std::string image;                        ///< squashfs image of the root file system
  explorer::DiskOptions disk;
};

/// Runs a test on an empty scratch disk, and records it. If the guest's time limit ends the test,
/// its verdict is `failed`, and there is no recording.
Result<SuiteOutcome> run_test(explorer::StageGuest& guest, const Suite& suite, const SuiteRun& run,
                              const std::filesystem::path& recording);

struct CrashOptions {
  std::vector<states::Strategy> strategies;
  std::uint64_t states = 60;      ///< maximum number of states of a recording
  std::chrono::seconds limit{0};  ///< time limit for exploring a recording; 0 for no limit
  std::uint64_t seed = 1;
  const std::atomic<bool>* interrupted = nullptr;
};

/// A mount period that was not explored, because the state at its end was not usable.
struct SkippedPeriod {
  MountPeriod period;
  std::string reason;
};

struct CrashOutcome {
  std::size_t periods = 0;  ///< number of mount periods in the recording
  std::size_t explored = 0;
  std::vector<SkippedPeriod> skipped;
  std::uint64_t states = 0, failing = 0;
  /// Number of explored periods in which at least one object was durable before the end of the
  /// period.
  std::size_t with_durable_objects = 0;
  std::vector<explorer::ConfirmedFailure> failures;
  bool out_of_time = false;
  double seconds = 0;
};

/// Explores the mount periods of a recording. If there are more periods than the limit on states
/// allows, explores a selection that is spread over the recording. Fails only if the recording
/// cannot be read.
Result<CrashOutcome> explore_periods(const std::vector<explorer::StageGuest*>& guests,
                                     const adapters::LinuxAdapter& filesystem,
                                     const std::filesystem::path& recording,
                                     const CrashOptions& options);

}  // namespace headcrash::fstests

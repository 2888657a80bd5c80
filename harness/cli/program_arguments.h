#pragma once
// Helpers for the commands that test a user's program (check, audit): their common options, and
// explorations of the program's crash states.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/check/test_program.h"
#include "harness/cli/explored.h"
#include "plugin/base/descriptor.h"

namespace headcrash::cli {

struct ProgramArguments {
  check::TestProgram program;
  std::vector<std::string> filesystems;
  std::string stack;  ///< stack of block devices below each file system; empty for no stack
  std::string folder;
  std::string disk;  ///< size of the disk; empty to estimate it
  std::uint64_t states = 1000, seed = 1, time_s = 60, limit_s = 60;
  std::size_t jobs = 2;
  bool keep = false, as_json = false;
  Verbosity verbosity = Verbosity::normal;
  KernelArguments kernel;
  report::CiFiles ci;
};

/// Adds the positional arguments that name the program, and all options in `arguments`.
void add_program_options(CLI::App& command, ProgramArguments& arguments);

/// Completes the arguments, calls `work`, and reports any error that `work` returns. `command` is
/// the name of the command. Returns the exit code.
int run_on_program(ProgramArguments& arguments, const std::string& command,
                   const std::function<Result<int>()>& work);

std::string program_name(const ProgramArguments& arguments);

/// Checks those arguments that can be checked before the program runs.
Result<void> validate(const ProgramArguments& arguments);

/// Runs the program on this host and packs it into arguments.folder. Fails if the guest cannot run
/// it.
Result<check::PreparedProgram> prepare_program(const ProgramArguments& arguments);

/// Creates the directory for results. If it exists, removes the files of an earlier run. Fails if
/// it contains other files, or if another process uses it. The directory is in use until the
/// returned descriptor is closed.
Result<base::Descriptor> make_result_folder(const ProgramArguments& arguments);

/// Returns the arguments for an exploration that ends at the first loss.
ExploreArguments exploration_of(const ProgramArguments& arguments, const std::string& filesystem,
                                const check::PreparedProgram& prepared);

/// Returns the size of the disk, which is the value of --disk if set. Otherwise, it is the file
/// system's smallest size plus space for the bytes that the program writes and preallocates.
Result<std::string> disk_size(const ProgramArguments& arguments,
                              const adapters::LinuxAdapter& filesystem,
                              const check::PreparedProgram& prepared);

/// Returns the error to report if the program failed in the guest without a power cut.
tl::unexpected<Error> failed_in_guest(const ProgramArguments& arguments,
                                      const ExploreArguments& explore,
                                      const explorer::RecordedWorkload& workload);

/// Returns `error`. If no guest can run on this host, changes its kind to `cannot_run`.
tl::unexpected<Error> explained(const ProgramArguments& arguments, Error error);

/// Returns the position and text of the last promise before the cut, such as: after line 17,
/// "committed 17".
std::string last_promise(const explorer::StateOutcome& outcome);

struct LossText {
  std::string headline;  ///< describes the last promise before the cut
  /// The verifier's output, the lost writes, and the paths of the files that describe_loss()
  /// writes.
  std::vector<std::string> about;
};
/// Minimises and describes the first loss. Writes a page, a text that describes the failure, and a
/// script that repeats the check. The paths of these files begin with `prefix`. Minimising takes at
/// most `seconds`, which is clamped to the range from 5 to 20.
Result<LossText> describe_loss(const ProgramArguments& arguments, Explored& explored,
                               const std::string& prefix, double seconds);

/// Returns true if the verifier reports a loss when the disk ignores flushes. Returns nullopt if
/// the time limit ended the search for a loss.
Result<std::optional<bool>> sees_a_loss(const ProgramArguments& arguments,
                                        const std::string& filesystem, const std::string& recording,
                                        const check::PreparedProgram& prepared);

/// Returns a number of crash states as text. The number may be too large for an integer.
std::string states_text(double states);

/// Returns the number of lines that the program printed in the guest.
Result<std::size_t> printed_lines(const std::string& recording);

/// Returns an error for a test that passes even if the disk ignores flushes. The error gives the
/// likely cause.
tl::unexpected<Error> cannot_detect_a_loss(const ProgramArguments& arguments,
                                           const std::string& recording,
                                           const check::PreparedProgram& prepared);

}  // namespace headcrash::cli

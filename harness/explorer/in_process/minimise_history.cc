// Shortens a history by removing operations and change points that the failure does not need
// (minimise_history.h).
#include "harness/explorer/in_process/minimise_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headcrash::in_process {
namespace {

constexpr std::size_t kHistoryRunsMost = 400;
/// Two failures are of the same kind if the first kSameBeginning characters of their texts are
/// equal.
constexpr std::size_t kSameBeginning = 24;
constexpr std::size_t kOmissibleChanges = 64;

class HistoryMinimiser {
 public:
  HistoryMinimiser(const FormattedDisk& formatted, const adapters::SystemUnderTest& system,
                   std::filesystem::path recording)
      : formatted_(formatted),
        system_(system),
        disk_(formatted),
        recording_(std::move(recording)) {}

  Result<MinimisedHistory> minimise(MinimisedHistory history) {
    TRY(auto failure, run(history));
    if (failure.empty()) return fail(recording_.string(), "the failed run succeeds when repeated");
    kind_ = failure.substr(0, kSameBeginning);
    history.failure = std::move(failure);
    for (std::size_t before = 0; before != history.operations.size();) {
      before = history.operations.size();
      TRY(remove_operations(history));
      TRY(omit_changes(history));
    }
    return history;
  }

 private:
  /// Runs a history. Returns its failure, or an empty string.
  Result<std::string> run(const MinimisedHistory& history) {
    ++runs_;
    TRY(const auto recorded,
        record_run(formatted_, disk_, system_, history.operations, history.run, recording_));
    return recorded.failure.value_or("");
  }

  /// Replaces `history` with `shorter` if `shorter` fails in the same way.
  Result<void> try_shorter(MinimisedHistory& history, MinimisedHistory shorter) {
    if (runs_ >= kHistoryRunsMost) return {};
    TRY(auto failure, run(shorter));
    if (failure.empty() || !failure.starts_with(kind_)) return {};
    shorter.failure = std::move(failure);
    history = std::move(shorter);
    return {};
  }

  Result<void> remove_operations(MinimisedHistory& history) {
    for (std::size_t i = history.operations.size(); i-- > 0;) {
      if (history.operations[i].kind == workload::Operation::Kind::join) continue;
      MinimisedHistory shorter = history;
      shorter.operations.erase(shorter.operations.begin() + static_cast<std::ptrdiff_t>(i));
      TRY(try_shorter(history, std::move(shorter)));
    }
    return {};
  }

  Result<void> omit_changes(MinimisedHistory& history) {
    auto all = schedule_of(history.operations, history.run);
    all.omitted = 0;
    const std::size_t changes =
        std::min(kOmissibleChanges, os::RandomPriorities(all).changes().size());
    for (std::size_t i = 0; i < changes; ++i) {
      const std::uint64_t bit = std::uint64_t{1} << i;
      if ((history.run.omitted_changes & bit) != 0) continue;
      MinimisedHistory shorter = history;
      shorter.run.omitted_changes |= bit;
      TRY(try_shorter(history, std::move(shorter)));
    }
    return {};
  }

  const FormattedDisk& formatted_;
  const adapters::SystemUnderTest& system_;
  StateDisk disk_;
  std::filesystem::path recording_;
  std::string kind_;
  std::size_t runs_ = 0;
};

}  // namespace

std::string MinimisedHistory::text() const {
  return fmt::format("minimised ({}): {}", os::format(schedule_of(operations, run)), failure);
}

Result<MinimisedHistory> minimise_history(const FormattedDisk& formatted,
                                          const adapters::SystemUnderTest& system,
                                          std::span<const workload::Operation> operations,
                                          const RunOptions& options,
                                          const std::filesystem::path& recording) {
  return HistoryMinimiser(formatted, system, recording)
      .minimise({.operations = {operations.begin(), operations.end()}, .run = options});
}

}  // namespace headcrash::in_process

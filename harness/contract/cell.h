#pragma once
// A cell of the contract table: one litmus test on one file system.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/contract/litmus_test.h"
#include "harness/oracle/verdict.h"
#include "plugin/states/crash_state.h"
#include "plugin/states/run_history.h"
#include "plugin/states/state_enumerator.h"

namespace headcrash::contract {

/// A cell's answer. `unusable`: some states did not mount or could not be repaired, and no other
/// state is broken. `unsupported`: the file system lacks an operation that the test uses. `failed`:
/// an operation failed that succeeds on a correct file system, or the test could not run.
enum class Answer : std::uint8_t { kept, broken, unusable, unsupported, failed };
std::string_view name(Answer answer);

/// The broken crash state with the fewest missing writes; if none is broken, an unusable one.
struct SmallestCrash {
  std::string state;        ///< its name in the recording
  std::size_t missing = 0;  ///< number of lost or torn writes
  std::string row;          ///< the row that the recovered tree violates
  std::string found;        ///< the objects that this row names
  bool confirmed = false;   ///< the state failed again, on a fresh guest or without reuse
};

/// Returns the number of writes that are lost or torn in a state by writes.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

struct Cell {
  int test = 0;  ///< number
  std::string system;
  Answer answer = Answer::failed;
  std::uint64_t states = 0;    ///< number of distinct crash states that were checked
  std::uint64_t broken = 0;    ///< states in which the answer is "no"
  std::uint64_t unusable = 0;  ///< states that did not mount or could not be repaired
  /// States that headcrash itself could not check. The other counts do not include them.
  std::uint64_t unchecked = 0;
  double space = 0;    ///< number of states that the strategies define
  bool whole = false;  ///< all of them were checked, and the strategies omit no state
  Promise promise;
  SmallestCrash smallest;  ///< set if any state is broken or unusable
  std::string problem;     ///< the reason for unsupported or failed
  std::string recording;   ///< path; empty if it was not kept
  double seconds = 0;

  /// Counts a checked state. `findings` may contain findings of other tiers, which are ignored.
  void add(const oracle::Judgement& judgement, const std::vector<oracle::Finding>& findings,
           const std::string& state, std::size_t missing);
  /// Sets the answer, once all states have been counted.
  void finish(const std::vector<states::Coverage>& coverage);
  bool lost() const { return answer == Answer::broken || answer == Answer::unusable; }
  /// Returns "kept 0/412", "broken 3/388+", "unusable 8/44", "unsupported".
  std::string text() const;
};

struct TableSystem {
  std::string name, kernel;
};

struct Table {
  std::vector<LitmusTest> tests;
  std::vector<TableSystem> systems;
  std::vector<Cell> cells;  ///< in any order; cells that have not run are missing
  std::string commit;

  const Cell* find(int test, std::string_view system) const;
};

std::string as_text(const Table& table, std::size_t width);
std::string as_markdown(const Table& table);
std::string as_csv(const Table& table);
nlohmann::json as_json(const Table& table);
/// Reads a table that as_json() wrote. Tests that no longer exist are an error.
Result<Table> parse_table(const std::string& text, const std::string& file_name);

/// A cell that differs between two tables or systems.
struct Difference {
  int test = 0;
  const Cell* one = nullptr;
  const Cell* other = nullptr;
};
/// Compares two systems, test by test. Only answers count, because the number of states depends on
/// each file system's layout.
std::vector<Difference> differences(const Table& one, std::string_view system, const Table& other,
                                    std::string_view other_system);

}  // namespace headcrash::contract

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

/// The answer of a cell. `unusable`: some states could not be mounted or repaired, but no state is
/// broken. `unsupported`: the file system lacks an operation that the test uses. `failed`: the test
/// could not run, or an operation failed that succeeds on a correct file system.
enum class Answer : std::uint8_t { kept, broken, unusable, unsupported, failed };
std::string_view name(Answer answer);

/// The broken crash state with the fewest lost or torn writes. If no state is broken, the unusable
/// state with the fewest lost or torn writes.
struct SmallestCrash {
  std::string state;        ///< name of the state in the recording
  std::size_t missing = 0;  ///< number of lost or torn writes
  std::string row;          ///< text of the row that the recovered tree violates
  std::string found;        ///< the objects found in the recovered tree instead
  /// True if the failure recurred in a second check: on a fresh guest or, for an in-process test,
  /// without reuse of earlier outcomes.
  bool confirmed = false;
};

/// Returns the number of lost or torn writes in a state. The state's base must be `writes`.
std::size_t missing_writes(const states::RunHistory& run, const states::CrashState& state);

struct Cell {
  int test = 0;  ///< number
  std::string system;
  Answer answer = Answer::failed;
  std::uint64_t states = 0;    ///< number of distinct crash states that were checked
  std::uint64_t broken = 0;    ///< number of states that are not in the allowed set
  std::uint64_t unusable = 0;  ///< number of states that did not mount or could not be repaired
  /// Number of states that headcrash itself could not check. They are not included in the other
  /// counts.
  std::uint64_t unchecked = 0;
  double space = 0;    ///< number of states that the strategies can generate
  bool whole = false;  ///< every state was checked, and the strategies omitted none
  Promise promise;
  std::string literature;  ///< LitmusTest::literature_on(); empty if there is no such result
  SmallestCrash smallest;  ///< set if any state is broken or unusable
  std::string problem;     ///< the reason, if the answer is `unsupported` or `failed`
  std::string recording;   ///< path; empty if it was not kept
  double seconds = 0;

  /// Counts a checked state. `findings` may contain findings of other tiers, which are ignored.
  void add(const oracle::Judgement& judgement, const std::vector<oracle::Finding>& findings,
           const std::string& state, std::size_t missing);
  /// Derives `answer` from the counted states. Call it once, after the last add().
  void finish(const std::vector<states::Coverage>& coverage);
  bool lost() const { return answer == Answer::broken || answer == Answer::unusable; }
  /// Returns a text such as "kept 0/412", "broken 3/388+", "unusable 8/44" or "unsupported".
  std::string text() const;
};

struct TableSystem {
  std::string name, kernel;
};

struct Table {
  std::vector<LitmusTest> tests;
  std::vector<TableSystem> systems;
  std::vector<Cell> cells;  ///< in any order, and without cells that have not run
  std::string commit;

  const Cell* find(int test, std::string_view system) const;
};

std::string as_text(const Table& table, std::size_t width);
std::string as_markdown(const Table& table);
std::string as_csv(const Table& table);
nlohmann::json as_json(const Table& table);
/// Parses a table that as_json() has written. Fails if it contains a test that no longer exists.
Result<Table> parse_table(const std::string& text, const std::string& file_name);

/// A test whose cells differ between two tables or systems.
struct Difference {
  int test = 0;
  const Cell* one = nullptr;
  const Cell* other = nullptr;
};
/// Compares two systems, test by test. Compares only the answers, because the number of states
/// depends on each file system's layout.
std::vector<Difference> differences(const Table& one, std::string_view system, const Table& other,
                                    std::string_view other_system);

}  // namespace headcrash::contract

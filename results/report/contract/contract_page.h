#pragma once
// The page for a contract table: one row per litmus test, one column per file system, and a section
// with the smallest crash of each broken or unusable cell. Texts may contain any bytes.

#include <string>
#include <vector>

namespace headcrash::report {

struct ContractCell {
  /// `none` means that the cell has not run.
  enum class Answer { kept, broken, unusable, unsupported, failed, none } answer = Answer::none;
  std::string text;       ///< "broken 3/388+"
  std::string promise;    ///< "not promised"
  bool promised = false;  ///< the promise's source
  std::string source;     ///< of the promise
  // For a broken or unusable cell.
  std::string row, found, state, writes, crash_page, command;
  std::string problem;  ///< why a cell is unsupported or failed
};

struct ContractRow {
  std::string number, title, group, relies;
  std::vector<std::string> initial, operations, allowed;
  std::vector<std::string> defect;  ///< steps of the seeded defect
  std::vector<ContractCell> cells;  ///< one for each system
};

struct ContractPage {
  std::vector<std::string> systems;
  std::vector<ContractRow> rows;
  std::string commit;
  std::string command;  ///< the command that created the table
};

/// Returns the page as one self-contained HTML file.
std::string contract_page(const ContractPage& page);

}  // namespace headcrash::report

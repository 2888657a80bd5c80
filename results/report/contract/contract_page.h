#pragma once
// The page of a contract table. The table has a row for each litmus test and a column for each file
// system. For each broken or unusable cell, a section shows the smallest crash. Texts may contain
// any bytes.

#include <string>
#include <vector>

namespace headcrash::report {

struct ContractCell {
  /// `none`: the cell has not been run.
  enum class Answer { kept, broken, unusable, unsupported, failed, none } answer = Answer::none;
  std::string text;       ///< "broken 3/388+"
  std::string promise;    ///< "not promised"
  bool promised = false;  ///< true if the file system promises the result that the row allows
  std::string source;     ///< source of the promise
  // The description of the smallest crash; set only for a broken or unusable cell.
  std::string row, found, state, writes, crash_page, command;
  std::string problem;  ///< the reason why a cell is unsupported or has failed
};

struct ContractRow {
  std::string number, title, group, relies;
  std::vector<std::string> initial, operations, allowed;
  std::vector<std::string> defect;  ///< operations of the seeded defect
  std::vector<ContractCell> cells;  ///< one for each file system
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

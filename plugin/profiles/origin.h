#pragma once
// Where a number of a profile comes from.

#include <string>

namespace headcrash::profiles {

/// Where the numbers of one table of a profile come from.
struct Origin {
  std::string table;  ///< "seek"
  std::string kind;   ///< measured, data-sheet, paper, estimate or calibration
  std::string remark;
};

}  // namespace headcrash::profiles

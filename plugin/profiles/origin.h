#pragma once
// Origins of the numbers of a profile.

#include <string>

namespace headcrash::profiles {

/// The origin of the numbers of one table.
struct Origin {
  std::string table;  ///< "seek"
  std::string kind;   ///< measured, data-sheet, paper, estimate or calibration
  std::string remark;
};

}  // namespace headcrash::profiles

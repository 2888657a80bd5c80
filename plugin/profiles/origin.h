#pragma once
// The origins of a profile's numbers: measurement, data sheet, paper, estimate or calibration.

#include <string>

namespace headcrash::profiles {

/// The origin of the numbers in one table of a profile.
struct Origin {
  std::string table;  ///< "seek"
  std::string kind;   ///< measured, data-sheet, paper, estimate or calibration
  std::string remark;
};

}  // namespace headcrash::profiles

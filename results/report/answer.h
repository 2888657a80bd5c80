#pragma once
// The report in sentences: what a busy person reads. Plain text, made only from the facts.

#include <string>
#include <vector>

#include "results/report/facts.h"

namespace headcrash::report {

struct Answer {
  bool valid = true;  ///< false: a control did not lose what it must lose
  std::vector<std::string> failed_controls;
  std::string controls;               ///< one sentence about the controls that came out as they must
  std::string paragraph;              ///< what the file systems did
  std::vector<std::string> cautions;  ///< interrupted, late trials, cuts that never came
};

Answer answer(const Facts& facts);

}  // namespace headcrash::report

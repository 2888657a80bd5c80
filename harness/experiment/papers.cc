// The table of papers, and of what is none (paper.h). A new one is a folder and a line.
#include "harness/experiment/chen96/chen96.h"
#include "harness/experiment/compare/compare.h"
#include "harness/experiment/ganger94/ganger94.h"
#include "harness/experiment/paper.h"
#include "harness/experiment/peacock98/peacock98.h"
#include "harness/experiment/rosenblum92/rosenblum92.h"
#include "harness/experiment/soares03/soares03.h"

namespace headcrash::experiment {

const std::vector<Paper>& papers() {
  static const std::vector<Paper> kPapers{
      ganger94::paper(), chen96::paper(),    rosenblum92::paper(),
      soares03::paper(), peacock98::paper(), compare::experiment(),
  };
  return kPapers;
}

}  // namespace headcrash::experiment

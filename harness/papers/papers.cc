// Lists the papers and our own experiments (paper.h). A new experiment needs a directory and a line
// here.
#include "harness/papers/chen96/chen96.h"
#include "harness/papers/comparison/compare.h"
#include "harness/papers/ganger94/ganger94.h"
#include "harness/papers/paper.h"
#include "harness/papers/peacock98/peacock98.h"
#include "harness/papers/rosenblum92/rosenblum92.h"
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment {

const std::vector<Paper>& papers() {
  static const std::vector<Paper> kPapers{
      ganger94::paper(), chen96::paper(),    rosenblum92::paper(),
      soares03::paper(), peacock98::paper(), compare::experiment(),
  };
  return kPapers;
}

}  // namespace headcrash::experiment

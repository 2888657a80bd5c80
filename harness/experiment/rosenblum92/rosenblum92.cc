// The paper's parts (rosenblum92.h). A part runs once: simulations are long enough to need no mean of executions.
#include "harness/experiment/rosenblum92/rosenblum92.h"

#include "harness/experiment/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {

Paper paper() {
  return {"rosenblum92",
          "Rosenblum 1992, The Design and Implementation of a Log-structured File System: all of it",
          {{"simulator", "Chapter 5: cleaning policies on the simulator (LFS-11 to LFS-20)", 1, simulator},
           {"arithmetic", "What the dissertation computes, computed again (LFS-05, 08, 21, 35, 41)", 1,
            arithmetic},
           {"beyond", "Later ideas about cleaning on the same simulator: which wins where", 1, beyond}}};
}

}  // namespace headcrash::experiment::rosenblum92

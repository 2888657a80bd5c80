// Lists the parts of the dissertation (rosenblum92.h). The parts about the simulator and production
// use need much time, so they run only once.
#include "harness/papers/rosenblum92/rosenblum92.h"

#include "harness/papers/rosenblum92/chapter6.h"
#include "harness/papers/rosenblum92/simulator_figures.h"

namespace headcrash::experiment::rosenblum92 {

Paper paper() {
  return {
      "rosenblum92",
      "Rosenblum 1992, The Design and Implementation of a Log-structured File System",
      {{"simulator", "Chapter 5: cleaning policies on the simulator (LFS-11 to LFS-20)", 1,
        simulator},
       {"arithmetic",
        "The dissertation's calculations, repeated (LFS-05, 08, 21, 35, 41)",
        1,
        arithmetic,
        {},
        0},
       {"logging",
        "A log of data under sequential writing, section 2.5.3 (LFS-43)",
        1,
        logging,
        {},
        0},
       {"array-writes",
        "Small writes on a RAID-5, section 3.1.2.1 (LFS-40)",
        1,
        array_writes,
        {},
        0},
       {"two-files", "Writes for two new files, figure 4-1 (LFS-06)", 1, two_files, {}, 0},
       {"small-files",
        "10 000 small files, figures 6-1 to 6-3 (LFS-22 to LFS-27)",
        1,
        small_files,
        {},
        kSeeds},
       {"large-file",
        "A file of 100 MB, figure 6-4 (LFS-28, LFS-29, LFS-44)",
        1,
        large_file,
        {},
        kSeeds},
       {"recovery",
        "Recovery times, table 6-1 (LFS-04, LFS-30, LFS-31, LFS-42)",
        1,
        recovery_times,
        {},
        0},
       {"andrew", "Modified Andrew benchmark, figure 6-5 (LFS-32)", 1, andrew},
       {"production",
        "Months of use: tables 6-2 to 6-4, figure 6-6 (LFS-33, LFS-34, LFS-36 to LFS-38)", 1,
        production},
       {"beyond",
        "Later cleaning policies on the same simulator, and the cases in which each is best", 1,
        beyond}},
      "A file system that writes all changes to a log uses 65 to 75 % of the disk's bandwidth for "
      "new data, where Unix uses 5 to 10 %, and recovers in seconds.",
      {{"cleaning, greedy, uniform, 75 % full", "LFS-12", "U = .75", "write cost"},
       {"new data's share of the bandwidth, mean of 11 disks", "LFS-38", "mean of all",
        "1 / write cost"},
       {"Andrew, LFS over SunOS", "LFS-32", "LFS over SunOS", "faster"}}};
}

}  // namespace headcrash::experiment::rosenblum92

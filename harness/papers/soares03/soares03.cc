// Lists the parts of the paper (soares03.h). A part runs with only one seed if its results are so
// far from the limits in its rules that other seeds would not change the verdicts.
#include "harness/papers/soares03/soares03.h"

namespace headcrash::experiment::soares03 {

Paper paper() {
  return {
      "soares03",
      "Soares, Krieger and Da Silva 2003, Meta-data Snapshotting: A Simple Mechanism for File System Consistency",
      {{"empty-files", "100 000 empty files, three times, figure 2 (MS-01)", 1, empty_files},
       {"postmark", "PostMark, figure 3 and table I (MS-02)", 1, postmark},
       {"dbench",
        "dbench, figure 4 and table II (MS-03 to MS-06)",
        1,
        dbench,
        {{"percent", 25, "percentage of the load's 122 808 operations that each client runs"},
         {"every-count", 0,
          "1: runs with 1, 4, 8, 16 and 32 clients; 0: runs with 1, 8 and 32 clients"}},
        kSeeds},
       {"source-tree", "Unpacking and removal of a source tree (not in the paper)", 1, source_tree},
       {"intervals",
        "Metadata writes by interval, and space used by snapshots (MS-13)",
        1,
        intervals,
        {},
        kSeeds},
       {"short-lives", "Files removed soon after their creation, section III-C (MS-12)", 1,
        short_lives},
       {"stalls",
        "Waits for fsync and during the spawn of a generation (MS-10, MS-11)",
        1,
        stalls,
        {},
        kSeeds},
       {"crash-states", "A sample of states after a power cut (MS-07 to MS-09, MS-14, MS-15)", 1,
        crash_states},
       {"arithmetic",
        "Statements of the text about its tables, and quotations (MS-16, MS-03)",
        1,
        arithmetic,
        {},
        0}},
      "Snapshots of metadata keep a file system consistent at a cost of at most 4 %, and are up to "
      "109 % faster than a write-ahead journal.",
      {{"empty files: additional time with snapshots", "MS-01", "KFS+snap over KFS", "more time"},
       {"dbench, 32 clients, snapshots over a journal", "MS-04", "KFS+snap over ext3, 32 clients",
        "rate"},
       {"crash states that break a rule, snapshots", "MS-07", "snapshots", "break a rule"}}};
}

}  // namespace headcrash::experiment::soares03

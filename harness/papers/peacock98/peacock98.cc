// Lists the parts of the paper (peacock98.h).
#include "harness/papers/peacock98/peacock98.h"

#include "harness/papers/peacock98/crash.h"
#include "harness/papers/peacock98/session.h"

namespace headcrash::experiment::peacock98 {

std::vector<ServerChoice> curves_of(const std::string& part) {
  if (part == "presto") return curves_of_presto();
  if (part == "raid5") return curves_of_tunings(Raid::raid5, Presto::none);
  if (part == "raid5-presto") return curves_of_tunings(Raid::raid5, Presto::both);
  if (part == "raid0") return curves_of_tunings(Raid::raid0, Presto::none);
  if (part == "raid0-presto") return curves_of_tunings(Raid::raid0, Presto::both);
  if (part == "hot-spot") return curves_of_hot_spot();
  if (part == "batching") return curves_of_batching();
  if (part == "causes") return curves_of_causes();
  if (part == "beyond") return curves_of_soft_updates();
  return {};
}

Paper paper() {
  std::vector<Parameter> several = crash_parameters();
  several.push_back({"executions", 1,
                     "runs of each row, with different seeds; the paper does not state this "
                     "number"});
  std::vector<Parameter> repetitions = load_parameters();
  repetitions.push_back({"executions", 3, "runs of the load; 10 in the paper"});
  return {
      "peacock98",
      "Peacock, Kamaraju and Agrawal 1998, Fast Consistency Checking for the Solaris File System",
      {{"presto", "RAID and Presto, figure 2 (PK-05, PK-06)", 1, presto, load_parameters()},
       {"raid5", "RAID-5 without Presto, figure 3 (PK-07)", 1, raid5, load_parameters()},
       {"raid5-presto", "RAID-5 with Presto, figure 4 (PK-03, PK-08, PK-23)", 1, raid5_presto,
        load_parameters()},
       {"raid0", "RAID-0 without Presto, figure 5 (PK-09)", 1, raid0, load_parameters()},
       {"raid0-presto", "RAID-0 with Presto, figure 6 (PK-09)", 1, raid0_presto, load_parameters()},
       {"hot-spot",
        "The rules about UFS and bmap if these also allocate from a hot spot (PK-07 to PK-09, "
        "PK-11, PK-12, PK-23)",
        1, hot_spot, load_parameters(), 1, true},
       {"counts",
        "I/Os for a write on RAID-5, for an NFS write and for a remove (PK-01, PK-02, PK-26)", 1,
        counts, load_parameters()},
       {"mkfs", "mkfs on 40 GB, with and without last-inode counters (PK-21)", 1, mkfs, {}, 0},
       {"recovery", "Recovery time after a cut, by load and tuning, figure 7 (PK-13, PK-17)", 1,
        recovery, crash_parameters()},
       {"flusher", "Recovery time by the flusher's interval and share, figure 8 (PK-14)", 1,
        flusher, crash_parameters()},
       {"table1", "Recovery time on 5 GB at 600 ops/s, table 1 (PK-16)", 1, table1, several},
       {"tunings", "Response time by flusher and fsflush, figure 9 (PK-15, PK-22)", 1, tunings,
        load_parameters()},
       {"stripes", "Full-stripe writes with the hot spot (PK-04)", 1, stripes, load_parameters()},
       {"hits", "Hits of the NVRAM by kind of block (PK-11)", 1, hits, load_parameters()},
       {"batching", "Batched and unbatched logs (PK-12, PK-19)", 1, batching, load_parameters()},
       {"small", "Response and recovery times, 5 GB at 600 ops/s (PK-18)", 1, small,
        crash_parameters()},
       {"repeated", "One load with several seeds (PK-10)", 1, repeated, repetitions},
       {"gathering", "Write gathering (not in the paper)", 1, gathering, load_parameters()},
       {"causes", "Causes of numbers that differ from the paper's (PK-07, PK-08, PK-13)", 1, causes,
        crash_parameters()},
       {"beyond", "Soft updates under the same load, and a map of busy groups (not in the paper)",
        1, beyond, crash_parameters()},
       {"arithmetic",
        "Consistency of the paper's own numbers (PK-20, PK-05, PK-17)",
        1,
        arithmetic,
        {},
        0}},
      "Marks of busy cylinder groups make a check after a crash 4 to 30 times faster than fsck. "
      "With NVRAM, the server is faster than one with a logging file system.",
      {{"RAID-5 with Presto, bmap + fast fsck over VxFS/VxLD", "PK-08",
        "bmap + fast fsck over VxFS/VxLD", "throughput"},
       {"full check of an empty file system of 44 GB", "PK-13", "UFS, empty", "recovery"},
       {"fast fsck of an empty file system of 44 GB", "PK-13", "bmap + fast fsck, empty",
        "recovery"}}};
}

}  // namespace headcrash::experiment::peacock98

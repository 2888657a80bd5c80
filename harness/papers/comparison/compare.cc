// Lists the parts of the comparison (compare.h).
#include "harness/papers/comparison/compare.h"

#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

Paper experiment() {
  std::vector<Parameter> of_aged = usual_parameters();
  of_aged.push_back(
      {"aged-mib", 128,
       "size of the used part of the drive, in MiB; a smaller part is overwritten more often"});
  of_aged.push_back({"turnovers", 3,
                     "turnovers after the disk is full: bytes written, divided by the bytes in "
                     "use"});
  return {
      "compare",
      "All our file systems on one modelled machine, with the same workloads",
      {{"fairness", "Eleven conditions of a fair comparison, and how they are met", 1, fairness},
       {"drive", "One drive with its write cache off", 1, drive, usual_parameters()},
       {"drive-cache", "One drive with its write cache on, and with flush commands", 1, drive_cache,
        usual_parameters()},
       {"fast-drive", "One drive of 60 GB with its write cache off, and a Pentium 4", 1, fast_drive,
        usual_parameters()},
       {"raid5", "RAID-5 of five drives", 1, raid5, usual_parameters()},
       {"raid5-nvram", "RAID-5 of five drives behind NVRAM", 1, raid5_nvram, usual_parameters()},
       {"aged", "An aged drive and aged arrays, 50, 75 and 90 % full", 1, aged, of_aged},
       {"delays", "Each system's own update intervals, and common delays of 5, 10 and 30 s", 1,
        delays, usual_parameters()},
       {"memory", "File caches of 18, 36 and 72 MB", 1, memory, usual_parameters()},
       {"laddis", "An NFS server's load on systems whose completed calls survive a power cut", 1,
        laddis, usual_parameters()},
       {"loss", "Changes lost in power cuts at random instants", 1, loss, usual_parameters()},
       {"recovery",
        "Time from a power cut to the first mount and to full consistency, 1, 10 and 44 GB", 1,
        recovery, usual_parameters()},
       {"summary", "Summary of all other parts: the fastest systems, their costs and their losses",
        1, summary, of_aged}}};
}

}  // namespace headcrash::experiment::compare

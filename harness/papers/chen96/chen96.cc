// Lists the parts of the paper (chen96.h).
#include "harness/papers/chen96/chen96.h"

namespace headcrash::experiment::chen96 {

Paper paper() {
  return {"chen96",
          "Chen 1996, Optimizing Delay in Delayed-Write File Systems: all parts",
          {{"calculator",
            "The six equations for your machine, and the paper's examples (CH-03 to CH-10, CH-14, "
            "CH-16)",
            1,
            calculator,
            {{"memory-mb", 85, "size of the file cache, MB of 10^6 bytes"},
             {"disk-mb-s", 4, "the disk's transfer rate, MB/s"},
             {"positioning-ms", 15, "average seek time plus half a revolution, ms"},
             {"write-mb-s", 10, "rate of writes into the cache, MB/s"},
             {"file-set-mb", 60, "size of the live data, MB"},
             {"read-share", 0, "share of reads in the traffic at the cache, 0 to 1"},
             {"read-misses", 1, "share of reads that miss the cache, 0 to 1"},
             {"burst-mb", 10, "size of a burst of writes, MB"},
             {"longest-delay-s", 15, "time after which a burst must be on the disk, s"}},
            0},
           {"writes",
            "fsync by size and bursts, figures 4 and 5 (CH-08, CH-14, CH-15)",
            1,
            writes_by_size,
            {},
            kSeeds},
           {"rules",
            "The three rules of write cancellation, figure 3 (CH-11 to CH-13)",
            1,
            rules,
            {},
            kSeeds},
           {"policies",
            "Reads during writes under each policy, and the age of written data (CH-17, CH-18)",
            1,
            policies,
            {},
            kSeeds},
           {"delays",
            "The shortest delay that is as fast as an infinite one, on the modelled machine "
            "(CH-03, CH-04, CH-07, CH-10)",
            1,
            delays,
            {},
            0},
           {"loss", "Age of data lost in a power cut, by policy and file system, and the cost", 1,
            loss}},
          "A delay equal to the cache size divided by the disk's rate (1 to 10 s in 1996) is as "
          "fast as an infinite delay, so the usual 30 s are too long.",
          {{"Andrew, zero delay", "CH-11", "zero delay", "elapsed"},
           {"120 MB read while 120 MB are written, zero delay", "CH-12", "zero delay",
            "read and written"},
           {"the longest burst", "CH-15", "the longest", "drained in"}}};
}

}  // namespace headcrash::experiment::chen96

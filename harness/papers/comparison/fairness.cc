// The conditions of a fair comparison, and where they are not met.
#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

std::vector<ClaimAnswer> fairness(Context&) {
  ClaimAnswer answer{.id = "fairness",
                     .part = "fairness",
                     .title = "What makes the table fair, and where it is not"};
  answer.tables.push_back(
      {.name = "conditions",
       .title = "eleven conditions",
       .columns = {"condition", "met", "how"},
       .rows = {
           {"1. rows are grouped by what a cut may take, with one delay, and the loss is measured",
            "yes", "part loss; soft updates may lose two delays, which it shows"},
           {"2. allocation initialisation is on for all", "yes",
            "UFS: +init; the others have no other way"},
           {"3. memory is equal, and structures in core are charged", "yes",
            "36 MB for each; inodes in core, maps, dependencies and copies of committed blocks take room in it, by "
            "estimates of their sizes (tree/core_inode.h, ufs/scheme.h)"},
           {"4. transfers are equally large", "yes",
            "blocks of 8 KiB and requests of up to 64 KiB for each, regions of LFS's log included"},
           {"5. disks are aged by three turnovers at 50, 75 and 90 %, cleaning included", "yes",
            "part aged, on 128 MB: one drive and both arrays at each; the other parts begin empty"},
           {"6. user time and time until quiet are both shown", "yes",
            "and how long the drives are busy for it"},
           {"7. one tree code, one cost table", "yes",
            "fs-adapters/substrate/tree; i486_33.h, or all of it by one factor"},
           {"8. recovery counts to the first mount and to full consistency, processor included",
            "yes", "part recovery"},
           {"9. the papers' own settings and the best of one declared sweep are both printed",
            "yes",
            "part delays: own times, and delays of 5, 10 and 30 s; part memory: file caches of 18, 36 and 72 MB"},
           {"10. the write cache off, and on with flushes as a second table", "yes",
            "parts drive and drive-cache"},
           {"11. no cell without a passed lab and caught controls", "yes", "table below"}}});
  Table shown{.name = "labs",
              .title = "which campaign of results/reference shows a row, and its system there",
              .columns = {"row", "a cut may take", "campaign: system"}};
  for (const Row& row : rows())
    shown.rows.push_back(
        {row.name, name(row.durability),
         row.durability == Durability::none ? row.lab + ", a control that is caught" : row.lab});
  answer.tables.push_back(std::move(shown));
  answer.remarks.push_back(
      "Rows of the group `each call` are the same systems behind a front that calls their fsync (synchronous_vfs.h); LADDIS has "
      "its own front (part laddis), at four rates on two of the machines. A second machine: part fast-drive; for the others "
      "--set machine=2.");
  return {answer};
}

}  // namespace headcrash::experiment::compare

// Lists the conditions for a fair comparison, and where they are not met.
#include "harness/papers/comparison/compare.h"
#include "harness/papers/comparison/rows.h"

namespace headcrash::experiment::compare {

std::vector<ClaimAnswer> fairness(Context&) {
  ClaimAnswer answer{.id = "fairness",
                     .part = "fairness",
                     .title = "Conditions for a fair comparison, and exceptions"};
  answer.tables.push_back(
      {.name = "conditions",
       .title = "eleven conditions",
       .columns = {"condition", "met", "how"},
       .rows = {
           {"1. rows are grouped by the data that a cut may lose, with one delay, and the loss "
            "is measured",
            "yes", "part loss; it also shows that soft updates may lose the changes of two delays"},
           {"2. allocation initialisation is on for all", "yes",
            "UFS: +init; the other systems always initialise"},
           {"3. memory is equal, and in-core structures are charged", "yes",
            "36 MB for each system; in-core inodes, maps, dependencies and copies of committed "
            "blocks use part of it, by estimates of their sizes (tree/core_inode.h, ufs/scheme.h)"},
           {"4. transfers have equal sizes", "yes",
            "blocks of 8 KiB and requests of up to 64 KiB for all, including regions of LFS's log"},
           {"5. disks are aged by three turnovers at 50, 75 and 90 %, cleaning included", "yes",
            "part aged, on 128 MB: one drive and both arrays at each share; the other parts "
            "begin with an empty disk"},
           {"6. user time and time to quiescence are both shown", "yes",
            "the busy time of the drives is shown as well"},
           {"7. one tree code, one cost table", "yes",
            "fs-adapters/substrate/tree; i486_33.h, or all its costs scaled by one factor"},
           {"8. recovery times end at the first mount and at full consistency, and include "
            "processor time",
            "yes", "part recovery"},
           {"9. the papers' own settings and the best of one declared sweep are both printed",
            "yes",
            "part delays: own update times, and delays of 5, 10 and 30 s; part memory: file caches "
            "of 18, 36 and 72 MB"},
           {"10. the write cache off, and on with flushes as a second table", "yes",
            "parts drive and drive-cache"},
           {"11. every system has passed its crash campaign, and the campaign's controls were "
            "caught",
            "yes", "table below"}}});
  Table shown{.name = "labs",
              .title =
                  "for each row: the campaign in results/reference that tests it, and the "
                  "name of the system there",
              .columns = {"row", "a cut may lose", "campaign: system"}};
  for (const Row& row : rows())
    shown.rows.push_back(
        {row.name, name(row.durability),
         row.durability == Durability::none ? row.lab + ", a control that is caught" : row.lab});
  answer.tables.push_back(std::move(shown));
  answer.remarks.push_back(
      "Rows of the group `each call` are the same systems behind a wrapper that calls fsync "
      "after each operation (synchronous_vfs.h). LADDIS has its own front-end (part laddis), at "
      "four rates on two of the machines. Part fast-drive uses a second machine; --set machine=2 "
      "selects it for the other parts.");
  return {answer};
}

}  // namespace headcrash::experiment::compare

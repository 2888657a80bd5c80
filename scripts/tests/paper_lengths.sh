#!/usr/bin/env bash
# peacock98 with the paper's durations: ten minutes per load, fifteen before each cut, and loads up to 3000 requests a
# second. As in short runs, no promise of a reply is broken, and memory is bounded.
. "$(dirname "$0")/lib.sh"
cd "$scratch"

"$headcrash" experiment peacock98 --set seconds=600 --set warm-seconds=300 --set precision-percent=4 --set crash-seconds=900 --set most-per-s=3000 \
  --csv long.csv >long.txt 2>cost || failed "experiment: $? $(cat cost)"
cat long.txt cost
promises=$(grep -c 'all acknowledged data is present' long.txt)
[ "$promises" -ge 4 ] || failed "only $promises rules about promises"
! says 'does not hold.*all acknowledged data is present' <long.txt || failed "a promise was broken"
mebibytes=$(sed -n 's/.* at most \([0-9]*\) MiB of memory.*/\1/p' cost)
[ "$mebibytes" -lt 4000 ] || failed "$mebibytes MiB of memory, and 4000 are the bound"

#!/bin/sh
# The same crash states in guests of both kinds: records a workload under QEMU, and has the states of that recording checked by
# two guests under QEMU and by two of user-mode Linux in virtual time. A line for each adapter:
#
#   adapter,states,other verdicts,states a second (QEMU),states a second (virtual),CPU ms each (QEMU),CPU ms each (virtual)
#
#   [KERNEL=VERSION] run.sh PATH/TO/headcrash FOLDER WORKLOAD ROUNDS BUDGET ADAPTER...
#
# KERNEL is --kernel of both kinds of guests; without it, the host's release's kernel.
# FOLDER takes the recordings and, of each adapter, the two lists of states with their verdicts.
set -eu
[ $# -ge 6 ] || { echo "usage: run.sh headcrash FOLDER WORKLOAD ROUNDS BUDGET ADAPTER..." >&2; exit 2; }
headcrash=$1 folder=$2 workload=$3 rounds=$4 budget=$5
shift 5
set_kernel=${KERNEL:+--kernel $KERNEL}
mkdir -p "$folder"
for adapter; do
  here=$folder/$adapter
  "$headcrash" explore --fs "$adapter" --workload "$workload" --rounds "$rounds" --size 320M --budget 1 --seed 1994 --jobs 1 $set_kernel \
    --record "$here" --quiet --json >/dev/null 2>"$here.err" || [ $? = 1 ] || { cat "$here.err" >&2; continue; }
  for guest in qemu virtual; do
    "$headcrash" explore "$here/workload.hcrec" --fs "$adapter" --guest "$guest" $set_kernel --strategy lose-all,prefix,reorder --seed 1994 \
      --budget "$budget" --jobs 2 --csv "$here.$guest.csv" --quiet --json >"$here.$guest.json" 2>"$here.$guest.err" || [ $? = 1 ] ||
      { cat "$here.$guest.err" >&2; continue 2; }
  done
  python3 - "$adapter" "$here" <<'P'
import csv, json, sys
adapter, here = sys.argv[1:]
told = {guest: json.load(open(f"{here}.{guest}.json")) for guest in ("qemu", "virtual")}
states = {guest: {row["state"]: row["verdict"] for row in csv.DictReader(open(f"{here}.{guest}.csv"))} for guest in told}
names = states["qemu"].keys() | states["virtual"].keys()
other = sum(states["qemu"].get(name) != states["virtual"].get(name) for name in names)
print(",".join([adapter, str(len(names)), str(other)] + [f"{told[g]['states_per_second']:.1f}" for g in told]
               + [f"{told[g]['cpu_ms'] / told[g]['checked']:.0f}" for g in told]), flush=True)
P
done

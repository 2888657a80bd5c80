#!/bin/bash
# A benchmark or campaign over machines that ssh reaches, with GNU parallel: a shard each, then one database and one report.
#
#   scripts/examples/parallel-shards.sh bench reference OUT 4 host1,host2,host3,host4
#   scripts/examples/parallel-shards.sh campaign controls OUT 2            # two shards on this machine, one after the other
#
# OUT is a folder that all machines see under the same name, `headcrash` is in everybody's PATH (or HEADCRASH names it). One
# shard a machine at a time: what runs beside a timed one would be measured with it. Run again after an interruption, it
# does what is missing.
set -euo pipefail
(($# >= 4)) || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
kind=$1 what=$2 out=$(realpath -m "$3") shards=$4 hosts=${5:-:}
headcrash=${HEADCRASH:-headcrash}
mkdir -p "$out"
# 1 means that a trial failed or a file system lost data: a result, not a fault of the shard.
shard='"$1" "$2" "$3" --db "$4/shard-$5.db" --shard "$5/$6" --resume || [ $? -eq 1 ]'
parallel --sshlogin "$hosts" --jobs 1 --halt now,fail=1 --quote \
  bash -c "$shard" shard "$headcrash" "$kind" "$what" "$out" {} "$shards" ::: $(seq "$shards")
rm -f "$out/all.db"
"$headcrash" merge "$out"/shard-*.db -o "$out/all.db"
"$headcrash" report --db "$out/all.db" -o "$out/report"

#!/bin/bash
# Runs a benchmark or campaign on several machines through ssh and GNU parallel: one shard each, then one database and one report.
#
#   scripts/examples/parallel-shards.sh bench reference OUT 4 host1,host2,host3,host4
#   scripts/examples/parallel-shards.sh campaign controls OUT 2            # two shards on this machine, one after the other
#
# OUT is a folder that all machines share under the same name. `headcrash` must be in PATH on all machines (or set HEADCRASH). Each
# machine runs one shard at a time, since other work would disturb timed runs. After an interruption, run it again to
# complete missing shards.
set -euo pipefail
(($# >= 4)) || { sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
kind=$1 what=$2 out=$(realpath -m "$3") shards=$4 hosts=${5:-:}
headcrash=${HEADCRASH:-headcrash}
mkdir -p "$out"
# 1 means that a trial failed or a file system lost data: a result, not an error of the shard.
shard='"$1" "$2" "$3" --db "$4/shard-$5.db" --shard "$5/$6" --resume || [ $? -eq 1 ]'
parallel --sshlogin "$hosts" --jobs 1 --halt now,fail=1 --quote \
  bash -c "$shard" shard "$headcrash" "$kind" "$what" "$out" {} "$shards" ::: $(seq "$shards")
rm -f "$out/all.db"
"$headcrash" merge "$out"/shard-*.db -o "$out/all.db"
"$headcrash" report --db "$out/all.db" -o "$out/report"

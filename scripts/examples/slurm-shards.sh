#!/bin/bash
# A benchmark or campaign over the machines of a Slurm cluster: a shard per array task, then one database and one report.
#
#   sbatch --array=1-4 --export=ALL,KIND=bench,WHAT=reference,OUT=$HOME/reference scripts/examples/slurm-shards.sh
#   scripts/examples/slurm-shards.sh --merge $HOME/reference        # when all tasks are over
#
# OUT is a folder that all nodes see. KIND is bench or campaign, WHAT its name or file; `headcrash` is in PATH, or
# HEADCRASH names it. A timed shard wants its node for itself: --exclusive, and as many tasks as nodes at a time (%N
# behind the array). A task that was killed resumes where it was when it is submitted again: --resume is always given,
# and --requeue lets Slurm do it.
#SBATCH --job-name=headcrash
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --output=%x-%A_%a.log
set -euo pipefail
headcrash=${HEADCRASH:-headcrash}

if [[ ${1:-} == --merge ]]; then
  out=${2:?--merge needs the folder}
  rm -f "$out/all.db"
  "$headcrash" merge "$out"/shard-*.db -o "$out/all.db"
  exec "$headcrash" report --db "$out/all.db" -o "$out/report"
fi
: "${SLURM_ARRAY_TASK_ID:?is set by sbatch --array; see the head of this file}" "${OUT:?}" "${KIND:?}" "${WHAT:?}"
mkdir -p "$OUT"
# 1 means that a trial failed or a file system lost data: a result, not a fault of the task.
status=0
"$headcrash" "$KIND" "$WHAT" --db "$OUT/shard-$SLURM_ARRAY_TASK_ID.db" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_MAX" --resume || status=$?
[[ $status -le 1 ]] || exit "$status"

#!/bin/bash
# Runs a benchmark or campaign on a Slurm cluster: one shard per array task, then one database and one report.
#
#   sbatch --array=1-4 --export=ALL,KIND=bench,WHAT=reference,OUT=$HOME/reference scripts/examples/slurm-shards.sh
#   scripts/examples/slurm-shards.sh --merge $HOME/reference        # after all tasks
#
# OUT is a folder shared by all nodes. KIND is bench or campaign, WHAT its name or file. `headcrash` must be in PATH, or
# set HEADCRASH. A timed shard needs its node exclusively: use --exclusive, and at most as many concurrent tasks as nodes (%N
# behind the array). A killed task resumes when submitted again: the script always passes --resume,
# and --requeue lets Slurm resubmit.
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
# 1 means that a trial failed or a file system lost data: a result, not an error of the task.
status=0
"$headcrash" "$KIND" "$WHAT" --db "$OUT/shard-$SLURM_ARRAY_TASK_ID.db" --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_MAX" --resume || status=$?
[[ $status -le 1 ]] || exit "$status"

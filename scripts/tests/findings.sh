#!/usr/bin/env bash
# A finding in Linux without headcrash: its script loses synced data in a guest, and keeps it with the control.
# Then a write without a wait, on a slow disk, and an earlier user's data.
. "$(dirname "$0")/lib.sh"
scripts=$(cd "$(dirname "$0")/.." && pwd)
cd "$scratch"

# Runs a finding's script in a guest. Sets `status` to its exit code.
run_script() {   # FOLDER OPTION...
  local folder=$1
  shift
  status=0
  "$scripts/run-in-guest" "$scripts/../results/reference/findings/$folder/workload.sh" --yes "$@" >out 2>err || status=$?
}

run_script xfs-sync
[ $status -eq 1 ] && grep -q '^lost by: power cut when' out && grep -q '^kept by: panic when' out ||
  failed "without a control: exit $status, $(tail -n 30 out err)"
run_script xfs-sync --flush
[ $status -eq 0 ] && [ "$(tail -n 1 out)" = kept ] || failed "with the cache flushed: exit $status, $(tail -n 30 out err)"
run_script f2fs-node-0 --slow 40
[ $status -eq 1 ] && grep -q '^lost by: power cut when' out || failed "slow writes: exit $status, $(tail -n 30 out err)"
run_script f2fs-append-fsync --used
[ $status -eq 1 ] && grep -q '^lost by: power cut after entry [0-9]*, without entry' out ||
  failed "a used disk: exit $status, $(tail -n 30 out err)"
echo "findings: all as it should be"

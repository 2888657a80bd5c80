#!/usr/bin/env bash
# A finding in Linux, without headcrash: its script loses in a guest what was synced, and keeps it with the control.
source "$(dirname "$0")/lib.sh"
scripts=$(cd "$(dirname "$0")/.." && pwd)
finding=$scripts/../results/reference/findings/xfs-sync/workload.sh
cd "$scratch"

status=0
"$scripts/run-in-guest" "$finding" --yes >out 2>err || status=$?
[ $status -eq 1 ] && grep -q '^lost by: power cut when' out && grep -q '^kept by: panic when' out ||
  failed "without a control: exit $status, $(tail -n 30 out err)"
status=0
"$scripts/run-in-guest" "$finding" --yes --flush >out 2>err || status=$?
[ $status -eq 0 ] && [ "$(tail -n 1 out)" = kept ] || failed "with the cache flushed: exit $status, $(tail -n 30 out err)"

# A write that is not waited for, on a slow disk, and bytes of an earlier user.
loses() {   # FOLDER OPTIONS TEXT
  status=0
  # shellcheck disable=SC2086
  "$scripts/run-in-guest" "$scripts/../results/reference/findings/$1/workload.sh" --yes $2 >out 2>err || status=$?
  [ $status -eq 1 ] && grep -q "^lost by: $3" out || failed "$1 $2: exit $status, $(tail -n 30 out err)"
}
loses f2fs-node-0 '--slow 40' 'power cut when'
loses f2fs-append-fsync --used 'power cut after entry [0-9]*, without entry'
echo "findings: all as it should be"

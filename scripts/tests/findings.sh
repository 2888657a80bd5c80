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
echo "findings: all as it should be"

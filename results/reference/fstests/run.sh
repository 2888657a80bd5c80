#!/bin/sh
# Explores lists of lists.txt in guests and prints a line for each list and adapter:
# "list,adapter,outcome,states,finding".
#
#   run.sh PATH/TO/headcrash ADAPTER[,ADAPTER...] [LIST...]     default: all lists
#   run.sh --print LIST                                         prints one list
#   OPTIONS="--guest virtual"                                   further options of explore
#
# Lists of btrfs run on btrfs only. Each guest ends before the next one starts.
set -eu
lists=$(dirname "$0")/lists.txt
print_list() {
  awk -v name="$1" '/^## / { inside = $2 == name; found = found || inside; next } inside; END { exit !found }' "$lists" ||
    { echo "run.sh: lists.txt has no list $1" >&2; exit 2; }
}
if [ "${1:-}" = --print ] && [ $# -eq 2 ]; then print_list "$2"; exit; fi
[ $# -ge 2 ] || { echo "usage: run.sh headcrash ADAPTER[,ADAPTER...] [LIST...], or run.sh --print LIST" >&2; exit 2; }
headcrash=$1 adapters=$(echo "$2" | tr , ' ')
shift 2
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(sed -n 's/^## //p' "$lists")
out=$(mktemp)
trap 'rm -f "$out" "$out.err" "$out.txt"' EXIT
for name; do
  print_list "$name" >"$out.txt"
  for adapter in $adapters; do
    case $name in btrfs-*) case $adapter in btrfs*) ;; *) continue ;; esac ;; esac
    status=0
    "$headcrash" explore --fs "$adapter" --workload "$out.txt" --strategy lose-all,prefix --size 320M --budget 60 --jobs 1 \
      ${OPTIONS:-} --quiet --json >"$out" 2>"$out.err" || status=$?
    python3 - "$name" "$adapter" "$status" "$out" "$out.err" <<'P'
import json, sys
name, adapter, status, out, err = sys.argv[1:]
try:
    told = json.load(open(out))
except ValueError:
    print(f'{name},{adapter},not run,0,"{open(err).read().strip().splitlines()[-1:]}"')
    sys.exit()
if "error" in told:  # the state at a crash inside the list failed, or nothing could be explored
    error = told["error"]
    print(f'{name},{adapter},{"finding" if status == "1" else "not run"},0,"{error["problem"] if isinstance(error, dict) else error}"', flush=True)
    sys.exit()
first = [f for each in told["failures"] for f in each["findings"]][:1]
what = f'{first[0]["kind"]}: {first[0]["path"]}: {first[0]["expected"]}; found {first[0]["found"]} ({first[0]["tier"]})' if first else ""
outcome = "clean" if status == "0" else "finding" if status == "1" and first else "not judged"  # such as a list that ends early
print(f'{name},{adapter},{outcome},{told["checked"]},"{what}"', flush=True)
P
  done
done

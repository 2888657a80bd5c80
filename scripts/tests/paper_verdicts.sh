#!/usr/bin/env bash
# Runs cheap parts of each paper at their full size, and compares each verdict with the stored one. It runs all parts, and
# prints each difference. An error of 5 % in the costs of a drive or a processor, or a swapped scheme, turns at least one
# verdict (scripts/defects/compare.defects).
. "$(dirname "$0")/lib.sh"
reference=$(realpath "$(dirname "$0")/../../results/reference")
cd "$scratch"

# differing FOLDER PART.csv: prints the rules whose verdicts differ from those in the folder's files.
differing() {
  python3 - "$@" <<'END'
import csv, pathlib, sys
def verdicts(path):
    with open(path, newline="") as file:
        return {(row["claim"], row["cell or rule"]): row["verdict or remark"]
                for row in csv.DictReader(file, strict=True) if row["kind"] == "rule"}
stored = {}
for path in pathlib.Path(sys.argv[1]).glob("*.csv"):
    if path.name not in ("numbers.csv", "series.csv", "dbench-full.csv"):
        stored.update(verdicts(path))
for rule, verdict in verdicts(sys.argv[2]).items():
    if stored.get(rule) != verdict:
        print(*rule, f"{verdict}, stored: {stored.get(rule, 'no such rule')}", sep=": ")
END
}

parts=${2:-ganger94/table2 rosenblum92/recovery soares03/stalls chen96/writes peacock98/mkfs}
different=()
for part in $parts; do
  "$headcrash" experiment "$part" --csv part.csv >part.txt 2>cost || failed "$part: $? $(cat cost)"
  differing "$reference/${part%/*}" part.csv >differ
  if [ -s differ ]; then
    different+=("$part")
    sed "s|^|$part: |" differ
  else
    echo "$part: all verdicts are the stored ones"
  fi
done
((${#different[@]} == 0)) || failed "verdicts differ from the stored ones in ${different[*]}"

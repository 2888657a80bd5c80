#!/bin/sh
# run.sh for each file system and workload of `campaign controls`: are the verdicts of the same crash states the same? The control
# behind a cache that the guest is not told of has no option of explore and is left out: its file system is there without.
#
#   controls.sh PATH/TO/headcrash FOLDER BUDGET
set -eu
[ $# = 3 ] || { echo "usage: controls.sh headcrash FOLDER BUDGET" >&2; exit 2; }
headcrash=$1 folder=$2 budget=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
python3 - "$here/../../../harness/campaign/campaigns/controls.toml" "$folder" <<'P' >"$folder/list"
import pathlib, sys, tomllib
campaign, folder = tomllib.loads(pathlib.Path(sys.argv[1]).read_text()), pathlib.Path(sys.argv[2])
for control in campaign["controls"]:
    if "write-cache" in control:
        continue
    name = control.get("workload", campaign["workload"]["name"])
    rounds = control.get("rounds", campaign["workload"]["rounds"])
    if name in campaign["workloads"]:
        place = folder.resolve() / f"{name}.txt"
        place.write_text(campaign["workloads"][name])
        name = str(place)
    print(control["filesystem"], name + ("/17" if name == "ace-seq1" else ""), rounds)
P
while read -r adapter workload rounds; do
  name=$(basename "$workload" .txt)
  "$here/run.sh" "$headcrash" "$folder/$name" "$workload" "$rounds" "$budget" "$adapter" </dev/null | sed "s|^|$name,|"
done <"$folder/list"

#!/usr/bin/env bash
# headcrash contract on our own file systems, its files, diff and explain. No guest is started.
#
#   contract.sh BUILD-FOLDER
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/lib.sh"
cd "$scratch"

# status CODE ARGUMENT...: `headcrash ARGUMENT...` exits with CODE; its output is in out.
status() {
  local code=$1 found=0
  shift
  "$headcrash" "$@" >out 2>err || found=$?
  [ "$found" -eq "$code" ] || failed "headcrash $* exited with $found, not $code: $(cat err)"
}
says() { grep -qF -- "$1" "${2:-out}" || failed "${2:-the output} lacks \"$1\": $(head -20 "${2:-out}")"; }

status 0 contract --list
[ "$(wc -l <out)" -eq 75 ] || failed "not 75 tests"
status 0 explain rename over without fsync
says '39 rename over, no fsync'

# A control loses what a journal keeps, in the same test.
status 0 contract --fs ufs-journal-data --fs ufs-no-order --test rename --test replace-synced --states 40 -q -o table
for file in contract.json contract.md contract.csv contract.html; do
  [ -s "table/$file" ] || failed "there is no table/$file"
done
says 'kept 0/'
says 'broken '
says 'id="test-40"' table/contract.html
[ "$(wc -l <table/contract.csv)" -eq 5 ] || failed "the table has 4 cells: $(cat table/contract.csv)"
cp out first
status 0 contract --fs ufs-journal-data --fs ufs-no-order --test rename --test replace-synced --states 40 -q
cmp out first || failed "two runs differ"

# A run with --resume keeps the complete columns of the folder's table, and runs the others: the changed count of states stays,
# and the column of which a cell is missing is repeated.
cp -r table part
python3 - part/contract.json <<'END'
import json, sys
table = json.load(open(sys.argv[1]))
table["cells"] = [cell for cell in table["cells"] if (cell["system"], cell["test"]) != ("ufs-no-order", 40)]
for cell in table["cells"]:
    cell["states"] += 1000
json.dump(table, open(sys.argv[1], "w"))
END
status 0 contract --fs ufs-journal-data --fs ufs-no-order --test rename --test replace-synced --states 40 -q -o part --resume
grep -q '^[0-9]*,[^,]*,ufs-journal-data,kept,0,0,1[0-9][0-9][0-9],' part/contract.csv || failed "the column was not kept: $(cat part/contract.csv)"
! grep -q '^[0-9]*,[^,]*,ufs-no-order,[a-z]*,[0-9]*,[0-9]*,1[0-9][0-9][0-9],' part/contract.csv || failed "an incomplete column was kept"
[ "$(wc -l <part/contract.csv)" -eq 5 ] || failed "the table has 4 cells: $(cat part/contract.csv)"
status 2 contract --fs ufs-journal-data --test rename --states 40 -q -o part --resume
says 'has other tests' err
sed -i 's/"commit": "[^"]*"/"commit": "another"/' part/contract.json
status 2 contract --fs ufs-journal-data --test rename --test replace-synced --states 40 -q -o part --resume
says 'was written by version another' err

status 1 contract diff table/contract.json:ufs-journal-data table/contract.json:ufs-no-order
says 'ufs-no-order: broken'
status 0 contract diff table/contract.json table/contract.json
says 'no cell differs'

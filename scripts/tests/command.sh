#!/usr/bin/env bash
# The command line without guests: lists, help, and every bad input as one clear error.
source "$(dirname "$0")/lib.sh"
cd "$scratch"

for command in doctor list serve campaign report; do
  "$headcrash" $command --help | grep -q Examples || failed "$command --help has no examples"
done
"$headcrash" list profiles | grep -q hp-c2447 || failed "list profiles"
"$headcrash" list filesystems --json | grep -q '"ext4-nobarrier"' || failed "list filesystems"
"$headcrash" list campaigns | grep -q demo || failed "list campaigns"
"$headcrash" list workloads | grep -q small-files || failed "list workloads"

refuses 2 "subcommand is required" -- "$headcrash"
refuses 2 "" -- "$headcrash" fly
refuses 2 'did you mean "demo"' -- "$headcrash" campaign dmo
refuses 2 "no/such.toml" -- "$headcrash" campaign no/such.toml
refuses 2 "--shard" -- "$headcrash" campaign demo --shard 3/2
refuses 2 "hp-c2448" "hp-c2447" -- "$headcrash" serve --profile hp-c2448
refuses 2 "size" -- "$headcrash" serve --size 1X
refuses 2 "size" -- "$headcrash" serve --size 90G
refuses 2 "cut" -- "$headcrash" serve --size 64M --cut at-flush:0
refuses 2 "clock" -- "$headcrash" serve --size 64M --clock fast

printf 'filesystems = ["ext4"]\nsede = 3\n[device]\nprofiles = ["hp-c2447"]\n' >typo.toml
refuses 2 typo.toml sede 'did you mean "seed"' -- "$headcrash" campaign typo.toml
printf 'filesystems = ["ext4"]\n[device]\nprofiles = ["hp-c2447"]\nsize = "64M"\n[workload]\nname = "x"\n' >workload.toml
refuses 2 workload.toml workload.name -- "$headcrash" campaign workload.toml

# databases: missing, not one, from a newer version
refuses 2 missing.db -- "$headcrash" report --db missing.db
echo "no database at all, but long enough to be looked at as one by SQLite, which wants a hundred bytes of header" >text.db
refuses 2 text.db -- "$headcrash" report --db text.db
refuses 2 text.db -- "$headcrash" campaign demo --db text.db
grep -q "no database" text.db || failed "a file that is no database was changed"

sqlite3 newer.db 'PRAGMA application_id = 0x68637231; PRAGMA user_version = 99; CREATE TABLE run (id)'
refuses 2 newer.db newer -- "$headcrash" report --db newer.db
refuses 2 newer.db newer -- "$headcrash" campaign demo --db newer.db

# stores and sockets
refuses 2 store -- "$headcrash" serve --size 64M --store /proc/nowhere
touch taken.sock
refuses 2 taken.sock "exists already" -- "$headcrash" serve --size 64M --socket taken.sock
echo "command: all as it should be"

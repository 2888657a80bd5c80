#!/usr/bin/env bash
# The command line without guests: lists, help, and a single clear error for each invalid input.
. "$(dirname "$0")/lib.sh"
cd "$scratch"

for command in doctor list serve simulate campaign bench query report runs trials merge gc help; do
  "$headcrash" $command --help | says Examples || failed "$command --help has no examples"
done
profiles=$("$headcrash" list profiles)
for name in hp-c2447 netra-raid5-presto raid5-5 nvme-970pro wren-iv; do
  grep -q "^$name " <<<"$profiles" || failed "list profiles lacks $name"
done
"$headcrash" list filesystems --json | says '"ext4-nobarrier"' || failed "list filesystems"
"$headcrash" list campaigns | says demo || failed "list campaigns"
"$headcrash" list benchmarks | says quick || failed "list benchmarks"
"$headcrash" list benches | says quick || failed "list benches"
"$headcrash" list applications | says sqlite+wal-full || failed "list applications"
"$headcrash" list timed | says lfs-small-file || failed "list timed"
"$headcrash" bench quick --plan --db no-such.db | says 'ext4/hp-c2447/lfs-small-file.scaled' || failed "bench --plan"
[[ ! -e no-such.db ]] || failed "bench --plan made a database"
"$headcrash" list workloads | says small-files || failed "list workloads"
"$headcrash" list workloads --json | says '"files-per-folder"' || failed "list workloads: parameters of timed ones"

refuses 2 "a command is required" "headcrash help" -- "$headcrash"
refuses 2 'unknown command "fly"' "headcrash help" -- "$headcrash" fly
refuses 2 'unknown command "sreve"; did you mean "serve"' -- "$headcrash" sreve
refuses 2 'did you mean "campaign"' -- "$headcrash" help campain
refuses 2 'image: unknown command "usf"; did you mean "ufs"' -- "$headcrash" image usf
refuses 2 'serve: unknown option --profil; did you mean "--profile"' -- "$headcrash" serve --profil hp-c2447
refuses 2 'campaign: unknown option --jbos; did you mean "--jobs"' -- "$headcrash" campaign demo --jbos=2
refuses 2 'did you mean "profiles"' -- "$headcrash" list profile
refuses 2 '"remedy": "did you mean \"--clock\"?"' -- "$headcrash" serve --json --clokc off
cmp <("$headcrash" help image ufs mkfs) <("$headcrash" image ufs mkfs --help) ||
  failed "help is not --help"
"$headcrash" -V | says -E '^headcrash [0-9.]+( \(commit [0-9a-f]{12}(-dirty)?\))?$' || failed "--version: $("$headcrash" -V)"
script -qec "stty cols 60; $headcrash list profiles" /dev/null | tr -d '\r' >narrow
[ "$(awk '{ if (length > most) most = length } END { print most }' narrow)" -le 60 ] || failed "list is wider than its terminal"
[ "$(wc -l <narrow)" = "$("$headcrash" list profiles | wc -l)" ] || failed "list leaves something out"
"$headcrash" list profiles --wide | sed -n 1p | says inner_mb_per_s || failed "list --wide"

# doctor only checks; it builds nothing
HEADCRASH_CACHE=$scratch/no-cache "$headcrash" doctor | says 'guest: not built yet; the first command that needs a guest builds it' || failed "doctor without a guest"
HEADCRASH_CACHE=$scratch/no-cache "$headcrash" doctor | says 'user-mode guest: not built yet; needed only for virtual time: .*build-guest --uml' || failed "doctor without a user-mode guest"
[ ! -e no-cache/guest ] && [ ! -e no-cache/kernel ] && [ ! -e no-cache/kernel-uml ] || failed "doctor builds: $(find no-cache)"
HEADCRASH_CACHE=/proc/nowhere "$headcrash" doctor >out 2>err && failed "doctor with a cache that cannot be written" || [ $? = 2 ] || failed "doctor: $(cat out err)"
says 'BAD  cache: /proc.*set HEADCRASH_CACHE' <out || failed "doctor: $(cat out)"
says 'campaigns in QEMU  *lacks cache$' <out || failed "doctor: $(cat out)"
says 'serve a disk over NBD  *ready$' <out || failed "doctor: $(cat out)"
(PATH=/nonexistent "$headcrash" doctor || true) | says 'check of a program  *lacks .*strace, sqfstar' || failed "doctor without strace"

# the contents of a database
"$headcrash" campaign ufs-schemes/conventional --shard 1/3000 --db two.db --quiet 2>err >out || failed "campaign: $(cat out err)"
[ ! -s err ] || failed "--quiet prints progress: $(cat err)"
"$headcrash" campaign ufs-schemes/conventional --shard 2/3000 --db two.db 2>err >out || failed "campaign: $(cat out err)"
[ "$("$headcrash" runs --db two.db | awk 'NR > 1 {print $1, $3, $6, $7, $8, $9}')" = $'1 ufs-schemes 2/2 finished 2 clean\n2 ufs-schemes 2/2 finished 2 clean' ] ||
  failed "runs: $("$headcrash" runs --db two.db)"
[ "$(HEADCRASH_DB=two.db "$headcrash" trials --json | grep -c '"trial": [34]')" = 2 ] || failed "trials, of the newest run"
"$headcrash" trials --db two.db --run 1 | says '^ *1  ufs-conventional/' || failed "trials --run"
[ "$("$headcrash" trials --db two.db --failures | wc -l)" = 1 ] || failed "trials --failures"
refuses 2 two.db "has no run 7" "headcrash runs" -- "$headcrash" trials --db two.db --run 7
refuses 2 two.db "has no run 7" "headcrash runs" -- "$headcrash" query cells --db two.db --run 7
refuses 2 missing.db -- "$headcrash" runs --db missing.db

# a part of a campaign
"$headcrash" campaign demo --plan --only xfs,ext4 --trials 2 | says '^4 trials' || failed "--only, --trials"
refuses 2 'demo has no file system "xsf"; did you mean "xfs"' -- "$headcrash" campaign demo --plan --only xsf
refuses 2 "does not apply to io-errors" io-errors/ext4 -- "$headcrash" campaign io-errors --plan --only ext4
refuses 2 'did you mean "demo"' -- "$headcrash" campaign dmo
refuses 2 "no/such.toml" -- "$headcrash" campaign no/such.toml
refuses 2 "no-such.db" -- "$headcrash" query --db no-such.db
refuses 2 "--shard" -- "$headcrash" campaign demo --shard 3/2
refuses 2 "hp-c2448" "hp-c2447" -- "$headcrash" serve --profile hp-c2448
refuses 2 "size" -- "$headcrash" serve --size 1X
refuses 2 "multiple of 512" -- "$headcrash" serve --size 0
refuses 2 size "2T or less" -- "$headcrash" explore --fs ext4 --workload small-files --size 10T
refuses 2 "size" -- "$headcrash" serve --size 90G
refuses 2 "cut" -- "$headcrash" serve --size 64M --cut at-flush:0
refuses 2 "tear" "unreadable" -- "$headcrash" serve --size 64M --tear unreadble
refuses 2 "clock" -- "$headcrash" serve --size 64M --clock fast

printf 'filesystems = ["ext4"]\nsede = 3\n[device]\nprofiles = ["hp-c2447"]\n' >typo.toml
refuses 2 typo.toml sede 'did you mean "seed"' -- "$headcrash" campaign typo.toml
printf 'filesystems = ["ext4"]\n[device]\nprofiles = ["hp-c2447"]\nsize = "64M"\n[workload]\nname = "x"\n' >workload.toml
refuses 2 workload.toml workload.name -- "$headcrash" campaign workload.toml

# simulate: a trace, a generated load on an array, and every bad input
printf '62.687285 0 1777192 8 1\n138.732586 0 132344 8 0\n' >two.trace
"$headcrash" simulate --profile hp-c2447 --trace two.trace --csv two.csv | says "^2 requests" || failed "simulate"
head -1 two.csv | says -x 'i,arrive_ms,complete_ms,op,lbn,blocks,response_ms,hit,seek_ms,rotlat_ms,media_xfer_ms' || failed "CSV head"
grep -q '^1,138.732586,[0-9.]*,W,132344,8,[0-9]*\.[0-9]\{6\},NOMATCH,' two.csv || failed "CSV line: $(tail -1 two.csv)"
"$headcrash" simulate --profile hp-c2447 --trace - --format trace --csv - <two.trace | cmp - two.csv || failed "a pipe"
"$headcrash" simulate --profile raid5-5 --random count=100,reads=0.67,depth=4 --json >raid.json
[ "$(grep -c '"profile"' raid.json)" = 6 ] && grep -q '"failed": 0' raid.json || failed "simulate on an array"
printf '[[device]]\nname = "a"\nprofile = "hp-c2447"\n[[device]]\nname = "b"\nprofile = "raid1-2"\nsize = "64M"\n' >two.toml
printf '0 0 8 8 1\n1 1 8 8 1\n' >both.trace
"$headcrash" simulate --machine two.toml --trace both.trace | says "^b.1 " || failed "simulate on a machine"
printf 'R Hit 0 8 9000.0 0\nR Hit 8 8 2000.0 0\n' >measured.closed
"$headcrash" simulate --profile hp-c2447 --trace measured.closed | says "compared with 2 measured requests: demerit" || failed "measured"
echo '1 0 8 8' >bad.trace
printf '128166372003061629,hm,1,Read,3834880,32768,56557\n128166372003071629,hm,1,Write,4096,512,5\n' >hm.csv
"$headcrash" simulate --profile hp-c2447 --trace hm.csv | says "^2 requests (1 reads, 1 writes) in 0" || failed "MSR's"
printf '0,1,8,1,7\n' | "$headcrash" simulate --profile hp-c2447 --trace - --format tencent | says "^1 requests" || failed "Tencent's"
: >none.trace
"$headcrash" simulate --profile hp-c2447 --trace none.trace 2>&1 | says "none.trace: contains no requests" || failed "an empty trace"
"$headcrash" simulate --profile hp-c2447 --trace none.trace --json 2>/dev/null | says '"warnings"' || failed "an empty trace as JSON"
refuses 2 "bad.trace: line 1" flags -- "$headcrash" simulate --profile hp-c2447 --trace bad.trace
refuses 2 "line 2" "no device 1" -- "$headcrash" simulate --profile hp-c2447 --trace both.trace
refuses 2 "no/such.trace" -- "$headcrash" simulate --profile hp-c2447 --trace no/such.trace
refuses 2 "--format" -- "$headcrash" simulate --profile hp-c2447 --trace two.csv
refuses 2 "hp-c2447" -- "$headcrash" simulate --profile hp-c2448 --trace two.trace
refuses 2 "--random" -- "$headcrash" simulate --profile hp-c2447 --random cuont=5
refuses 2 "no/such/out.csv" -- "$headcrash" simulate --profile hp-c2447 --trace two.trace --csv no/such/out.csv
refuses 2 "hd0.9" -- "$headcrash" simulate --profile raid5-5 --random count=1 --fault dead:hd0.9
printf 'kind = "array"\nname = "a"\ntitle = "a"\nmember = "./a.toml"\n' >a.toml
cat >>a.toml <<'TOML'
[layout]
origin = "estimate: a test"
level = "raid0"
members = 2
stripe-unit-kib = 64
synchronised-spindles = false
[controller]
origin = "estimate: a test"
command-ms = 0
parity-sector-us = 0
stripe-cache-stripes = 0
[safety]
origin = "estimate: a test"
volatile-cache = false
prewrite-kib = 0
recovery = "none"
region-kib = 0
accept-dirty-degraded = false
rebuild-mb-per-s = 0
TOML
refuses 2 a.toml "contains itself" -- "$headcrash" simulate --profile ./a.toml --random count=1

# databases: a missing one, a file that is not a database, and one of a newer version
refuses 2 missing.db -- "$headcrash" report --db missing.db
echo "not a database, but long enough that SQLite tries to open it, because it expects a header of one hundred bytes..." >text.db
refuses 2 text.db -- "$headcrash" report --db text.db
refuses 2 text.db -- "$headcrash" campaign demo --db text.db
grep -q "not a database" text.db || failed "a file that is not a database was changed"

sqlite3 newer.db 'PRAGMA application_id = 0x68637231; PRAGMA user_version = 99; CREATE TABLE run (id)'
refuses 2 newer.db newer -- "$headcrash" report --db newer.db
refuses 2 newer.db newer -- "$headcrash" campaign demo --db newer.db

# merge writes either everything or nothing
refuses 2 missing.db -- "$headcrash" merge missing.db -o merged.db
refuses 2 newer.db newer -- "$headcrash" merge newer.db -o merged.db
refuses 2 "already exists" -- "$headcrash" merge newer.db -o text.db
[ ! -e merged.db ] || failed "merge left a database behind"

# gc creates no database; printing the schema needs no database
refuses 2 missing.db -- "$headcrash" gc --db missing.db
[ ! -e missing.db ] || failed "gc made a database"
refuses 2 text.db -- "$headcrash" gc --db text.db --older-than 0
refuses 2 "--older-than" -- "$headcrash" gc --db text.db --older-than -1
"$headcrash" query --schema | says "^CREATE TABLE measure" || failed "query --schema"

# stores and sockets
refuses 2 store -- "$headcrash" serve --size 64M --store /proc/nowhere
touch taken.sock
refuses 2 taken.sock "is not a socket" -- "$headcrash" serve --size 64M --socket taken.sock
echo "command: all as it should be"

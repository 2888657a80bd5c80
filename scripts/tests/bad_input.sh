#!/usr/bin/env bash
# Invalid inputs, one per row: each must return its exit code, print one line on standard error that names the problem, and
# leave no process, no temporary file and no new file in its folder.
#
#   bad_input.sh BUILD-FOLDER
#
# No guest is started. The lines before a row write the files that the row needs.
tests=$(cd "$(dirname "$0")" && pwd)
. "$tests/lib.sh"
cd "$scratch"
mkdir place temporary
export TMPDIR=$scratch/temporary
cd place
rows=0
around=()   # a command that the next ones are run by

# wrong [CODE] WORD... -- ARGUMENT...: `headcrash ARGUMENT...` exits with CODE (2 if left out), and its only line has every WORD.
wrong() {
  local code=2 words=() status=0 before
  if [[ $1 =~ ^[0-9]+$ ]]; then code=$1; shift; fi
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  before=$(find . | sort)
  timeout 60 "${around[@]}" "$headcrash" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ "$status" -eq "$code" ] || failed "headcrash $* exited with $status, not $code: $(cat "$scratch/err")"
  [ "$(wc -l <"$scratch/err")" -eq 1 ] || failed "headcrash $* does not say one line: $(cat "$scratch/err")"
  grep -q '^headcrash: ' "$scratch/err" || failed "headcrash $* does not say who speaks: $(cat "$scratch/err")"
  [ ! -s "$scratch/out" ] || failed "headcrash $* prints on standard output as well: $(head -3 "$scratch/out")"
  for word in "${words[@]}"; do
    grep -qF -- "$word" "$scratch/err" || failed "headcrash $* does not say \"$word\": $(cat "$scratch/err")"
  done
  [ "$(find . | sort)" = "$before" ] || failed "headcrash $* left $(find . -newer "$scratch/out" | head -3)"
  [ -z "$(ls -A "$TMPDIR")" ] || failed "headcrash $* left temporary files: $(ls -A "$TMPDIR")"
  ! pgrep -f "$scratch/place" >/dev/null || failed "headcrash $* left processes: $(pgrep -af "$scratch/place")"
  rows=$((rows + 1))
}

# file NAME: writes standard input to the file
file() { cat >"$1"; }

# ---- command lines
wrong "a command is required" "headcrash help" --
wrong 'unknown command "fly"' "headcrash help" -- fly
wrong '"sreve"' 'did you mean "serve"' -- sreve
wrong '"campain"' 'did you mean "campaign"' -- help campain
wrong image '"usf"' 'did you mean "ufs"' -- image usf
wrong serve --profil 'did you mean "--profile"' -- serve --profil hp-c2447
wrong init "unknown option -o" -- init campaign -o mine.toml
wrong list "unexpected: extra" -- list profiles extra
wrong list WHAT "headcrash help list" -- list
wrong 'did you mean "profiles"' -- list profile
wrong 'did you mean "campaign"' -- init campain
wrong merge DATABASE -- merge -o merged.db
wrong --disk '"lots"' -- check --fs ext4 --disk lots -- false
wrong --disk "too small" -- check --fs ext4 --disk 4K -- false
wrong '"ext5"' -- check --fs ext4 --fs ext5 -- false
wrong experiment ganger94 -- experiment ganger95
wrong ganger94/table99 "unknown experiment" -- experiment ganger94/table99
wrong memry-mb memory-mb -- experiment chen96/calculator --set memry-mb=512
wrong memory-mb=lots "NAME=NUMBER" -- experiment chen96/calculator --set memory-mb=lots

# ---- campaign files
file typo.toml <<<'filesystems = ["ext4"]
sede = 3
[device]
profiles = ["hp-c2447"]'
wrong typo.toml sede 'did you mean "seed"' -- campaign typo.toml
wrong missing.toml "No such file" -- campaign missing.toml
file syntax.toml <<<'filesystems = ["ext4"'
wrong syntax.toml:1 "correct the TOML syntax" -- campaign syntax.toml
head -c 3000 /dev/zero | tr '\0' '\377' | file noise.toml
wrong noise.toml utf-8 -- campaign noise.toml
: | file empty.toml
wrong empty.toml device.profiles 'profiles = ["hp-c2447"]' -- campaign empty.toml
wrong '"dmo"' 'did you mean "demo"' -- campaign dmo
wrong demo '"xsf"' 'did you mean "xfs"' -- campaign demo --plan --only xsf
wrong --only io-errors/ext4 -- campaign io-errors --plan --only ext4
wrong io-errors "omit --junit" -- campaign io-errors --junit it.xml
wrong unsynced-loss "omit --junit, --sarif" -- campaign unsynced-loss --summary it.md
wrong --shard "i/n" -- campaign demo --shard 3/2
wrong --jobs "0 is not in the range 1 to 256" -- campaign demo --jobs 0
campaign() { printf 'filesystems = ["ext4"]\n%s\n[device]\nprofiles = ["hp-c2447"]\n%s\n' "$1" "$2" >case.toml; }
campaign 'trials = 0' ''
wrong case.toml trials "whole number from 1" -- campaign case.toml
campaign 'trials = 3.5' ''
wrong case.toml trials "whole number" -- campaign case.toml
campaign '' 'size = "90G"'
wrong case.toml device.size "holds only 1003 MiB" -- campaign case.toml
campaign '' 'size = "12Q"'
wrong case.toml device.size "K, M, G or T" -- campaign case.toml
campaign '' 'faults = ["ded:hd0"]'
wrong case.toml device.faults "'ded'" "known: latent-error, dead, slow, torn-write, lost-write, " -- campaign case.toml
campaign '' 'tear = "maybe"'
wrong case.toml device.tear unreadable -- campaign case.toml
campaign '' 'clock = "fast"'
wrong case.toml device.clock "real:K" -- campaign case.toml
campaign '' '[cut]
after-persistence-ms = [50, 0]'
wrong case.toml cut.after-persistence-ms "[0, 50]" -- campaign case.toml
campaign '' '[guest]
memory-mib = 1'
wrong case.toml guest.memory-mib "128 to 65536" -- campaign case.toml
campaign '' '[workload]
name = "smal-files"'
wrong case.toml workload.name small-files -- campaign case.toml
campaign '' '[[controls]]
filesystem = "ext4-nobarrier"'
wrong case.toml controls "[explore]" -- campaign case.toml
file fs.toml <<<'filesystems = ["ext5"]
[device]
profiles = ["hp-c2447"]'
wrong fs.toml filesystems '"ext5"' -- campaign fs.toml
file profile.toml <<<'filesystems = ["ext4"]
[device]
profiles = ["hp-c2448"]'
wrong profile.toml device.profiles 'did you mean "hp-c2447"' -- campaign profile.toml
file small.toml <<<'filesystems = ["xfs"]
[device]
profiles = ["hp-c2447"]
size = "16M"'
wrong small.toml device.size "300 MiB" -- campaign small.toml
file strategy.toml <<<'filesystems = ["ext4"]
[explore]
strategies = ["prefx"]'
wrong strategy.toml explore.strategies 'did you mean "prefix"' -- campaign strategy.toml
file slow.toml <<<'filesystems = ["ext4"]
[device]
profiles = ["raid5-5"]
[explore]
strategies = ["member"]
slow = "journal"'
wrong slow.toml explore.slow "plain disk" -- campaign slow.toml
file operations.toml <<<'filesystems = ["ext4"]
[explore]
[workload]
operations = """
create a
fsnc a
"""'
wrong operations.toml workload.operations:2 "fsnc a" fsyncdir -- campaign operations.toml
file forgets.toml <<<'filesystems = ["ext4"]
[explore]
[workload]
operations = """
create a
"""'
wrong forgets.toml workload.operations "no persistence point" "add fsync" -- campaign forgets.toml
file circle.toml <<<'base = "./circle.toml"'
wrong "circle.toml: base" "is circular" -- campaign circle.toml
[ "$(grep -o circle.toml "$scratch/err" | wc -l)" -le 3 ] || failed "the error for a circle is too long: $(cat "$scratch/err")"

# ---- file systems, workloads
file adapter.toml <<<'base = "ext4"
optons = "nobarrier"'
wrong adapter.toml optons "unknown key" -- explore --fs ./adapter.toml --workload ace-seq1/17
wrong --test replace-unsinced 'did you mean "replace-unsynced"' -- contract --fs ufs-journal --test replace-unsinced
wrong ufs-jornal "did you mean" -- contract --fs ufs-jornal --test 39
wrong zebra "--list" -- explain zebra
file table.json <<<'{"tests": []}'
wrong table.json "not a contract table" -- contract diff table.json table.json
file table.json <<<'{"contract": 1, "commit": "", "systems": [{"name": "ext4", "kernel": ""}], "tests": [], "cells": []}'
wrong table.json "xfs" "use one of ext4" -- contract diff table.json:xfs table.json
file devise.toml <<<'base = "ext4"
[mkfs]
command = ["mkfs.ext4", "{devise}"]'
wrong devise.toml mkfs.command '"{devise}"' 'did you mean "{device}"' -- explore --fs ./devise.toml --workload ace-seq1/17
wrong '"md-raid9"' 'did you mean "md-raid' -- explore --fs ext4 --stack md-raid9 --workload ace-seq1/17
wrong ext4-external-journal "second disk" "one device" -- explore --fs ext4-external-journal --stack md-raid1 --workload ace-seq1/17
wrong ext4:md-raid1 "cannot be combined with an array" -- explore --fs ext4 --stack md-raid1 --workload ace-seq1/17 --machine raid5-5
file stack.toml <<<'base = "md-raid1"
disk = 3'
wrong stack.toml disk "unknown key" 'did you mean "disks"' -- explore --fs ext4 --stack ./stack.toml --workload ace-seq1/17
file stack.toml <<<'base = "md-raid1"
[assemble]
command = ["mdadm", "{member}"]'
wrong stack.toml assemble.command '"{member}"' -- explore --fs ext4 --stack ./stack.toml --workload ace-seq1/17
file stack.toml <<<'base = "md-raid1"
absent = ["hd2"]'
wrong stack.toml absent 'no disk "hd2"' -- explore --fs ext4 --stack ./stack.toml --workload ace-seq1/17
file cuts.toml <<<'filesystems = ["ext4:md-raid1"]
[device]
profiles = ["hp-c2447"]
[workload]
name = "mail-spool"'
wrong cuts.toml filesystems "add [explore]" -- campaign cuts.toml
wrong explore "no workload to explore" --workload -- explore --fs ext4
wrong '"smal-files"' 'did you mean "small-files"' -- explore --fs ext4 --workload smal-files
wrong ace-seq1/999999 429 -- explore --fs ext4 --workload ace-seq1/999999
wrong '"prefx"' 'did you mean "prefix"' -- explore --fs ext4 --workload ace-seq1/17 --strategy prefx
wrong --budget ten -- explore --fs ext4 --workload ace-seq1/17 --budget ten
wrong --size 16777216 -- explore --fs ext4 --workload ace-seq1/17 --size 1M
wrong --size "2T or less" -- explore --fs ext4 --workload small-files --size 10T
wrong hd0.9 hd0.4 -- explore --fs ext4 --workload ace-seq1/17 --machine raid5-5 --fault dead:hd0.9
wrong raid55 'did you mean "raid5-5"' -- explore --fs ext4 --workload ace-seq1/17 --machine raid55
wrong '"sqlit"' 'did you mean "sqlite"' -- explore --fs ext4 --application sqlit
wrong 'no setting "wal-ful"' 'did you mean "wal-full"' -- explore --fs ext4 --application sqlite+wal-ful
wrong --slow "plain disk" "omit --machine" -- explore --fs ext4 --workload ace-seq1/17 --machine raid5-5 --slow journal
wrong --slow "new recording" "omit RECORDING" -- explore some.hcrec --fs ext4 --slow journal
wrong --slow-us 1000000 -- explore --fs ext4 --workload ace-seq1/17 --slow journal --slow-us 2000000
wrong --resume "--db FILE" -- explore --fs ext4 --workload ace-seq1/17 --resume
wrong --db --minimise -- explore --fs ext4 --workload ace-seq1/17 --db new.db --minimise
wrong --db --rounds 4 -- explore --fs ext4 --workload small-files --rounds 3 --db new.db
wrong --minimise --record -- explore --fs ext4 --workload ace-seq1/17 --minimise
wrong --from RECORDING -- explore --fs ext4 --workload ace-seq1/17 --from 12
wrong /proc/nowhere/it "No such file" --record -- explore --fs ext4 --workload ace-seq1/17 --record /proc/nowhere/it
wrong /proc/nowhere/it.html "No such file" --html -- explore --fs ext4 --workload ace-seq1/17 --html /proc/nowhere/it.html

# ---- benchmarks
bench() { printf 'filesystems = ["ext4"]\n[[device]]\nprofiles = ["hp-c2447"]\nsize = "512M"\n[[workload]]\n%s\n' "$1" >bench.toml; }
bench 'tool = "fioo"'
wrong bench.toml "workload[0].tool" 'did you mean "fio"' -- bench bench.toml --plan
bench 'tool = "fio"
job-file = "none.fio"'
wrong none.fio "No such file" -- bench bench.toml --plan
bench 'tool = "fio"
job-file = "bad.fio"'
wrong '"quik"' 'did you mean "quick"' -- bench quik --plan
if command -v fio >/dev/null; then
  file bad.fio <<<'[job]
rw=randwrte
size=2M'
  wrong bad.fio rw=randwrte "man fio" -- bench bench.toml --plan
  file bad.fio <<<'[job]
rw=randwrite
bogus_key=4k'
  wrong bad.fio bogus_key "man fio" -- bench bench.toml --plan
fi

# ---- recordings
head -c 3000 /dev/zero | tr '\0' '\377' | file noise.hcrec
: | file empty.hcrec
wrong noise.hcrec "not a headcrash recording" -- explore noise.hcrec --fs ext4
wrong empty.hcrec "not a headcrash recording" -- recording info empty.hcrec
wrong missing.hcrec "No such file" -- recording info missing.hcrec
wrong csvv 'did you mean "csv"' -- recording export noise.hcrec --format csvv -o x
wrong typo.toml dm-log-writes -- recording import typo.toml --format dm-log-writes -o new.hcrec --size 64M
wrong missing.hcrec "missing.hcrec: does not exist" -- replay missing.hcrec --fs ext4 --state w1-

# ---- databases
: | file empty.db
printf '%s\n' no{,,,,,,,,,,,,,,,,,,,}\ database | file text.db
for command in report query runs trials "replay 1" "extract 1 -o away" "predict 1"; do
  # shellcheck disable=SC2086
  wrong missing.db "no such file" "--db" -- $command --db missing.db
done
wrong empty.db "empty file" -- report --db empty.db
wrong text.db "not a database" -- runs --db text.db
wrong text.db "not a database" -- merge text.db -o merged.db
wrong "is a folder" -- runs --db .
wrong /proc/new.db "No such file" -- campaign ufs-schemes/conventional --shard 1/3000 --db /proc/new.db
wrong --older-than -- gc --db empty.db --older-than x

# ---- disks
wrong hp-c2448 'did you mean "hp-c2447"' -- serve --profile hp-c2448
wrong size "K, M, G or T" -- serve --size 1X
wrong --size "multiple of 512" -- serve --size 0
wrong --cut at-flush:N -- serve --cut at-flsh:20
wrong --size "in the machine file" -- serve --machine two.toml --size 64M
wrong --states "omit all other options" -- serve --states empty.hcrec --clock off
wrong "hd0.below.3" hd0 -- serve --profile hp-c2447 --size 512M --fault dead:hd0.below.3
wrong at-flsh at-flush:N -- serve --profile hp-c2447 --size 512M --cut at-flsh:20
wrong /proc/nowhere/a.sock "No such file" -- serve --profile hp-c2447 --size 512M --socket /proc/nowhere/a.sock
wrong /proc/nowhere/a.hcrec "No such file" -- serve --profile hp-c2447 --size 512M --record /proc/nowhere/a.hcrec
wrong missing.toml "No such file" -- serve --machine missing.toml
wrong /nowhere/qemu "after --" -- serve --profile hp-c2447 --size 512M -- /nowhere/qemu
# over vhost-user
wrong hp-c2448 'did you mean "hp-c2447"' -- serve --vhost-user disk.sock --profile hp-c2448
wrong "hd0.below.3" hd0 -- serve --vhost-user disk.sock --size 512M --fault dead:hd0.below.3
wrong at-flsh at-flush:N -- serve --vhost-user disk.sock --size 512M --cut at-flsh:20
wrong missing.toml "No such file" -- serve --vhost-user disk.sock --machine missing.toml
wrong /proc/nowhere/a.sock "No such file" -- serve --vhost-user /proc/nowhere/a.sock --size 64M
wrong /proc/nowhere/c.sock "No such file" -- serve --vhost-user disk.sock --control /proc/nowhere/c.sock --size 64M
wrong /proc/nowhere/a.hcrec "No such file" -- serve --vhost-user disk.sock --size 512M --record /proc/nowhere/a.hcrec
wrong "too long for a Unix socket" "shorter path" -- serve --vhost-user "$(printf 'x%.0s' {1..120}).sock" --size 64M
wrong text.db "not a socket" -- serve --vhost-user text.db --size 64M
wrong disk.sock "another server listens" -- serve --vhost-user disk.sock --control disk.sock --size 64M
wrong --socket "omit one of these options" -- serve --vhost-user disk.sock --socket a.sock
wrong --states "omit all other options" -- serve --vhost-user disk.sock --states empty.hcrec
wrong --memory --vhost-user -- serve --memory 1G
wrong --memory "K, M, G or T" -- serve --vhost-user disk.sock --memory 1X
wrong --memory "whole number of MiB" -- serve --vhost-user disk.sock --memory 1000
wrong -m --memory -- serve --vhost-user disk.sock --size 64M -- qemu-system-x86_64 -m 1G
wrong --virtual-time --vhost-user -- serve --virtual-time --size 64M
wrong --memory mem=SIZE -- serve --vhost-user disk.sock --virtual-time --memory 1G
wrong --clock "guest controls" -- serve --vhost-user disk.sock --virtual-time --clock off
wrong disk.sock "another server listens" -- serve --vhost-user disk.sock --virtual-time --control disk.sock --size 64M
wrong --states "omit all other options" -- serve --virtual-time --states empty.hcrec
wrong --charge "add --virtual-time" -- serve --vhost-user disk.sock --charge 1
wrong --charge "from 0.001 to 1000" -- serve --vhost-user disk.sock --virtual-time --charge 0
wrong --charge "from 0.001 to 1000" -- serve --vhost-user disk.sock --virtual-time --charge nan
wrong guest.charge "add --guest virtual" -- bench quick --charge 1 --db none.db
wrong guest.charge "from 0.001 to 1000" -- bench quick --guest virtual --charge 0 --db none.db
wrong guest.charge "from 0.001 to 1000" -- bench quick --guest virtual --charge nan --db none.db
wrong --guest virtual -- bench quick --guest xen
wrong --jobs "one at a time" -- bench quick --jobs 2 --db none.db
wrong --jobs "one at a time" -- bench quick --guest virtual --charge 1 --jobs 2 --plan
wrong --guest virtual -- campaign smoke --guest xen
wrong --guest "omit this option" -- campaign ufs-schemes --guest virtual --db none.db
wrong no-folder "choose a file in a writable folder for --csv" -- explore --fs ext4 --workload mail-spool --csv no-folder/states.csv
wrong /nowhere/qemu "after --" -- serve --vhost-user disk.sock --size 64M -- /nowhere/qemu
wrong --trace --random -- simulate --profile hp-c2447
wrong count "above 0" -- simulate --profile hp-c2447 --random count=-5
wrong empty.toml name "missing" -- simulate --profile ./empty.toml --random count=5
wrong empty.hcrec --format -- simulate --profile hp-c2447 --trace empty.hcrec
wrong missing.img "No such file" -- image ufs check missing.img
wrong typo.toml "not an image" -- image ufs check typo.toml
wrong --bogus -- image ufs mkfs new.img --size 64M --bogus 1

# ---- full disks and unwritable folders
wrong /dev/full "No space left" -- simulate --profile hp-c2447 --random count=1000 --csv /dev/full
# For each family of printing commands: if standard output is on a full disk, one line on standard error and exit code 2.
# full WORD...: like wrong(), with standard output on a full disk.
full() {
  local status=0
  timeout 60 "$headcrash" "$@" >/dev/full 2>"$scratch/err" </dev/null || status=$?
  [ "$status" -eq 2 ] || failed "headcrash $* on a full disk exited with $status: $(cat "$scratch/err")"
  [ "$(grep -c "^headcrash: standard output: cannot be written" "$scratch/err")" -eq 1 ] ||
    failed "headcrash $* does not say that standard output is full: $(cat "$scratch/err")"
  rows=$((rows + 1))
}
"$headcrash" image ufs mkfs "$scratch/full.img" --size 64M >/dev/null
"$headcrash" campaign ufs-schemes/conventional --shard 1/3000 --db "$scratch/full.db" >/dev/null 2>&1 || true
for words in --help --version help "help serve" "list profiles" "list systems" "list profiles --json" "no-such --json" \
  "simulate --profile hp-c2447 --random count=10" "simulate --profile hp-c2447 --random count=10 --json" \
  "simulate --profile hp-c2447 --random count=10 --json --trace x" "image ufs ls $scratch/full.img /" "image ufs check $scratch/full.img" \
  "experiment chen96/calculator -q" "experiment chen96/calculator -q --json" "campaign ufs-schemes --plan" "bench quick --plan" \
  "runs --db $scratch/full.db" "trials --db $scratch/full.db" "runs --db $scratch/full.db --json" "query run --db $scratch/full.db" \
  "doctor" "gc --db $scratch/full.db"; do
  # shellcheck disable=SC2086
  full $words
done
if unshare -rm mount -t tmpfs none /tmp 2>/dev/null; then   # in a namespace of one's own
  mkdir -p mounted
  around=(unshare -rm sh -c 'mount -t tmpfs -o ro none mounted && exec "$@"' sh)
  wrong mounted "cannot be written: Read-only file system" "another folder" -- campaign ufs-schemes/conventional --shard 1/3000 --db mounted/new.db
  wrong mounted/c.toml "Read-only file system" -- init campaign mounted/c.toml
  wrong mounted/rec "Read-only file system" --record -- explore --fs ext4 --workload ace-seq1/17 --record mounted/rec
  wrong mounted/c.html "Read-only file system" --html -- explore --fs ext4 --workload ace-seq1/17 --html mounted/c.html
  wrong mounted/x.csv "Read-only file system" -- simulate --profile hp-c2447 --random count=10 --csv mounted/x.csv
  wrong mounted/a.sock "Read-only file system" -- serve --profile hp-c2447 --size 64M --socket mounted/a.sock
  wrong mounted/a.sock "Read-only file system" -- serve --vhost-user mounted/a.sock --size 64M
  wrong mounted/x.img "Read-only file system" -- image ufs mkfs mounted/x.img --size 64M
  around=(unshare -rm sh -c 'mount -t tmpfs -o size=64k none mounted && head -c 60000 /dev/zero >mounted/fill && exec "$@"' sh)
  wrong mounted/new.db "space" -- campaign ufs-schemes/conventional --shard 1/3000 --db mounted/new.db
  wrong mounted/x.csv "No space left" -- simulate --profile hp-c2447 --random count=10000 --csv mounted/x.csv
  wrong mounted/x.img "No space left" -- image ufs mkfs mounted/x.img --size 64M
  around=()
fi

# ---- scripts: each has a help text, and does nothing if an option is unknown
for script in "$tests"/../*; do
  [ -f "$script" ] && [ -x "$script" ] && [ "${script##*/}" != guest-init ] || continue
  timeout 60 "$script" --help >"$scratch/out" 2>"$scratch/err" </dev/null || failed "$script --help exited with $?"
  [ -s "$scratch/out" ] && [ ! -s "$scratch/err" ] || failed "$script --help does not describe the script: $(cat "$scratch/err")"
  status=0
  timeout 60 "$script" --nonsense >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] && grep -q -- --nonsense "$scratch/err" ||
    failed "$script --nonsense exited with $status and said: $(cat "$scratch/out" "$scratch/err")"
  rows=$((rows + 1))
done
printf '%s\n' "$rows invalid inputs: each has a one-line error and its exit code, and leaves no files"

#!/usr/bin/env bash
# A campaign that explores: its control is caught, ext4 is clean, and it can be killed, resumed, sharded and merged. An
# adapter whose command is missing in the guest, or a killed agent, fails only its own trial.
. "$(dirname "$0")/lib.sh"
# Options of guests that boot fast: user-mode Linux if its kernel has been built, else QEMU.
fast_guest=()
! "$(dirname "$0")/../build-uml" --check >/dev/null 2>&1 || fast_guest=(--guest virtual)
cd "$scratch"
export TMPDIR=$scratch
ask() { sqlite3 "$1" "$2"; }

exits 0 "$headcrash" campaign smoke --db smoke.db --html report
says 'pages of failures written to report: [1-9][0-9]*$' err || failed "it does not report the pages that it made: $(cat err)"
grep -q "states/s" out || failed "no speed: $(cat out)"
grep -q "controls as expected: 1 of 1" out || failed "the control is not reported: $(cat out)"
[ "$(ask smoke.db "SELECT verdict IN ('clean', 'replayed') FROM trial WHERE filesystem = 'ext4'")" = 1 ] ||
  failed "ext4: $(ask smoke.db "SELECT verdict, summary FROM trial WHERE filesystem = 'ext4'")"
[ "$(ask smoke.db "SELECT count(*) > 0 FROM failure WHERE confirmed AND replay LIKE 'headcrash replay %' AND account <> ''")" = 1 ] ||
  failed "no failure of the control was confirmed and told"
[ "$(ask smoke.db "SELECT sum(checked) = (SELECT count(*) FROM crash_state) FROM coverage")" = 1 ] || failed "coverage and states do not agree"
[ "$(ask smoke.db 'PRAGMA foreign_key_check' | wc -l)" = 0 ] || failed "foreign keys"
# failed trials keep their recordings, clean trials do not
recording=$(ask smoke.db "SELECT path FROM artefact WHERE kind = 'recording'")
[ -e "$recording" ] || failed "the control's recording is not there: $recording"
[ ! -e smoke.artefacts/run-1/ext4.stage.overwrite ] || failed "the recording of a clean trial was kept"
pages=(report/crash.*.html)
failures=$(ask smoke.db "SELECT count(*) FROM failure")
[ "${#pages[@]}" = "$failures" ] || failed "${#pages[@]} pages of $failures failures"
for page in "${pages[@]}"; do
  says "href=\"${page#report/}\"" report/report.html || failed "the report does not link to $page"
  says 'inode 1[0-9], /' "$page" || failed "$page names no inode"
done
cat "${pages[@]}" | says 'Expected and found' || failed "no page shows the findings"
"$headcrash" report --db smoke.db -o later --pages >/dev/null 2>err || failed "report"
[ "$(ls later)" = "$(ls report)" ] || failed "the pages made later are others: $(ls later)"
grep -q '<h3 id="controls">' report/report.html || failed "the report has no table of the controls"
grep -q '<div class="strip">' report/report.html || failed "the report has no strip of the crash states"

# shards, one of which is killed and resumed, are merged: the result has each trial once
"$headcrash" campaign smoke "${fast_guest[@]}" --db one.db --shard 1/2 >out 2>err || failed "shard 1/2: $(cat out err)"
"$headcrash" campaign smoke "${fast_guest[@]}" --db two.db --shard 2/2 >out 2>err &
server=$!
sleep 1
kill_server || true
exits 0 "$headcrash" campaign smoke "${fast_guest[@]}" --db two.db --shard 2/2 --resume
"$headcrash" merge one.db two.db -o both.db >out || failed "merge: $(cat out)"
[ "$(ask both.db "SELECT count(*) FROM run WHERE finished_at IS NOT NULL")" = 1 ] || failed "not one finished run: $(cat out)"
[ "$(ask both.db "SELECT count(DISTINCT key) FROM trial")" = 2 ] || failed "not two trials after merging"

# explore: prints the result in a sentence, begins at an event or mark, and stores a run that can be resumed, listed and reported
exits 0 "$headcrash" explore "${fast_guest[@]}" --fs ext4 --workload overwrite-fsync --rounds 4 --budget 4 --jobs 1 --record recorded
says -x 'ext4: passed; all 4 crash states had everything that was promised' <out || failed "no headline: $(cat out)"
! says recorded/headcrash- <out || failed "a recording that goes away is named: $(cat out)"
refuses 2 'did you mean "phase workload"' -- "$headcrash" explore recorded/workload.hcrec --fs ext4 --from 'phase workloda'
refuses 2 "events, but no event 1000000" -- "$headcrash" explore "${fast_guest[@]}" recorded/workload.hcrec --fs ext4 --from 1000000
space() { sed -n 's/.*"space": \([0-9.]*\).*/\1/p' out; }   # of the one strategy that was asked for
exits 0 "$headcrash" explore "${fast_guest[@]}" recorded/workload.hcrec --fs ext4 --strategy lose-all --budget 2 --jobs 1 --json
all=$(space)
exits 0 "$headcrash" explore "${fast_guest[@]}" recorded/workload.hcrec --fs ext4 --strategy lose-all --budget 2 --jobs 1 --json --from 'persisted 16'
[ "$(space | cut -d . -f 1)" -lt "${all%%.*}" ] || failed "--from leaves nothing out of $all: $(space)"
# a recording in the current folder, given by its name: the losses without barriers are found and written
exits 1 "$headcrash" explore --guest qemu --fs ext4-nobarrier --workload overwrite-fsync --rounds 4 --strategy lose-all --budget 8 --jobs 1 --record lossy
cd lossy
exits 1 "$headcrash" explore "${fast_guest[@]}" workload.hcrec --fs ext4-nobarrier --strategy lose-all --budget 8 --jobs 1 --csv s.csv --html h.html
[ -s s.csv ] && [ -s h.html ] || failed "the files of an exploration are not there: $(ls)"
cd ..
slow=(explore "${fast_guest[@]}" --fs ext4 --workload overwrite-fsync --rounds 2 --budget 2 --jobs 1 --slow-us 300000)
exits 0 "$headcrash" "${slow[@]}" --slow 'journal commit' --record slow
exits 0 "$headcrash" recording info slow/workload.hcrec --json
[ "$(sed -n 's/.*"last_at_ns": \([0-9]*\).*/\1/p' out)" -gt 300000000 ] || failed "no write was slow: $(cat out)"
refuses 2 'this workload has no write of kind "node 3"; use one of these kinds, or a part of its name: ' -- "$headcrash" "${slow[@]}" --slow 'node 3'

# --stacks: the issuers of lost writes, in the account and on the page, and the same requests as without it. In real time, the order and
# the division of requests differ between any two recordings, so only the written sectors are compared.
traced_guest=()
! "$(dirname "$0")/../build-uml" --stacks --check >/dev/null 2>&1 || traced_guest=(--guest virtual)
traced=(explore "${traced_guest[@]}" --fs ext4-nobarrier --workload overwrite-fsync --rounds 4 --strategy lose-all --budget 8 --jobs 1)
exits 1 "$headcrash" "${traced[@]}" --stacks --record traced --minimise
[ "$(sed -n 's/^issuers: .* (\([0-9]*\)[.0-9]* %).*/\1/p' out)" -ge 95 ] || failed "too few issuers: $(grep issuers out)"
says 'issued by [a-z_0-9]* from ' <traced/failure-1.txt || failed "the account names no issuer: $(cat traced/failure-1.txt)"
says 'issued by [a-z_0-9]* from ' traced/failure-1.html || failed "the page names no issuer"
says 'jbd2_journal_commit_transaction' traced/workload.issuers.txt || failed "no commit: $(head -n 40 traced/workload.issuers.txt)"
refuses 2 'requires a new recording' -- "$headcrash" explore traced/workload.hcrec --fs ext4-nobarrier --stacks
exits 1 "$headcrash" "${traced[@]}" --record untraced
for each in traced untraced; do
  "$headcrash" recording export "$each/workload.hcrec" -o "$each.csv" --format csv >out
  if [ ${#traced_guest[@]} = 0 ]; then
    awk -F , '$3 == "submit" && $7 == "write" { for (i = 0; i < $10; ++i) print $4, $9 + i }' "$each.csv" | sort -u
  else
    awk -F , '$3 == "submit" { print $4, $7, $8, $9, $10 }' "$each.csv"
  fi >"$each.requests"
  [ -s "$each.requests" ] || failed "$each has no requests"
done
cmp traced.requests untraced.requests || failed "tracing changes the requests: $(diff traced.requests untraced.requests | head)"
stored=(explore "${fast_guest[@]}" --fs ext4 --workload ace-seq1 --trials 2 --budget 3 --jobs 1 --db explored.db)
exits 0 "$headcrash" "${stored[@]}"
exits 0 "$headcrash" "${stored[@]}" --resume
says 'run 1: 2 of 2 trials (2 of them before)' <out || failed "not resumed: $(cat out)"
says 'run 1 is already finished' <err || failed "not told that it was finished: $(cat err)"
"$headcrash" runs --db explored.db | says '1  campaign  explore .* 2/2  finished' || failed "runs: $("$headcrash" runs --db explored.db)"
exits 0 "$headcrash" report --db explored.db -o explored
exits 1 "$headcrash" explore "${fast_guest[@]}" --fs ext4-nobarrier --workload overwrite-fsync --rounds 8 --strategy lose-all --budget 4 --jobs 1 --db explored.db --junit explored.xml
grep -q '<testcase .*overwrite-fsync' explored.xml || failed "--junit with --db: $(cat explored.xml)"
exits 1 "$headcrash" replay 3 --db explored.db

# an interruption does not wait for the guest's activity: mkfs, and the check of a state, which then does not count
cat >slow-mkfs.toml <<'EOF'
base = "ext4"
[mkfs]
command = ["busybox", "sleep", "50"]
EOF
cat >slow-check.toml <<'EOF'
base = "ext4"
[check]
command = ["busybox", "sleep", "50"]
host = false
EOF
for part in mkfs:formatted.hcrec check:workload.operations.txt; do
  name=slow-${part%%:*} begun=${part#*:}
  "$headcrash" explore --guest qemu --fs "$name.toml" --workload overwrite-fsync --rounds 4 --jobs 1 --record "$name" --json >out 2>err &
  server=$!
  for _ in $(seq 1200); do
    [ ! -e "$name/$begun" ] || break
    kill -0 "$server" 2>/dev/null || failed "$name ended: $(cat out err)"
    sleep 0.1
  done
  [ -e "$name/$begun" ] || failed "$name did not begin: $(cat out err)"
  sleep 2
  kill -INT "$server"
  began=$SECONDS status=0
  wait "$server" || status=$?
  server=
  [ "$status" -eq 130 ] || failed "$name, interrupted, gave exit code $status: $(cat out err)"
  [ $((SECONDS - began)) -lt 20 ] || failed "$name, interrupted, waited $((SECONDS - began)) s for the guest"
  [ "$(tail -n 1 err | cut -d ';' -f 1)" = 'headcrash: interrupted' ] || failed "$name does not say that it was interrupted: $(cat err)"
  ! pgrep -f "$scratch" >/dev/null || failed "$name left processes behind: $(pgrep -af "$scratch")"
done
[ -z "$(ls slow-mkfs)" ] || failed "an interrupted mkfs leaves $(ls slow-mkfs)"
[ "$(perl -MJSON::PP -0777 -ne 'my $f = decode_json($_); print "$f->{checked} ", scalar @{$f->{failures}}' out)" = "0 0" ] ||
  failed "a check that was interrupted counts: $(cat out)"

# a journal on a second disk: states cover both disks, the control without flushes is caught, and its failure is reproduced
cat >disks.toml <<'EOF'
trials = 1
filesystems = ["ext4-external-journal"]
[device]
size = "64M"
[workload]
name = "short"
operations = """
create f
write f 0 8192 1 1
fsync f
fsyncdir .
write f 0 8192 1 2
fsync f
"""
[explore]
strategies = ["lose-all", "reorder"]
budget = 8
reorder-per-cut = 4
confirm = 1
[[controls]]
filesystem = "ext4-external-journal-nobarrier"
budget = 4
EOF
exits 0 "$headcrash" campaign disks.toml "${fast_guest[@]}" --db disks.db
[ "$(ask disks.db "SELECT verdict IN ('clean', 'replayed') FROM trial WHERE control IS NULL")" = 1 ] ||
  failed "two disks: $(ask disks.db "SELECT filesystem, verdict, summary FROM trial")"
[ "$(ask disks.db "SELECT count(*) = 12 AND sum(name LIKE 'a%') = 12 FROM crash_state")" = 1 ] ||
  failed "not 12 states of all disks: $(ask disks.db "SELECT name FROM crash_state")"
key=$(ask disks.db "SELECT key FROM trial WHERE control IS NOT NULL")
exits 1 "$headcrash" replay "$key" --db disks.db --html crash.html
says 'Expected and found' <crash.html || failed "the page of the crash does not show the findings"
says '^as recorded' out || failed "the control's failure was not seen again: $(cat out)"
refuses 2 'second disk' -- "$headcrash" extract "$key" --db disks.db -o none

# an exploration can end with the first reproduced failure
exits 1 "$headcrash" explore "${fast_guest[@]}" --fs ext4-nobarrier --workload overwrite-fsync --rounds 8 --budget 200 --jobs 1 --stop-at-first --html explored.html --json
[ "$(perl -MJSON::PP -0777 -ne 'my $f = decode_json($_); print scalar @{$f->{failures}}, " ", $f->{checked} < 200' out)" = "1 1" ] ||
  failed "--stop-at-first continued: $(cat out)"

# a crash within a list: its promises are judged, and the later part can be replayed from the recordings of all parts
printf '%s\n' 'create a' 'write a 0 8192 1 1' 'fsync a' 'create lost' 'crash power' 'create b' 'fsync b' >crash.txt
exits 1 "$headcrash" explore "${fast_guest[@]}" --fs ext4-nobarrier --workload crash.txt --strategy lose-all --jobs 1
says 'at the crash inside the list, w[0-9]*- of workload.leg-1.hcrec: .*(lost-synced-data)' <err || failed "$(cat err)"
exits 0 "$headcrash" explore "${fast_guest[@]}" --fs ext4 --workload crash.txt --strategy lose-all --budget 2 --jobs 1 --record legs
refuses 2 'after the last crash of the list' -- "$headcrash" explore legs/workload.hcrec --fs ext4 --workload crash.txt
cat >crash.toml <<EOF
trials = 1
filesystems = ["ext4", "ext4+read-only-first"]
[device]
size = "64M"
[workload]
name = "$scratch/crash.txt"
[explore]
strategies = ["lose-all"]
budget = 4
keep = true
EOF
exits 0 "$headcrash" campaign crash.toml "${fast_guest[@]}" --db crash.db
[ "$(ask crash.db "SELECT group_concat(kind) FROM (SELECT kind FROM artefact WHERE trial_id = 1 ORDER BY kind)")" = leg-1,recording,workload ] ||
  failed "the legs are not kept: $(ask crash.db 'SELECT kind, path FROM artefact')"
exits 0 "$headcrash" replay 1 --db crash.db --state "$(ask crash.db 'SELECT name FROM crash_state WHERE trial_id = 1 ORDER BY id DESC LIMIT 1')"
[ "$(ask crash.db "SELECT count(*) FROM crash_state WHERE trial_id = 2 AND verdict <> 'clean'")" = 0 ] ||
  failed "a first mount that recovers: $(ask crash.db 'SELECT name, verdict FROM crash_state')"
cat >cut.toml <<EOF
filesystems = ["ext4+read-only-first"]
[device]
profiles = ["hp-c2447"]
EOF
refuses 2 'ext4+read-only-first is mounted twice after a cut' -- "$headcrash" campaign cut.toml --plan

# an adapter with a missing command, and one that kills the agent: each fails only its own trial
cat >missing.toml <<'EOF'
base = "ext4"
[mkfs]
command = ["mkfs.nosuchthing", "{device}"]
EOF
cat >killer.toml <<'EOF'
base = "ext4"
[mkfs]
command = ["sh", "-c", "kill -KILL 1; busybox poweroff -f"]
EOF
cat >bad.toml <<EOF
trials = 1
filesystems = ["$scratch/missing.toml", "$scratch/killer.toml", "ext4"]
[device]
size = "64M"
[workload]
name = "short"
operations = """
create f
fsync f
"""
[explore]
strategies = ["lose-all"]
budget = 3
[guest]
step-timeout-s = 15
EOF
exits 1 "$headcrash" campaign bad.toml --db bad.db
[ "$(ask bad.db "SELECT verdict FROM trial WHERE filesystem = 'missing'")" = harness-error ] || failed "missing command: $(ask bad.db 'SELECT filesystem, verdict, summary FROM trial')"
ask bad.db "SELECT summary FROM trial WHERE filesystem = 'missing'" | grep -q 'mkfs.nosuchthing: .*; install e2fsprogs' || failed "the missing command or its hint is not named: $(ask bad.db 'SELECT summary FROM trial')"
[ "$(ask bad.db "SELECT verdict IN ('hang', 'oops', 'harness-error') FROM trial WHERE filesystem = 'killer'")" = 1 ] || failed "killed agent: $(ask bad.db 'SELECT filesystem, verdict, summary FROM trial')"
[ "$(ask bad.db "SELECT verdict IN ('clean', 'replayed') FROM trial WHERE filesystem = 'ext4'")" = 1 ] || failed "the good one suffered: $(ask bad.db 'SELECT filesystem, verdict, summary FROM trial')"
shopt -s nullglob
left=("$scratch"/headcrash-*)
[ ${#left[@]} -eq 0 ] || failed "left behind: ${left[*]}"
echo "exploring: all as it should be"

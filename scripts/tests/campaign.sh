#!/usr/bin/env bash
# A campaign with guests, killed and resumed: no finished trial is repeated or lost. Also tests its report.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
export TMPDIR=$scratch

"$headcrash" campaign one-cut --db smoke.db >out 2>err &
server=$!
for _ in $(seq 2400); do
  [ "$(sqlite3 smoke.db 'SELECT count(*) FROM trial' 2>/dev/null || echo 0)" = 0 ] || break
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
sleep 1
kill_server || failed "the campaign had ended before it could be killed: $(cat out err)"
first=$(sqlite3 smoke.db 'SELECT id, key, started_at FROM trial')
[ "$(wc -l <<<"$first")" -eq 1 ] || failed "not exactly one trial before the kill: $first"

status=0
"$headcrash" campaign one-cut --db smoke.db --resume --json >outcome.json 2>err || status=$?
[ "$status" -le 1 ] || failed "resume exited with $status: $(cat err)"
grep -q '"trials_done_before": 1' outcome.json || failed "the finished trial was not recognised: $(cat outcome.json)"
[ "$(sqlite3 smoke.db 'SELECT count(*) FROM run')" = 1 ] || failed "a second run was begun"
[ "$(sqlite3 smoke.db 'SELECT count(*) FROM trial')" = 2 ] || failed "not two trials"
[ "$(sqlite3 smoke.db 'SELECT id, key, started_at FROM trial ORDER BY id LIMIT 1')" = "$first" ] || failed "the first trial was repeated"
[ "$(sqlite3 smoke.db "SELECT verdict IN ('clean', 'replayed') FROM trial WHERE filesystem = 'ext4'")" = 1 ] ||
  failed "ext4: $(sqlite3 smoke.db "SELECT verdict, summary FROM trial WHERE filesystem = 'ext4'")"
[ "$(sqlite3 smoke.db "SELECT group_concat(name) FROM (SELECT name FROM phase WHERE trial_id = 1 ORDER BY ordinal)")" = \
  restore,mkfs,workload,cut,restore,replay,fsck,mount,verify ] || failed "the phases are not what they should be"
[ "$(sqlite3 smoke.db 'PRAGMA foreign_key_check' | wc -l)" = 0 ] || failed "foreign keys"

# an interrupted run prints the command that resumes it, with all given options
interrupted() {   # DATABASE ARGUMENT...: told with the rest of the command
  local database=$1 status=0
  shift
  "$headcrash" "$@" --db "$database" >out 2>err &
  server=$!
  for _ in $(seq 1200); do
    [ "$(sqlite3 "$database" 'SELECT count(*) FROM run' 2>/dev/null || echo 0)" = 0 ] || break
    kill -0 "$server" 2>/dev/null || failed "$* ended: $(cat out err)"
    sleep 0.1
  done
  kill -INT "$server"
  wait "$server" || status=$?
  server=
  [ "$status" -eq 130 ] || failed "$*, interrupted, exited with $status: $(cat out err)"
}
interrupted hint.db bench quick --shard 1/1 --json
grep -qxF "headcrash: interrupted; resume with: headcrash bench quick --shard 1/1 --json --db hint.db --resume" err || failed "the hint: $(cat err)"
interrupted hints.db campaign one-cut --shard 1/2 --jobs 2
grep -qxF "headcrash: interrupted; resume with: headcrash campaign one-cut --shard 1/2 --jobs 2 --db hints.db --resume" err || failed "the hint: $(cat err)"
grep -qF "negative controls: none has run yet" out || [ "$(sqlite3 hints.db 'SELECT count(*) FROM trial')" = 0 ] || failed "the summary: $(cat out)"
# resuming a finished run prints its result and repeats nothing
"$headcrash" campaign one-cut --db smoke.db --resume >out 2>err || [ $? -eq 1 ] || failed "a finished run: $(cat err)"
grep -q "run 1 is already finished" err && [ "$(sqlite3 smoke.db 'SELECT count(*) FROM run')" = 1 ] || failed "a finished run was run again: $(cat err)"

# a hanging step results in a verdict, and the campaign ends
cat >hang.toml <<'EOF'
base = "ext4"
[check]
command = ["busybox", "sleep", "1000"]
EOF
cat >hangs.toml <<EOF
trials = 1
filesystems = ["$scratch/hang.toml"]
[device]
profiles = ["hp-c2447"]
size = "64M"
[workload]
rounds = 20
[guest]
step-timeout-s = 15
EOF
status=0
"$headcrash" campaign hangs.toml --db hangs.db >/dev/null 2>err || status=$?
[ "$status" -eq 1 ] || failed "a hang gave exit code $status: $(cat err)"
[ "$(sqlite3 hangs.db 'SELECT verdict FROM trial')" = hang ] || failed "a hang is reported as: $(sqlite3 hangs.db 'SELECT verdict, summary FROM trial')"

# a log that the mount replays, according to the kernel's messages
cat >by-mount.toml <<'EOF'
trials = 1
filesystems = ["nilfs2"]
[device]
profiles = ["hp-c2447"]
size = "128M"
clock = "off"
[workload]
rounds = 20
EOF
"$headcrash" campaign by-mount.toml --db by-mount.db >/dev/null 2>err || failed "nilfs2: $(cat err; sqlite3 by-mount.db 'SELECT verdict, summary FROM trial')"
[ "$(sqlite3 by-mount.db 'SELECT verdict FROM trial')" = replayed ] || failed "a replay by mount is not noticed: $(sqlite3 by-mount.db 'SELECT verdict, summary FROM trial')"

# a journal on a separate device: both devices lose power together and share a recording
cat >journal.toml <<'EOF'
trials = 1
filesystems = ["ext4-external-journal"]
[device]
profiles = ["hp-c2447"]
log-profile = "barracuda-4lp"
size = "64M"
write-cache = true
[workload]
rounds = 20
EOF
"$headcrash" campaign journal.toml --db journal.db >/dev/null 2>err || failed "an external journal: $(cat err; sqlite3 journal.db 'SELECT verdict, summary FROM trial')"
[ "$(sqlite3 journal.db "SELECT group_concat(name || ' ' || profile, ', ') FROM (SELECT * FROM device ORDER BY ordinal)")" = \
  "hd0 hp-c2447, log barracuda-4lp" ] || failed "the devices: $(sqlite3 journal.db 'SELECT * FROM device')"
[ "$(sqlite3 journal.db "SELECT device_phase.writes > 0 FROM device_phase JOIN phase ON phase.id = phase_id WHERE phase.name = 'workload'")" = 1 ] ||
  failed "the log's device was not written to"

"$headcrash" report --db smoke.db -o report >/dev/null || [ $? -eq 1 ] || failed "report"
grep -q '<svg' report/report.html || failed "the report has no plot"
! grep -qE '(src|href)="https?:' report/report.html || failed "the report reaches out of itself"
shopt -s nullglob
left=("$scratch"/headcrash-*)
[ ${#left[@]} -eq 0 ] || failed "left behind: ${left[*]}"
echo "campaign: all as it should be"

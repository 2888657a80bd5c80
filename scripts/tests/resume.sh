#!/usr/bin/env bash
# A campaign in several processes on one database: each run has a single executor, interrupted runs print how to resume
# them, killed ones can be resumed at once, and finished ones do not run again.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
export TMPDIR=$scratch
PATH=$build/bin:$PATH
db="my results.db"   # a name that a shell would take apart

ask() { sqlite3 -cmd '.timeout 10000' "$db" "$1"; }
# begins LOG ARGUMENT...: starts a campaign in the background. Returns when it has one more trial, with the campaign stopped in its
# middle (SIGSTOP), so that a fast machine does not finish it before it is interrupted.
begins() {
  local log=$1 before
  shift
  before=$(ask 'SELECT count(*) FROM trial' 2>/dev/null || echo 0)
  "$headcrash" campaign "$@" >"$log" 2>&1 &
  server=$!
  for _ in $(seq 600); do
    if [ "$(ask 'SELECT count(*) FROM trial' 2>/dev/null || echo 0)" -gt "$before" ]; then
      # not while it writes, because the database would be locked
      until kill -STOP "$server" && sqlite3 "$db" 'BEGIN IMMEDIATE; ROLLBACK' 2>/dev/null; do
        kill -CONT "$server"
        sleep 0.01
      done
      return 0
    fi
    kill -0 "$server" 2>/dev/null || failed "it ended: $(cat "$log")"
    sleep 0.1
  done
  failed "no trial in a minute: $(cat "$log")"
}
interrupts() {
  local status=0
  kill -INT "$server"
  kill -CONT "$server"
  wait "$server" || status=$?
  server=
  [ "$status" -eq 130 ] || failed "an interrupted campaign exited with $status"
}

begins one.log ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --jobs 2
refuses 2 "run 1: is being executed by process $server on $(hostname) since 20" -- \
  "$headcrash" campaign ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --resume
refuses 2 "run 1: is being executed by process $server on" -- "$headcrash" campaign ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --redo-errors
first=$server

# another shard with the same database at the same time
begins two.log ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 2/15
interrupts
grep -qxF "headcrash: interrupted; resume with: headcrash campaign ufs-schemes/conventional,soft-updates,journal --db 'my results.db' --shard 2/15 --resume" two.log ||
  failed "the hint: $(cat two.log)"
kill -0 "$first" || failed "the first one has ended: $(cat one.log)"

# the run's owner is killed: the lock is released, and the first process that resumes the run owns it
kill -KILL "$first"
wait "$first" 2>/dev/null || true
before=$(ask "SELECT count(*) FROM trial WHERE run_id = 1")
begins resumed.log ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --jobs 2 --resume
refuses 2 "run 1: is being executed by process $server on" -- "$headcrash" campaign ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --resume
interrupts

# the hint is a command that resumes this run
hint=$(sed -n 's/^headcrash: interrupted; resume with: //p' resumed.log)
[ "$hint" = "headcrash campaign ufs-schemes/conventional,soft-updates,journal --db 'my results.db' --shard 1/15 --jobs 2 --resume" ] || failed "the hint: $(cat resumed.log)"
eval "$hint" >hint.log 2>&1 || failed "$hint: $(cat hint.log)"
grep -q "^run 1: .* of them before" hint.log || failed "the hint began another run: $(cat hint.log)"
[ "$(ask 'SELECT count(*) FROM run')" = 2 ] || failed "not one run a shard: $(ask 'SELECT id, digest FROM run')"
[ "$(ask "SELECT finished_at IS NOT NULL AND trials_planned = (SELECT count(*) FROM trial WHERE run_id = 1) FROM run WHERE id = 1")" = 1 ] ||
  failed "the run is not complete: $(ask 'SELECT * FROM run')"
[ "$before" -ge 1 ] || failed "the killed run had stored no trial"

# resuming a finished run prints its result and repeats nothing
finished=$(ask 'SELECT finished_at FROM run WHERE id = 1')
exits 0 "$headcrash" campaign ufs-schemes/conventional,soft-updates,journal --db "$db" --shard 1/15 --resume
grep -q "run 1 is already finished" err || failed "a finished run: $(cat err)"
grep -q "^run 1: \([0-9]*\) of \1 trials (\1 of them before)" out || failed "a finished run: $(cat out)"
[ "$(ask 'SELECT count(*) FROM run') $(ask 'SELECT finished_at FROM run WHERE id = 1')" = "2 $finished" ] || failed "a finished run was run again"

[ ! -e "$db.lock" ] || failed "the lock's file was left behind"
echo "resume: all as it should be"

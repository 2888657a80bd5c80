#!/usr/bin/env bash
# headcrash extract: extracts an image from a recording, and a script that finds an intact image as promised, and a damaged
# one not.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$scratch"
PATH=$PATH:/usr/sbin:/sbin

mkdir tree
echo 'kept' >tree/file
mkfs.ext4 -q -F -d tree -E lazy_itable_init=0,lazy_journal_init=0 disk.raw 16M >/dev/null
"$headcrash" serve --profile hp-c2447 --clock off --json --size 16M --record run.hcrec >serve.json 2>serve.err &
server=$!
for _ in $(seq 200); do
  [ ! -s serve.json ] || break
  sleep 0.05
done
socket=$(sed -n 's/.*"socket": "\(.*\)".*/\1/p' serve.json)
[ -n "$socket" ] || failed "serve: $(cat serve.err)"
nbdcopy disk.raw "nbd+unix:///?socket=$socket"
kill -INT "$server"
wait "$server" || failed "serve exited with $?"
server=
events=$("$headcrash" recording info run.hcrec --json | sed -n 's/.*"events": \([0-9]*\).*/\1/p')

# with every write, the image equals the disk byte for byte and keeps its promises
"$headcrash" extract run.hcrec --fs ext4 --state "w$events" -o whole >out || failed "extract: $?"
cmp whole/crash.raw disk.raw || failed "the image is not the disk"
[ "$(du -k whole/crash.raw | cut -f1)" -lt 12000 ] || failed "the image is not sparse"
sh -n whole/reproduce.sh || failed "the script is not a shell script"
status=0
whole/reproduce.sh >out || status=$?
[ $status -eq 125 ] || failed "without --yes it exited with $status"
grep -q 'Nothing is done without --yes' out || failed "it does not explain itself"
# without a mount, the kernel's recovery is not tested, and the script prints this
intact() {
  local status=0
  "$1/reproduce.sh" --yes --no-mount >out 2>&1 || status=$?
  [ $status -eq 125 ] && grep -q 'all tested promises are kept; some could not be tested' out || failed "$2: exit $status, $(cat out)"
}
intact whole "an intact image"
cmp whole/crash.raw disk.raw || failed "the script wrote to the image"

# the stored scripts of the findings read the common parts from the repository; as one file, each ends like the scripts that
# extract writes now
cat "$top"/harness/explorer/reproduce/{look,workload}.sh >common
cat >end <<'END'
common=$(dirname "$0")/../../../../harness/explorer/reproduce # `run-in-guest --print` prints one file
command . "$common/look.sh" || exit 125
command . "$common/workload.sh" || exit 125
END
explains_itself() {   # SCRIPT STORED
  local status=0
  sh "$1" >out 2>&1 || status=$?
  [ $status -eq 125 ] && says 'Nothing is done without --yes' <out || failed "$2, run as $1 without --yes: exit $status, $(cat out)"
}
for stored in "$top"/results/reference/findings/*/*workload.sh; do
  tail -n 3 "$stored" | cmp -s - end || failed "$stored does not end with \"$(cat end)\": see \"A finding in Linux\" in ADDING.md"
  "$top/scripts/run-in-guest" --print "$stored" >one-file.sh || failed "$stored cannot be printed as one file"
  tail -c "$(stat -c %s common)" one-file.sh | cmp -s - common || failed "$stored as one file does not end with the common parts"
  explains_itself "$stored" "$stored"
  explains_itself one-file.sh "$stored"
done
# without the repository, a stored script cannot be tested
exits 125 sh end
"$top/scripts/run-in-guest" --print one-file.sh | cmp - one-file.sh || failed "a script without common parts is printed differently"
refuses 125 'look.sh: No such file' -- "$top/scripts/run-in-guest" --print end

# the same image as qcow2
"$headcrash" extract run.hcrec --fs ext4 --state "w$events" -o packed --format qcow2 --json >out || failed "qcow2"
# a recording without a list of operations has no workload to repeat; extract reports this
says '"workload": null' <out && says '"no_workload": "the recording: its operations are unknown' <out && [ ! -e packed/workload.sh ] ||
  failed "workload.sh without operations: $(cat out)"
qemu-img compare -q packed/crash.qcow2 disk.raw || failed "the qcow2 image is not the disk"
intact packed "an intact qcow2 image"

# with everything lost, the script fails with an exit code for git bisect
"$headcrash" extract run.hcrec --fs ext4 --state w0 -o nothing >/dev/null || failed "extract nothing"
status=0
nothing/reproduce.sh --yes --no-mount >out 2>&1 || status=$?
[ $status -eq 1 ] || failed "a damaged image: exit $status, $(cat out)"
grep -q 'the failure is reproduced' out || failed "it does not report the failure"

refuses 2 whole 'already exists' -- "$headcrash" extract run.hcrec --fs ext4 --state "w$events" -o whole
refuses 2 -- "$headcrash" extract run.hcrec --fs ext4 --state "w999999999" -o none
refuses 2 'no power cut' -- "$headcrash" extract run.hcrec --fs ext4 -o none
refuses 2 -- "$headcrash" extract run.hcrec --fs ext4 --state 'w1?' -o none
refuses 2 --fs -- "$headcrash" extract run.hcrec --state w1 -o none
refuses 2 'missing.hcrec: does not exist' -- "$headcrash" extract missing.hcrec --fs ext4 --state w1
refuses 2 missing.db -- "$headcrash" extract 17 --db missing.db
refuses 2 missing.db -- "$headcrash" replay 17 --db missing.db
refuses 2 'no power cut' -- "$headcrash" replay run.hcrec --fs ext4
[ ! -e none ] && [ ! -e none.partial ] || failed "something half-made was left behind"
echo "extract: all as it should be"

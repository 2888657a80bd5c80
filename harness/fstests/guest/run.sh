#!/bin/sh
# Runs one test of fstests in the root file system of the suite (harness/fstests/suite_run.h):
#
#   run.sh TYPE BYTES SCRATCH MARKS CHECK [ARGUMENT...]
#
# TYPE is the type of the file system, BYTES the size of the test device, SCRATCH the recorded disk,
# and MARKS the disk for marks. The test device is in the guest's memory. The result is the file
# result.txt: "passed", "failed" or "not run" on the first line, and then the output of the suite.
type=$1 bytes=$2 scratch=$3 marks=$4 check=$5
shift 5
files=/.headcrash/files
work=/run/headcrash
mkdir -p "$work/stand-ins" "$work/disks" "$work/results" "$work/test" "$work/scratch"
finish() {
  printf '%s\n' "$1" >"$files/result.txt"
  tail -c 40000 "$work/output" >>"$files/result.txt"
  exit 0
}
for name in mount umount sync xfs_io dmsetup; do
  cp "$files/stand-in.sh" "$work/stand-ins/$name"
  chmod 755 "$work/stand-ins/$name"
done

# Users that some tests need.
for user in fsgqa fsgqa2 123456-fsgqa; do
  id=$((id + 1))
  grep -q "^$user:" /etc/passwd || echo "$user:x:$((60000 + id)):$((60000 + id))::/:/bin/sh" >>/etc/passwd
  grep -q "^$user:" /etc/group || echo "$user:x:$((60000 + id)):" >>/etc/group
done

device() {   # NAME: creates a disk in memory and prints its device
  truncate -s "$bytes" "$work/disks/$1" && losetup -f --show "$work/disks/$1"
}
{
  mount -t tmpfs -o size=100% headcrash "$work/disks" && test_device=$(device test) &&
    log_writes=$(device log-writes) && "mkfs.$type" "$test_device" </dev/null
} >"$work/output" 2>&1 || finish "failed"

export FSTYP="$type" TEST_DEV="$test_device" TEST_DIR="$work/test" SCRATCH_DEV="$scratch"
export SCRATCH_MNT="$work/scratch" LOGWRITES_DEV="$log_writes" RESULT_BASE="$work/results"
export HEADCRASH_MARKS="$marks" HEADCRASH_PATH="$PATH" PATH="$work/stand-ins:$PATH"
# There is no udev, so device-mapper's library creates the nodes of its devices.
export DM_DISABLE_UDEV=1
: >"$work/local.config"
export HOST_OPTIONS="$work/local.config"
cd "$(dirname "$check")" || finish "failed"
status=0
"./$(basename "$check")" "$@" >"$work/output" 2>&1 </dev/null || status=$?
umount "$SCRATCH_MNT" 2>/dev/null
if grep -q '\[not run\]' "$work/output"; then finish "not run"; fi
for log in $(find "$work/results" -name '*.out.bad' -o -name '*.dmesg'); do
  printf '== %s\n' "$log"
  tail -c 8000 "$log"
done >>"$work/output"
[ "$status" -eq 0 ] && finish "passed"
finish "failed"

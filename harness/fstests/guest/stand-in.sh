#!/bin/sh
# Stands in for mount, umount, sync, xfs_io and dmsetup (run.sh). It runs the real program, and marks in
# the recording when the scratch file system is mounted, unmounted or synced:
#
#   fstests mounting MICROSECONDS [OPTIONS]   a mount begins, and has not written anything; OPTIONS are those about quotas
#   fstests not mounted               this mount has failed
#   fstests unmounted                 the file system is no longer mounted
#   fstests drops writes              from now on, device-mapper drops or fails writes
#   persisted MICROSECONDS            a sync has returned; it covers each change before this time
#
# Times are those of the guest's clock. The kernel's times of inodes are up to a tick older than the
# clock, so a pause before the time that is taken separates earlier changes from later ones.
name=${0##*/}
PATH=$HEADCRASH_PATH

mark() {
  printf '%s' "$1" | dd of="$HEADCRASH_MARKS" bs=512 count=1 conv=sync,notrunc oflag=direct 2>/dev/null
}
settled_time() {   # prints a time between all earlier changes and all later ones
  sleep 0.02
  time=$(date +%s%N)
  echo $((time / 1000 - 10000))
}
is_device() {
  case $1 in "$SCRATCH_DEV" | /dev/mapper/*) ;; *) return 1 ;; esac
}
names_device() {
  for word; do
    if is_device "$word"; then return 0; fi
  done
  return 1
}
names_scratch() {
  for word; do
    if [ "$word" = "$SCRATCH_MNT" ] || is_device "$word"; then return 0; fi
  done
  return 1
}
is_mounted() { grep -qE "^($SCRATCH_DEV|/dev/mapper/[^ ]*) " /proc/mounts; }
# A device-mapper target drops writes or fails them, so a sync promises nothing.
drops_writes() {
  grep -q '^/dev/mapper/' /proc/mounts && dmsetup table 2>/dev/null | grep -qE 'drop_writes|error'
}
# Prints the mount options about quotas. Without them, a recovery does not maintain the quotas.
quota_options() {
  printf '%s\n' "$@" | sed 's/^-o//' | tr ',' '\n' | grep -E '^(u|usr|g|grp|p|prj)?(quota|qnoenforce)$' | paste -sd, -
}
sync_and_mark() {
  if ! is_mounted || drops_writes; then exec "$name" "$@"; fi
  covered=$(settled_time)
  status=0
  "$name" "$@" || status=$?
  if [ "$status" -eq 0 ] && ! drops_writes; then mark "persisted $covered"; fi
  exit "$status"
}

case $name in
  mount)
    case "$*" in *remount*) exec mount "$@" ;; esac
    names_device "$@" || exec mount "$@"
    mark "fstests mounting $(settled_time) $(quota_options "$@")"
    status=0
    mount "$@" || status=$?
    if [ "$status" -ne 0 ]; then mark "fstests not mounted"; fi
    exit "$status"
    ;;
  umount)
    names_scratch "$@" || exec umount "$@"
    status=0
    umount "$@" || status=$?
    if [ "$status" -eq 0 ] && ! is_mounted; then mark "fstests unmounted"; fi
    exit "$status"
    ;;
  sync)
    # `sync FOLDER` syncs only the folder, and `sync -f FOLDER` the file system.
    case "$*" in
      "") ;;
      *-f*) names_scratch "$@" || exec sync "$@" ;;
      *) exec sync "$@" ;;
    esac
    sync_and_mark "$@"
    ;;
  dmsetup)
    # Without udev, the names of devices are nodes. Tests expect symbolic links to /dev/dm-N.
    status=0
    dmsetup "$@" || status=$?
    for node in /dev/mapper/*; do
      if [ ! -b "$node" ] || [ -L "$node" ]; then continue; fi
      number=$(dmsetup info -c --noheadings -o minor "${node##*/}") && ln -sf "../dm-$number" "$node"
    done
    if drops_writes; then mark "fstests drops writes"; fi
    exit "$status"
    ;;
  xfs_io)
    case "$*" in *shutdown*) exec "$name" "$@" ;; *syncfs*) ;; *) exec "$name" "$@" ;; esac
    names_scratch "$@" || exec "$name" "$@"
    sync_and_mark "$@"
    ;;
esac

#!/bin/sh
# The second way of ext4 to write zeroes past its journal: fallocate(2) with FALLOC_FL_WRITE_ZEROES, Linux 6.17 and newer. In a guest:
#
#   scripts/run-in-guest --kernel 7.3 --load sd_mod --load scsi_debug THIS [data=journal|data=ordered] [MODE]
#
# The call needs a drive that writes zeroes by unmapping (LBPRZ with WRITE SAME), which a virtual SCSI drive in memory is. All that
# it has is copied after the last fsync, as a panic leaves it: no write is lost. MODE: 0x80, or 0x10 for FALLOC_FL_ZERO_RANGE.
data=${1:-data=journal} mode=${2:-0x80}
set -e
uname -r
rmmod scsi_debug 2>/dev/null || true
insmod /modules/scsi_debug.ko lbpws=1 lbprz=1 dev_size_mb=96 2>/dev/null || modprobe scsi_debug lbpws=1 lbprz=1 dev_size_mb=96
tries=0
until disk=$(basename /sys/bus/pseudo/drivers/scsi_debug/adapter*/host*/target*/*/block/*) && [ -b "/dev/$disk" ]; do
  tries=$((tries + 1))
  [ "$tries" -lt 20 ] || exit 1
  sleep 1
done
echo "$disk: unmap write zeroes: $(cat "/sys/block/$disk/queue/write_zeroes_unmap_max_bytes" 2>/dev/null || echo unknown) bytes"
work=$(mktemp -d)
mkdir "$work/mounted" "$work/copy" "$work/memory"
mount -t tmpfs none "$work/memory"
mkfs.ext4 -q -F -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$disk"
mount -t ext4 -o "$data" "/dev/$disk" "$work/mounted"
file=$work/mounted/f
xfs_io -f -c 'pwrite -q -S 0x41 0 131072' -c fsync "$file"
perl -e 'open(F, "+<", $ARGV[0]) or die $!; syscall(285, fileno(F), hex($ARGV[1]), 32768, 32768) == 0 or die "fallocate: $!\n"' "$file" "$mode"
xfs_io -c fsync "$file"
xfs_io -c 'pwrite -q -S 0x42 40960 4096' -c fsync "$file"
dd if="/dev/$disk" of="$work/memory/disk" bs=1M iflag=direct 2>/dev/null
bytes() { for at in 0 32768 40960 49152; do od -An -tx1 -j "$at" -N 1 "$1"; done | tr -d '\n'; }
promised=$(bytes "$file")
mount -t ext4 -o "loop,$data" "$work/memory/disk" "$work/copy"
found=$(bytes "$work/copy/f")
echo "$data, fallocate mode $mode; bytes 0, 32768, 40960, 49152"
echo "before the panic:$promised"
echo "after recovery:  $found"
umount "$work/copy" "$work/mounted" "$work/memory"
if [ "$promised" = "$found" ]; then echo kept; else echo lost; fi

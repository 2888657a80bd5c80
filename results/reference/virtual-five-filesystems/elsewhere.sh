#!/bin/bash
# A benchmark in virtual time on another machine: under QEMU, whose emulated processor is of 2003, with one core, less memory and
# another kernel. This host's files are that machine's, over 9p; what it writes stays in its memory, but for the results.
#
#   elsewhere.sh PATH/TO/headcrash BENCHMARK FOLDER
#
# FOLDER (it must exist) gets the database and the report's tables. Takes some 30 times as long as here.
set -euo pipefail
headcrash=$(readlink -f "$1") benchmark=$2 folder=$(readlink -f "$3")
repository=$(readlink -f "$(dirname "$0")/../../..")
cache=${HEADCRASH_CACHE:-$HOME/.cache/headcrash}
script=$(mktemp)
trap 'rm -f "$script"' EXIT
cat > "$script" << END
set -e
cd /tmp
mkdir here up root results
mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 here here
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 results results
mount -t tmpfs -o size=90% up up
mkdir up/upper up/work
mount -t overlay -o lowerdir=here,upperdir=up/upper,workdir=up/work root root
for folder in proc sys dev; do mount --bind /\$folder root/\$folder; done
ln -s /proc/self/fd /dev/fd
mkdir /dev/pts && mount -t devpts devpts /dev/pts
mkdir -p root/dev/shm && mount -t tmpfs shm root/dev/shm
mount -t tmpfs tmp root/tmp
mount --bind results root/mnt
grep -m 1 'model name' /proc/cpuinfo; uname -r; head -n 1 /proc/meminfo
in_root() { chroot root /usr/bin/env HOME=/root HEADCRASH_CACHE='$cache' PATH=/usr/sbin:/usr/bin:/sbin:/bin "\$@"; }
in_root '$headcrash' bench '$benchmark' --guest virtual --db /tmp/elsewhere.db 2>&1
in_root '$headcrash' report --db /tmp/elsewhere.db -o /mnt/report --csv /mnt/tables > /dev/null
cp root/tmp/elsewhere.db root/mnt/
END
"$repository/scripts/run-in-guest" --load 9p --load 9pnet_virtio --load overlay --memory 4096 --seconds 14400 \
  --qemu -virtfs --qemu "local,path=/,mount_tag=here,security_model=none,readonly=on,multidevs=remap" \
  --qemu -virtfs --qemu "local,path=$folder,mount_tag=results,security_model=none" "$script"

#!/usr/bin/env bash
# Kernel selection of build-guest without a network: the newest cached kernel with the wanted version prefix. The kernels
# are empty, so build-guest stops at the first module and names the kernel.
. "$(dirname "$0")/lib.sh"
build_guest=$(cd "$(dirname "$0")/.." && pwd)/build-guest
export HEADCRASH_CACHE=$scratch/cache

kernel() {   # RELEASE VERSION
  local folder=$HEADCRASH_CACHE/kernel/$1
  mkdir -p "$folder/boot" "$folder/lib/modules/$1"
  touch "$folder/boot/vmlinuz-$1" "$folder/lib/modules/$1/modules.order" "$folder/lib/modules/$1/modules.builtin"
  printf '%s\n' "$2" >"$folder/version"
}
kernel 6.1.0-9-amd64 6.1.27-1
kernel 6.1.0-50-amd64 6.1.176-1
kernel 6.1.0-50-rt-amd64 6.1.176-1
kernel 6.12.9+deb13-amd64 6.12.9-1
kernel 6.12.95+deb13-amd64 6.12.95-1
kernel 7.3.4+deb13-amd64 7.3.4-1~bpo13+1

takes() {   # WANTED RELEASE
  refuses 1 "$2 has no module" -- "$build_guest" --agent "$build/bin/headcrash-agent" --kernel "$1"
}
takes 6.1 6.1.0-50-amd64            # not 6.12, and not -rt
takes 6.1-rt 6.1.0-50-rt-amd64
takes 6.1.27 6.1.0-9-amd64          # by the package's version
takes 6.12 6.12.95+deb13-amd64      # 95 is newer than 9
takes 6.12.9 6.12.9+deb13-amd64     # and another number
takes 7 7.3.4+deb13-amd64
takes 7.3.4+deb13 7.3.4+deb13-amd64
# Copied packages do not change the kernel that the image is named after.
refuses 1 "6.12.95+deb13-amd64 has no module" -- \
  "$build_guest" --agent "$build/bin/headcrash-agent" --package dpkg --kernel 6.12
refuses 1 'neither a file nor a version' 'list-kernels' -- "$build_guest" --agent "$build/bin/headcrash-agent" --kernel newest
refuses 1 "$scratch/bzImage is neither" -- "$build_guest" --agent "$build/bin/headcrash-agent" --kernel "$scratch/bzImage"
# A missing package is named, with the command that installs it.
refuses 1 'not installed on this host: no-such-package' 'apt-get install no-such-package' -- \
  "$build_guest" --agent "$build/bin/headcrash-agent" --package no-such-package
[ -z "$(find "$HEADCRASH_CACHE/guest" -mindepth 1 ! -name .lock)" ] || failed "a failed build left $(ls -a "$HEADCRASH_CACHE/guest")"

# In a file and on the command line.
refuses 2 'neither a kernel version' -- "$headcrash" campaign demo --plan --kernel new
refuses 2 'not a kernel source folder' -- "$headcrash" campaign demo --plan --kernel "$scratch/"
exits 0 "$headcrash" campaign demo --plan --kernel 6.1,7.3
says 'xfs@6.1 xfs@7.3' <"$scratch/out" || failed "$(cat "$scratch/out")"
refuses 2 'does not apply to ufs-schemes' -- "$headcrash" campaign ufs-schemes --plan --kernel 7.3
refuses 2 'neither a kernel' 'list-kernels' -- "$headcrash" explore --fs ext4 --workload ace-seq1/1 --kernel "$scratch/none"

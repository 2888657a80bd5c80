#!/usr/bin/env bash
# headcrash check under the limits of `docker run --read-only --tmpfs /tmp --user 1000 --cap-drop ALL`, which this script builds from
# namespaces and like_docker.py: a read-only root, no /dev/kvm, no capability, no network, Docker's default filter of system
# calls, and /tmp and /dev/shm mounted noexec. Only /tmp and the working folder can be written.
#
#   container.sh BUILD-FOLDER           an installation on this host's root file system
#   container.sh BUILD-FOLDER image [FILE]
#                                       the size and the root file system of an image; default: a new one of scripts/build-image
. "$(dirname "$0")/lib.sh"
part=${2:-host}
top=$(cd "$(dirname "$0")/../.." && pwd)
like_docker=$top/scripts/tests/like_docker.py
[ "$(id -u)" = 0 ] || { echo "container: namespaces need root"; exit 77; }
root=$scratch/root work=$scratch/work
mkdir "$root" "$work"
image_mib_most=600 seconds_most=180

# in_container FOLDER COMMAND...: runs the command in FOLDER of $root, which the container sees as its root.
in_container() {
  # shellcheck disable=SC2016   # the script's own arguments
  unshare --mount --pid --net --fork bash -euo pipefail -c '
    root=$1 work=$2 like_docker=$3 at=$4
    shift 4
    mount -o remount,ro,bind "$root"
    mount -t proc proc "$root/proc"
    mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmp "$root/tmp"
    mount -t tmpfs -o nosuid,mode=755 dev "$root/dev"
    for name in null zero full random urandom tty; do touch "$root/dev/$name"; mount --bind "/dev/$name" "$root/dev/$name"; done
    ln -s /proc/self/fd "$root/dev/fd"
    mkdir "$root/dev/shm"
    mount -t tmpfs -o noexec,nosuid,nodev,size=64m,mode=1777 shm "$root/dev/shm"
    mount --bind "$work" "$root$at"
    exec env -i PATH="${in_path:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}" HOME=/ ${in_cache:+HEADCRASH_CACHE="$in_cache"} \
      python3 "$like_docker" --user 1000 --root "$root" --folder "$at" "$@"' in_container "$root" "$work" "$like_docker" "$@"
}

cat >"$work/synced" <<'END'
#!/bin/sh
for n in 1 2 3; do echo "record $n" >> log; sync log .; echo "committed $n"; done
END
sed 's/sync log .;//' "$work/synced" >"$work/unsynced"
cat >"$work/verify.sh" <<'END'
while read -r word n; do grep -qx "record $n" log || { echo "record $n is gone"; exit 1; }; done
END
chmod +x "$work/synced" "$work/unsynced"
cp -r "$top/scripts/examples/check/sqlite" "$work/"
chown -R 1000:1000 "$work"
chmod 755 "$scratch"

if [ "$part" = host ]; then
  cmake --install "$build" --prefix "$scratch/opt" >"$scratch/installed" 2>&1 || failed "cmake --install: $(tail -n 3 "$scratch/installed")"
  mkdir "$scratch/opt/libexec/headcrash/kernels"
  cp -r "$("$top/scripts/build-uml")" "$scratch/opt/libexec/headcrash/kernels/user-mode"
  mount --bind / "$root"
  trap 'status=$?; umount -l "$root/opt" "$root"; rm -rf "$scratch"; exit $status' EXIT
  mount --bind "$scratch/opt" "$root/opt"
  export in_path=/opt/bin:/usr/sbin:/usr/bin:/sbin:/bin in_cache=/tmp/cache
  at=/mnt
  headcrash=(headcrash)
else
  image=${3:-$scratch/image.tar}
  [ -e "$image" ] || "$top/scripts/build-image" --build "$build" "$image"
  mkdir "$scratch/layers"
  tar -x -C "$scratch/layers" -f "$image"
  mount -t tmpfs -o size=2g root "$root"
  trap 'status=$?; umount -l "$root"; rm -rf "$scratch"; exit $status' EXIT
  find "$scratch/layers/blobs" -type f -size +1M -exec tar -x -z -C "$root" -f {} \;
  mib=$(du -sm "$root" | cut -f 1)
  [ "$mib" -lt "$image_mib_most" ] || failed "the image has $mib MiB"
  at=/work
  headcrash=(/usr/bin/headcrash-in-container)
fi

# judges CODE PATTERN OPTION...: `check` exits with CODE and says PATTERN, in time.
judges() {
  local code=$1 pattern=$2 begun=$SECONDS
  shift 2
  exits "$code" in_container "$at" "${headcrash[@]}" check --guest virtual --time 20 --states 60 "$@"
  cat "$scratch/out"
  says "$pattern" <"$scratch/out" || failed "\"$pattern\" was not said: $(cat "$scratch/out" "$scratch/err")"
  [ $((SECONDS - begun)) -lt "$seconds_most" ] || failed "check took $((SECONDS - begun)) s"
}
judges 0 '^ext4    kept ' --fs ext4 --verify 'sh ./verify.sh' -- ./synced
judges 1 '^ext4    lost ' --fs ext4 --verify 'sh ./verify.sh' -- ./unsynced
[ -s "$work/headcrash-check/ext4/crash.html" ] || failed "there is no page of the crash in the working folder"
judges 0 '^ext4    kept ' --fs ext4 --init './sqlite/init.sh wal' --verify ./sqlite/verify.sh -- ./sqlite/test.sh FULL
echo "container: kept and lost, under the limits of a container"

# From here on the script is the same for every failure.

usage() {
  cat <<END
usage: $0 --yes [--no-mount] [--keep]

$title

$image is a disk image that a power cut can have left behind. This script
  1. copies it (the image itself is never written to),
  2. recovers the copy:  $replay_words
     checks it:          $check_words
     and, where the kernel has a recovery of its own, starts again with a new copy for it,
  3. mounts it as $fstype${mount_options:+ with $mount_options} on a loop device, which needs root,
  4. compares what is there with what $fstype promises after a power cut,
  5. unmounts it, and mounts it once more: the tree must be the same.

The image is not to be trusted: it is damaged on purpose, and a kernel that mounts it may crash, hang or write
elsewhere. Run this on a machine that you can lose, best in a virtual one. Nothing is done without --yes.

  --no-mount  recover and check only, and read the files with debugfs where it can (ext2, ext3, ext4); without root
  --keep      leave the recovered copy where it is

Exit code, fit for git bisect run: 0 everything is as promised, 1 the failure is there, 125 it could not be tested.
The image is what the file system had written when the power went. A kernel can mend it only in its recovery: where
the fault is that too little was written, every kernel will show it.
END
}

work='' loop='' mounted='' failures=0 by_hand=0
cleanup() {
  cd /
  [ -z "$mounted" ] || umount "$mounted" || umount -l "$mounted"
  [ -z "$loop" ] || losetup -d "$loop"
  [ -z "$work" ] || [ -n "$keep" ] || rm -rf "$work"
}
cannot() {
  echo "$0: cannot be tested: $*" >&2
  exit 125
}
need() { command -v "$1" > /dev/null || cannot "there is no $1 on this machine"; }

# failed WHAT EXPECTED FOUND
failed() {
  failures=$((failures + 1))
  echo "FAILED  $1"
  echo "        expected  $2"
  echo "        found     $3"
}
fine() { echo "as promised  $1: $2"; }

# one_of VALUE LIST...
one_of() {
  value=$1
  shift
  for each in "$@"; do [ "$value" != "$each" ] || return 0; done
  return 1
}

# What the checks call. Paths are below the mount point, where the script then is.
there() { [ -e "./$1" ] || [ -L "./$1" ]; }
expect_name() {
  if there "$1"; then fine "$1" 'is there'; else failed "$1" 'the name to be there' 'no such name'; fi
}
expect_no_name() {
  if there "$1"; then failed "$1" 'no such name' "$(stat -c %F "./$1")"; else fine "$1" 'is not there'; fi
}
expect_kind() {
  found=$(stat -c %F "./$1" 2>&1)
  case $found in
    "$2"*) fine "$1" "$found" ;;
    *) failed "$1" "$2" "$found" ;;
  esac
}
expect_size() {
  found=$(stat -c %s "./$1" 2> /dev/null || echo none)
  if [ "$found" != none ] && [ "$found" -ge "$2" ] && [ "$found" -le "$3" ]; then
    fine "$1" "$found bytes"
  else
    failed "$1" "$2 to $3 bytes" "$found"
  fi
}
expect_links() {
  found=$(stat -c %h "./$1" 2>&1)
  if [ "$found" = "$2" ]; then fine "$1" "$2 links"; else failed "$1" "$2 links" "$found"; fi
}
expect_target() {
  found=$(readlink "./$1" 2>&1)
  if [ "$found" = "$2" ]; then fine "$1" "a link to $2"; else failed "$1" "a link to $2" "$found"; fi
}
expect_readable() {
  if [ -d "./$1" ]; then found=$(ls "./$1" 2>&1 > /dev/null); else found=$(cat "./$1" 2>&1 > /dev/null); fi
  if there "$1" && [ -z "$found" ]; then fine "$1" 'can be read'; else failed "$1" 'readable content' "$found"; fi
}
# expect_block PATH BLOCK WORDS CKSUM...: what cksum says of that block of 512 bytes. Blocks name themselves: bytes 8 to
# 11 are the number of the file, 12 to 15 the version, 16 to 23 the block (little-endian).
expect_block() {
  path=$1 block=$2 words=$3
  shift 3
  if ! there "$path"; then
    failed "$path, block $block" "$words" 'no such name'
    return
  fi
  sum=$(dd if="./$path" bs=512 skip="$block" count=1 2> /dev/null | cksum | cut -d' ' -f1)
  if one_of "$sum" "$@"; then
    fine "$path, block $block" "$words"
  else
    failed "$path, block $block" "$words" "$(dd if="./$path" bs=512 skip="$block" count=1 2> /dev/null |
      od -An -v -tx1 -N24 | tr -s ' \n' ' ') ..."
  fi
}
# What no plain tool can tell: for human eyes.
look_yourself() {
  by_hand=$((by_hand + 1))
  echo "look yourself  $1"
  echo "        expected            $2"
  echo "        found by headcrash  $3"
}

tree_sum() { find . -xdev ! -name lost+found -exec stat -c '%n %F %s %h' {} + | sort | cksum; }

recover() {
  if [ -n "$replay_by_mount" ]; then
    [ -n "$loop" ] || return 0
    mount_it
    cd /
    umount "$mounted" || cannot 'unmount failed'
    mounted=''
  else
    replay "$1"
    code=$?
    [ $code -ne 127 ] || cannot 'the recovery command is missing'
    one_of $code $replay_good || failed 'recovery' "exit code $replay_good" "exit code $code"
  fi
}
check_and_repair() {
  check "$1"
  code=$?
  [ $code -ne 127 ] || cannot 'the check command is missing'
  if one_of $code $check_good; then return; fi
  [ -n "$fsck_may_repair" ] || failed 'check after recovery' "exit code $check_good" "exit code $code"
  repair "$1"
  code=$?
  one_of $code $repair_good || failed 'repair' "exit code $repair_good" "exit code $code"
}
mount_it() {
  mkdir -p "$work/mnt"
  if ! timeout 300 mount -t "$fstype" ${mount_options:+-o "$mount_options"} "$loop" "$work/mnt"; then
    grep -qw "$fstype" /proc/filesystems || cannot "this kernel has no $fstype"
    failed 'mount' 'the recovered image can be mounted' 'it cannot'
    finish
  fi
  mounted=$work/mnt
  cd "$mounted" || cannot 'the mount point cannot be entered'
}

finish() {
  if [ $failures -gt 0 ]; then
    echo "$failures broken: the failure is there"
    exit 1
  fi
  if [ $by_hand -gt 0 ] || [ "${1:-}" = in_part ]; then
    echo 'what was tested is as promised; not all could be tested'
    exit 125
  fi
  echo 'everything is as promised'
  exit 0
}

yes='' no_mount='' keep=''
for argument in "$@"; do
  case $argument in
    --yes) yes=1 ;;
    --no-mount) no_mount=1 ;;
    --keep) keep=1 ;;
    *)
      usage
      exit 125
      ;;
  esac
done
if [ -z "$yes" ]; then
  usage
  exit 125
fi

here=$(cd "$(dirname "$0")" && pwd)
[ -f "$here/$image" ] || cannot "$here/$image is missing"
[ -n "$no_mount" ] || [ "$(id -u)" = 0 ] || cannot 'mounting needs root (or use --no-mount)'
trap cleanup EXIT
trap 'exit 125' INT TERM HUP
work=$(mktemp -d) || cannot 'no temporary folder'
copy=$work/copy.raw
copy_image() {
  case $image in
    *.qcow2)
      need qemu-img
      qemu-img convert -O raw "$here/$image" "$copy" || cannot 'the image could not be copied'
      ;;
    *) cp --sparse=always "$here/$image" "$copy" || cannot 'the image could not be copied' ;;
  esac
}
copy_image
[ -z "$keep" ] || echo "the recovered copy stays in $copy"

device=$copy
attach() {
  loop=$(losetup -f --show "$copy") || { loop=''; cannot 'no loop device; with --no-mount none is needed'; }
  device=$loop
}
[ -n "$no_mount" ] || attach
echo "== recovery"
recover "$device"
if [ -z "$no_mount" ] || [ -z "$replay_by_mount" ]; then
  echo "== check"
  check_and_repair "$device"
fi
echo "== expected and found"
if [ -z "$no_mount" ]; then
  # The kernel recovers the image on its own as well, which is what is looked at; one that it refuses is
  # mounted after the recovery command.
  if [ -n "$kernel_recovers" ] && [ $failures -eq 0 ]; then
    losetup -d "$loop"
    loop=''
    copy_image
    attach
    mkdir -p "$work/mnt"
    if timeout 300 mount -t "$fstype" ${mount_options:+-o "$mount_options"} "$loop" "$work/mnt" 2> /dev/null; then
      umount "$work/mnt" || cannot 'unmount failed'
    else
      echo 'the kernel refuses the image as it is: recovered first'
      recover "$device"
    fi
  fi
  mount_it
  checks
  before=$(tree_sum)
  cd /
  umount "$mounted" || cannot 'unmount failed'
  mounted=''
  mount_it
  after=$(tree_sum)
  [ "$before" = "$after" ] || failed 'second mount' 'the same tree' 'another tree'
  finish
fi
case $fstype in
  ext*)
    need debugfs
    mkdir "$work/tree"
    debugfs -R "rdump / $work/tree" "$copy" > "$work/debugfs.txt" 2>&1 || cannot "debugfs: $(cat "$work/debugfs.txt")"
    cd "$work/tree" || cannot 'nothing was read'
    checks
    finish ${kernel_recovers:+in_part} # the kernel's own recovery was not looked at
    ;;
esac
[ $failures -eq 0 ] || finish
finish in_part

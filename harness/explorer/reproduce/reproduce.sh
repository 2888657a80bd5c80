# The following part is the same for every failure.

usage() {
  cat <<END
usage: $0 --yes [--no-mount] [--keep]

$title

$image is a disk image as a power cut may have left it. This script
  1. copies it (the image itself is never changed),
  2. recovers the copy:  $replay_words
     checks it:          $check_words
     and, if the kernel has its own recovery, repeats the test with that on a new copy,
  3. mounts it as $fstype${mount_options:+ with $mount_options} on a loop device, which needs root,
  4. compares the files with the promises of $fstype after a power cut,
  5. unmounts it, and mounts it again: the tree must be the same.

Do not trust the image: it is damaged on purpose, and a kernel that mounts it may crash, hang or write to other
places. Run this script on a machine that you can lose, best a virtual one. Nothing is done without --yes.

  --no-mount  only recover and check, and read the files with debugfs if possible (ext2, ext3, ext4); without root
  --keep      keep the recovered copy

Exit code, suitable for git bisect run: 0 all promises are kept, 1 the failure is reproduced, 125 could not be tested.
The image contains the data that the file system had written at the power cut. Another kernel can only recover it
differently. If the file system had written too little, every kernel shows the failure.
END
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
  # The kernel also recovers the image itself, and its result is examined. An image that it refuses is mounted after the
  # recovery command.
  if [ -n "$kernel_recovers" ] && [ $failures -eq 0 ]; then
    losetup -d "$loop"
    loop=''
    copy_image
    attach
    mkdir -p "$work/mnt"
    if timeout 300 mount -t "$fstype" ${mount_options:+-o "$mount_options"} "$loop" "$work/mnt" 2> /dev/null; then
      umount "$work/mnt" || cannot 'unmount failed'
    else
      echo 'the kernel refuses the unrecovered image, so it is recovered first'
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
  [ "$before" = "$after" ] || failed 'second mount' 'the same tree' 'a different tree'
  finish
fi
case $fstype in
  ext*)
    need debugfs
    mkdir "$work/tree"
    debugfs -R "rdump / $work/tree" "$copy" > "$work/debugfs.txt" 2>&1 || cannot "debugfs: $(cat "$work/debugfs.txt")"
    cd "$work/tree" || cannot 'debugfs read no files'
    checks
    finish ${kernel_recovers:+in_part}  # the kernel's own recovery was not examined
    ;;
esac
[ $failures -eq 0 ] || finish
finish in_part

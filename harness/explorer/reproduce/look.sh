# The common parts of all scripts: functions that examine a recovered disk. The variables and the functions replay, check and
# repair are defined above.

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

# Functions for the checks. Paths are relative to the mount point, which is the current folder.
there() { [ -e "./$1" ] || [ -L "./$1" ]; }
expect_name() {
  if there "$1"; then fine "$1" 'exists'; else failed "$1" 'the name to be there' 'no such name'; fi
}
expect_no_name() {
  if there "$1"; then failed "$1" 'no such name' "$(stat -c %F "./$1")"; else fine "$1" 'does not exist'; fi
}
expect_one_name() {
  if there "$1" && there "$2"; then failed "$1" 'one name' "also $2"; else fine "$1" "and $2 are not both there"; fi
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
# expect_block PATH BLOCK WORDS CKSUM...: the permitted cksums of that block of 512 bytes. Blocks identify themselves: bytes 8
# to 11 are the number of the file, 12 to 15 the version, 16 to 23 the block (little-endian).
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
# A finding that no standard tool can check, for manual inspection.
look_yourself() {
  by_hand=$((by_hand + 1))
  echo "check manually  $1"
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
    echo "$failures broken: the failure is reproduced"
    exit 1
  fi
  if [ $by_hand -gt 0 ] || [ "${1:-}" = in_part ]; then
    echo 'all tested promises are kept; some could not be tested'
    exit 125
  fi
  echo 'all promises are kept'
  exit 0
}


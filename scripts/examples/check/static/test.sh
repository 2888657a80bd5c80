#!/usr/bin/busybox sh
# Appends lines to a file and syncs them, with a shell and a sync(1) that need no shared libraries.
# packages: busybox-static
# kept, any on f2fs: headcrash check --verify ./verify.sh -- ./test.sh
for n in 1 2 3 4 5; do
  echo "record $n" >> log
  busybox sync log . || exit 1
  echo "committed $n"
done

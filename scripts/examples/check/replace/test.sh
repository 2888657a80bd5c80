#!/bin/sh
# Replaces a file five times: writes a new file, and renames it to the name of the old one.
# packages: coreutils
# lost: headcrash check --verify ./verify.sh -- ./test.sh
# kept, any on f2fs: headcrash check --verify ./verify.sh -- ./test.sh sync
for n in 1 2 3 4 5; do
  echo "value $n" > config.new
  [ "$1" != sync ] || sync config.new
  mv config.new config
  [ "$1" != sync ] || sync .
  echo "replaced $n"
done

#!/bin/sh
# Makes five commits. The argument is the value of core.fsync; without an argument it is unset.
# packages: git
# lost: headcrash check --init ./init.sh --verify ./verify.sh -- ./test.sh
# lost: headcrash check --init ./init.sh --verify ./verify.sh -- ./test.sh all
cd repository
[ -z "$1" ] || git config core.fsync "$1"
for n in 1 2 3 4 5; do
  echo "line $n" >> file
  git add file && git commit -q -m "change $n" || exit 1
  echo "committed $n"
done

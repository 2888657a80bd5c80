#!/bin/sh
# Commits five transactions with the command line of SQLite, each in a separate process. The argument of init.sh is the
# journal mode, and that of this script is the value of PRAGMA synchronous.
# packages: sqlite3
# kept, any on f2fs: headcrash check --init './init.sh wal' --verify ./verify.sh -- ./test.sh FULL
# lost: headcrash check --init './init.sh wal' --verify ./verify.sh -- ./test.sh OFF
# lost: headcrash check --init './init.sh delete' --verify ./verify.sh -- ./test.sh FULL
for n in 1 2 3 4 5; do
  sqlite3 test.db "PRAGMA synchronous = $1; INSERT INTO entry VALUES ($n)" || exit 1
  echo "committed $n"
done

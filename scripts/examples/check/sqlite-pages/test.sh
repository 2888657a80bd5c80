#!/bin/sh
# Commits three transactions with the command line of SQLite, each in a separate process. Each transaction changes all 12
# pages of a table. The cache is smaller than that, so pages are written to the database before the commit. The argument of
# init.sh is the journal mode, and that of this script is the value of PRAGMA synchronous.
# packages: sqlite3
# kept, any on f2fs: headcrash check --init './init.sh wal' --verify ./verify.sh -- ./test.sh FULL
# lost: headcrash check --init './init.sh delete' --verify ./verify.sh -- ./test.sh OFF
for n in 1 2 3; do
  sqlite3 test.db "PRAGMA synchronous = $1; PRAGMA cache_size = 10;
    UPDATE entry SET n = $n, text = replace(hex(zeroblob(1500)), '0', '$n')" || exit 1
  echo "committed $n"
done

#!/bin/sh
# The database must be intact and contain every promised row.
[ "$(sqlite3 test.db 'PRAGMA integrity_check' 2>&1)" = ok ] || { echo "the database is damaged"; exit 1; }
sqlite3 test.db 'SELECT n FROM entry' > rows
while read -r word n; do
  grep -qx "$n" rows || { echo "row $n is gone"; exit 1; }
done

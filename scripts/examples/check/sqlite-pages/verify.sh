#!/bin/sh
# The database must be intact, all rows must be from the same transaction, and this transaction must not be older than the
# last promised one.
[ "$(sqlite3 test.db 'PRAGMA integrity_check' 2>&1)" = ok ] || { echo "the database is damaged"; exit 1; }
rows=$(sqlite3 test.db "SELECT count(*), min(n), max(n) FROM entry
  WHERE text = replace(hex(zeroblob(1500)), '0', CASE n WHEN 0 THEN 'a' ELSE n END)")
least=0
while read -r word n; do least=$n; done
for n in 0 1 2 3; do
  [ "$rows" != "12|$n|$n" ] || [ "$n" -lt "$least" ] || exit 0
done
echo "the rows are $rows, not 12 of transaction $least"
exit 1

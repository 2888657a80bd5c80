#!/bin/sh
# A server must start on the recovered files and return every promised row.
. "${0%/*}/postgres.sh"
start
rows=$(psql -c 'SELECT n FROM entry')
while read -r word n; do
  echo "$rows" | grep -qx "$n" || { echo "row $n is gone"; exit 1; }
done
stop

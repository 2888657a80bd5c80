#!/bin/sh
# The database must contain every promised record.
while read -r word n; do
  found=$(ldb --db=data --write_buffer_size=1000000 get "record$n" 2>&1)
  [ "$found" = "value$n" ] || { echo "record $n is gone: $found"; exit 1; }
done

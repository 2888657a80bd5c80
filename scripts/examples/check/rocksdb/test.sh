#!/bin/sh
# Writes five records with the command line of RocksDB, each in a separate process. The small buffer fits on a small disk.
# packages: rocksdb-tools
# lost: headcrash check --verify ./verify.sh -- ./test.sh
for n in 1 2 3 4 5; do
  ldb --db=data --create_if_missing --write_buffer_size=1000000 put "record$n" "value$n" >&2 || exit 1
  echo "committed $n"
done

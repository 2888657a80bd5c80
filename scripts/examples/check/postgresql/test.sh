#!/bin/sh
# Commits five transactions with PostgreSQL. The argument is the value of synchronous_commit.
# packages: postgresql-15|postgresql-17 postgresql-client-15|postgresql-client-17
# kept: headcrash check --fs ext4 --time 240 --states 40 --init ./init.sh --verify ./verify.sh -- ./test.sh on
# kept, any on f2fs: headcrash check --fs xfs --fs btrfs --fs f2fs --time 100 --states 30 --init ./init.sh --verify ./verify.sh -- ./test.sh on
. "${0%/*}/postgres.sh"
start
psql -c 'CREATE TABLE entry (n integer)'
for n in 1 2 3 4 5; do
  psql -c "SET synchronous_commit = $1" -c "INSERT INTO entry VALUES ($n)" || exit 1
  echo "committed $n"
done
stop

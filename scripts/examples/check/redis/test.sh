#!/bin/sh
# Sets eight keys of Redis. The argument is the value of appendfsync.
# packages: redis-server redis-tools
# kept, any on f2fs: headcrash check --verify './verify.sh always' -- ./test.sh always
# lost: headcrash check --verify './verify.sh everysec' -- ./test.sh everysec
. "${0%/*}/start.sh"
for n in 1 2 3 4 5 6 7 8; do
  [ "$(redis set "key$n" "value$n")" = OK ] || exit 1
  echo "committed $n"
done
redis shutdown >&2
wait

#!/bin/sh
# A server must start on the recovered files and return every promised key.
. "${0%/*}/start.sh"
while read -r word n; do
  [ "$(redis get "key$n")" = "value$n" ] || { echo "key $n is gone"; exit 1; }
done
redis shutdown >&2
wait

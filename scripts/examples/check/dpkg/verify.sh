#!/bin/sh
# Every promised package must be installed, with all of its files.
while read -r word n; do
  state=$(dpkg-query --admindir="$PWD/root/var/lib/dpkg" --show --showformat '${db:Status-Status}' "p$n" 2>&1)
  [ "$state" = installed ] || { echo "package p$n is not installed: $state"; exit 1; }
  for file in first second; do
    [ "$(cat "root/opt/p$n/$file" 2>&1)" = "$file $n" ] || { echo "file $file of package p$n is missing or damaged"; exit 1; }
  done
done

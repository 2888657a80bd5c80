#!/usr/bin/busybox sh
# The file must contain every promised line.
while read -r word n; do
  busybox grep -qx "record $n" log || { echo "record $n is gone"; exit 1; }
done

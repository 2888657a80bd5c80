#!/bin/sh
# The file must contain the value of the last promise or a later value.
while read -r word n; do promised=$n; done
[ -z "$promised" ] && exit 0
read -r word n < config || { echo "config is missing or empty"; exit 1; }
[ "$n" -ge "$promised" ] || { echo "config contains value $n, value $promised was promised"; exit 1; }

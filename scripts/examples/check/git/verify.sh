#!/bin/sh
# The repository must be intact and contain every promised commit.
cd repository
git fsck --full --no-dangling --no-progress > ../fsck 2>&1 || { echo "git fsck: $(head -n 1 ../fsck)"; exit 1; }
git log --format=%s main > ../log || { echo "git log fails"; exit 1; }
while read -r word n; do
  grep -qx "change $n" ../log || { echo "commit $n is gone"; exit 1; }
done

#!/bin/sh
# Installs three packages into a folder, one after the other.
# packages: dpkg
# kept, any on f2fs: headcrash check --time 60 --init ./init.sh --verify ./verify.sh -- ./test.sh
for n in 1 2 3; do
  dpkg --root="$PWD/root" --log=/dev/null --install "p$n.deb" >&2 || exit 1
  echo "installed $n"
done

#!/bin/sh
# Makes an empty database of packages, and three small packages with two files each.
mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers
touch root/var/lib/dpkg/status root/var/lib/dpkg/available
for n in 1 2 3; do
  mkdir -p "tree$n/DEBIAN" "tree$n/opt/p$n"
  printf 'Package: p%d\nVersion: 1\nArchitecture: all\nMaintainer: test\nDescription: test\n' $n > "tree$n/DEBIAN/control"
  echo "first $n" > "tree$n/opt/p$n/first"
  echo "second $n" > "tree$n/opt/p$n/second"
  dpkg-deb --build --root-owner-group "tree$n" "p$n.deb"
done

#!/bin/sh
# Delivers five messages to a maildir with safecat, which prints the name of each delivered message. With the argument "sync"
# the folder is synced before the name is printed.
# packages: safecat
# lost: headcrash check --init 'mkdir -p mail/tmp mail/new' --verify ./verify.sh -- ./test.sh
# kept, any on f2fs: headcrash check --init 'mkdir -p mail/tmp mail/new' --verify ./verify.sh -- ./test.sh sync
for n in 1 2 3 4 5; do
  name=$(printf 'Subject: message %d\n\ntext %d\n' $n $n | safecat mail/tmp mail/new) || exit 1
  [ "$1" != sync ] || sync mail/new
  echo "$name"
done

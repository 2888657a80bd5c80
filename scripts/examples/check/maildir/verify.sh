#!/bin/sh
# Every message must be in the folder "new", and complete.
while read -r name; do
  grep -q '^text [1-5]$' "mail/new/$name" || { echo "message $name is missing or incomplete"; exit 1; }
done

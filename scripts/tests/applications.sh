#!/usr/bin/env bash
# The applications whose packages are installed, under each of their settings: what is promised is there, and what promises
# nothing loses. A package that is not installed leaves its campaign out, and is named.
. "$(dirname "$0")/lib.sh"
cd "$scratch"

run() {   # CAMPAIGN PACKAGE...
  local campaign=$1 absent=() package
  shift
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || absent+=("$package")
  done
  if [ ${#absent[@]} != 0 ]; then
    echo "SKIPPED: $campaign: not installed: ${absent[*]}; run apt-get install ${absent[*]}"
    return
  fi
  exits 0 "$headcrash" campaign "$campaign" --db "$campaign.db" --jobs 2
  cat "$scratch/out"
}
run applications sqlite3 git
run applications-databases python3-lmdb python3-plyvel python3.11-minimal libpython3.11-minimal
run applications-postgresql postgresql-15 postgresql-client-15

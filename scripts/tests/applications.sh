#!/usr/bin/env bash
# Runs the applications with installed packages under each of their settings: promised data survives, and settings without
# promises lose data. Reports each missing package and skips its campaign.
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

# A program of the host with its shared libraries, under a name that the guest does not have.
cp "$(command -v perl)" keeper
cat >keeper.toml <<'END'
title = "files, each synced by a program of the host"
tools = ["./keeper"]
run = ["""keeper -e '$| = 1; for (1 .. 3) { open F, ">", "{root}/f$_" or exit 1; syswrite F, "x"; syscall(74, fileno F) == 0 or exit 2; print "persisted f$_\\n" }'"""]
verify = ["""keeper -e 'while (<STDIN>) { chomp; next if -s "{root}/$_"; print "lost: $_\\n"; $lost = 1 } exit $lost'"""]
END
exits 0 "$headcrash" explore --application ./keeper.toml --fs ext4 --strategy lose-all --budget 10
cat "$scratch/out"
exits 1 "$headcrash" explore --application ./keeper.toml --fs ext4-nobarrier --strategy lose-all --budget 10

run applications sqlite3 git
run applications-databases python3-lmdb python3-plyvel python3.11-minimal libpython3.11-minimal
run applications-postgresql postgresql-15 postgresql-client-15

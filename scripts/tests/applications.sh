#!/usr/bin/env bash
# Runs the applications with installed packages under each of their settings: promised data survives, and settings without
# promises lose data. Then runs the examples of headcrash check and compares their verdicts with the expected ones. Reports
# each missing package, and skips its campaign or example.
. "$(dirname "$0")/lib.sh"
examples=$(cd "$(dirname "$0")/../examples/check" && pwd)
cd "$scratch"

# are_installed NAME PACKAGE|ALTERNATIVE...: fails, and says that NAME is skipped, if a package is missing.
are_installed() {
  local name=$1 absent=() package
  shift
  for package in "$@"; do
    # shellcheck disable=SC2086   # an alternative a word
    dpkg-query -W -f '${db:Status-Status}\n' ${package//|/ } 2>/dev/null | says -x installed || absent+=("${package%%|*}")
  done
  [ ${#absent[@]} != 0 ] || return 0
  echo "SKIPPED: $name: not installed: ${absent[*]}; run apt-get install ${absent[*]}"
  return 1
}

run() {   # CAMPAIGN PACKAGE...
  local campaign=$1
  are_installed "$@" || return 0
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
run applications-databases python3-lmdb python3-plyvel python3-minimal
run applications-postgresql 'postgresql-15|postgresql-17' 'postgresql-client-15|postgresql-client-17'

# An example names its packages and its commands, each with the expected verdict: "kept, any on f2fs".
check() {   # NAME VERDICT COMMAND
  local name=$1 verdict=$2 command=$3 limits=' --states 60 --time 120' filesystem expected said status=0
  [[ $command != *\ --time\ * ]] || limits=
  rm -rf example && cp -r "$examples/${name%/*}" example
  (cd example && PATH=$(dirname "$headcrash"):$PATH bash -c "${command/ check/ check -q$limits}") >out 2>err </dev/null || status=$?
  [ "$status" -le 1 ] || failed "$name: $command: exit code $status: $(cat out err)"
  awk '$2 == "kept" || $2 == "lost" || $2 == "unclear" {print $1, $2}' out >verdicts
  [ -s verdicts ] || failed "$name: $command: no verdict: $(cat out err)"
  while read -r filesystem said; do
    expected=${verdict%%,*}
    [[ $verdict != *"any on $filesystem"* ]] || expected='kept|lost'
    [[ $said =~ ^($expected)$ ]] || failed "$name: $command: $filesystem: $said, not $expected: $(cat out err)"
  done <verdicts
  echo "$name: $verdict: $command"
}
commands=0
for test in "$examples"/*/test.*; do
  name=${test#"$examples/"}
  # shellcheck disable=SC2046   # a package a word
  are_installed "$name" $(sed -n 's/^# packages: //p' "$test") || continue
  while IFS= read -r line; do
    check "$name" "${line%%: *}" "${line#*: }"
    commands=$((commands + 1))
  done < <(sed -nE 's/^# ((kept|lost)[a-z0-9, ]*: headcrash check )/\1/p' "$test")
done
echo "$commands commands of examples"
[ "$commands" -gt 0 ] || failed "no example was run"

#!/usr/bin/env bash
# headcrash audit: a program with one flush removed and one doubled, of which both are named; a verifier that detects nothing.
# Guests run user-mode Linux if its kernel has been built (the default), else QEMU.
. "$(dirname "$0")/lib.sh"
build_uml=$(cd "$(dirname "$0")/.." && pwd)/build-uml
cd "$scratch"
said() { grep -qE -- "$1" out || failed "\"$1\" was not said: $(cat out err)"; }
never_said() { ! grep -qE -- "$1" out || failed "\"$1\" was said: $(cat out err)"; }
line_of() { grep -n "$1" store.c | head -n 1 | cut -d : -f 1; }

cat >store.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int store, counter;

static void write_counter(int n) {
  pwrite(counter, &"0123456789"[n], 1, 0);  // not flushed
}

static void commit_record(int n) {
  char line[32];
  write(store, line, snprintf(line, sizeof line, "record %d\n", n));
  fdatasync(store);  // needed
}

static void commit_again(void) {
  fdatasync(store);  // doubled
}

int main(void) {
  store = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
  counter = open("counter", O_WRONLY | O_CREAT, 0644);
  write(counter, "0", 1);
  int folder = open(".", O_RDONLY);
  fsync(counter);
  fsync(folder);
  for (int n = 1; n <= 2; n++) {
    write_counter(n);
    commit_record(n);
    commit_again();
    printf("committed %d\n", n);
    fflush(stdout);
  }
  return 0;
}
END
cc -g -O0 store.c -o store
cat >verify.sh <<'END'
while read -r word n; do
  grep -qx "record $n" log || { echo "record $n is gone"; exit 1; }
  [ "$(cat counter)" -ge "$n" ] || { echo "the counter is not $n"; exit 1; }
done
END

exits 2 "$headcrash" audit --fs ext4
grep -q "no program is given" err || failed "$(cat err)"
exits 77 env HEADCRASH_CACHE=/proc/nowhere "$headcrash" audit --guest qemu --fs ext4 --verify 'sh ./verify.sh' -- ./store

guest=(--fs ext4 --states 16 --time 60)
exits 1 "$headcrash" audit "${guest[@]}" --sarif audit.sarif --summary audit.md --verify 'sh ./verify.sh' -- ./store
said "^store.c:$(line_of 'not flushed')  write, no flush .* missing: flush file counter after this call, on ext4"
said "^store.c:$(line_of needed)  fdatasync\\(log\\) +2  needed"
said "^store.c:$(line_of doubled)  fdatasync\\(log\\) +2  redundant on ext4 \\([0-9]+ of [0-9]+ states\\) +[0-9.]+ ms$"
said "^remove  store.c:$(line_of doubled)  fdatasync"
never_said "^remove  store.c:$(line_of needed) "
said "^add     store.c:$(line_of 'not flushed')  missing"
said "^ext4    lost    after line [12], \"committed [12]\""
said "the verifier: exit code 1: the counter is not"
said "^Without the redundant calls, the test takes [0-9.]+ s instead of [0-9.]+ s on ext4"
# The cost is that of one call, which waits for two requests of at most 8 ms each. In real time, a busy host adds to it.
cost=$(sed -n "s/^store.c:$(line_of needed) .* \\([0-9.]*\\) ms$/\\1/p" out)
[ -n "$cost" ] || failed "the needed flush has no cost: $(cat out)"
! "$build_uml" --check >/dev/null 2>&1 || [ "${cost%.*}" -lt 40 ] || failed "one flush costs $cost ms"
exits 1 env PATH="$(dirname "$headcrash"):$PATH" sh headcrash-audit/ext4/baseline.reproduce.sh
perl -MJSON::PP -0777 -ne '
  my %of = map { $_->{ruleId} . " " . $_->{locations}[0]{physicalLocation}{region}{startLine} => $_->{level} } @{decode_json($_)->{runs}[0]{results}};
  exit(($of{"lost-promise '"$(line_of 'not flushed')"'"} // "") eq "error" && ($of{"redundant-flush '"$(line_of doubled)"'"} // "") eq "note" ? 0 : 1)' \
  audit.sarif || failed "SARIF: $(cat audit.sarif)"
grep -q "store.c:$(line_of doubled)" audit.md || failed "the summary: $(cat audit.md)"

# Without the removed flush, both remaining calls are named by --json, and nothing is missing.
exits 0 "$headcrash" audit "${guest[@]}" --json --verify 'read -r word n; [ -z "$n" ] || grep -q record log' -- ./store
perl -MJSON::PP -0777 -ne '
  my $ext4 = decode_json($_)->{filesystems}[0];
  exit(!$ext4->{lost} && @{$ext4->{missing}} == 0 && @{$ext4->{sites}} == 4 && $ext4->{sites}[2]{stack}[0]{function} eq "commit_record" ? 0 : 1)' \
  out || failed "JSON: $(cat out)"
exits 2 "$headcrash" audit "${guest[@]}" --verify true -- ./store
grep -q "cannot detect a loss" err || failed "$(cat err)"
echo "audit: all as it should be"

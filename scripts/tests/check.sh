#!/usr/bin/env bash
# headcrash check: a test that keeps its promises, one that does not, a verifier that detects nothing, and errors before a guest
# starts.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
said() { grep -qF -- "$1" out err || failed "\"$1\" was not said: $(cat out err)"; }

cat >synced <<'END'
#!/bin/sh
for n in 1 2 3; do echo "record $n" >> log; sync log .; echo "committed $n"; done
END
sed 's/sync log .;//' synced >unsynced
cat >verify.sh <<'END'
while read -r word n; do grep -qx "record $n" log || { echo "record $n is gone"; exit 1; }; done
END
chmod +x synced unsynced

exits 2 "$headcrash" check --fs ext4
said "no program is given"
exits 2 "$headcrash" check --fs ext4 -- ./absent
said "cannot be started"
exits 2 "$headcrash" check --fs ext4 --verify false -- ./synced
said "without a power cut"
exits 77 env HEADCRASH_CACHE=/proc/nowhere "$headcrash" check --guest qemu --fs ext4 -- ./synced
printf '#!/bin/sh\necho record >log; sync log .; printf done\n' >unterminated && chmod +x unterminated
exits 2 "$headcrash" check --fs ext4 --verify 'sh ./verify.sh' -- ./unterminated
said "does not end with a newline"
mkdir no-trace && printf '#!/bin/sh\nexit 1\n' >no-trace/strace && chmod +x no-trace/strace
exits 77 env PATH="$scratch/no-trace:$PATH" "$headcrash" check --fs ext4 -- ./synced
mkdir other && touch other/file other/application.toml
exits 2 "$headcrash" check --fs ext4 --folder other -- ./synced
said "contains files that headcrash did not write"
mkdir busy
exits 2 flock busy "$headcrash" check --fs ext4 --folder busy -- ./synced
said "is in use by another check"

# Most cases use user-mode guests if their kernel has been built (the default), because these boot faster.
guest=(--fs ext4 --states 16 --time 120)
exits 2 "$headcrash" check "${guest[@]}" --disk 40M -- dd if=/dev/zero of=file bs=1M count=60 conv=fsync status=none
said "the disk of size 40M is full"
said "--disk"
# The disk has room for what the program preallocates. The guest runs the host's fallocate: that of busybox has no -n.
exits 0 "$headcrash" check "${guest[@]}" --verify 'read -r word; [ -z "$word" ] || grep -q record log' \
  -- sh -c 'touch f && fallocate -n -l 100M f && echo record >>log && sync log . && echo done'
# The limit aborts checks that are in progress. They say nothing about the program.
exits 0 "$headcrash" check --fs ext4 --time 3 --states 100000 --verify 'sh ./verify.sh && sleep 0.2' -- ./synced
said "ext4    kept "
exits 0 "$headcrash" check "${guest[@]}" --verify 'sh ./verify.sh' -- ./synced
said "synced acknowledged 3 lines"
said "ext4    kept "
said "the verifier can detect a loss"
[ ! -e headcrash-check ] || failed "the folder of a check that found nothing was kept"
exits 1 "$headcrash" check --guest qemu "${guest[@]}" --verify 'sh ./verify.sh' -- ./unsynced
said "ext4    lost    after line"
said "record 1 is gone"
said "unflushed file log after "
[ -s headcrash-check/ext4/crash.html ] || failed "there is no page of the crash"
exits 1 env PATH="$(dirname "$headcrash"):$PATH" sh -c 'cd / && "$0"' "$scratch/headcrash-check/ext4/reproduce.sh"
exits 2 "$headcrash" check "${guest[@]}" --verify true -- ./synced
said "cannot detect a loss"
printf '#!/bin/sh\necho record >log; sync log .\n' >silent && chmod +x silent
exits 2 "$headcrash" check "${guest[@]}" --verify 'sh ./verify.sh' -- ./silent
said "prints no line"
# In the guest, a background process ends with the program. On the host, its line is printed.
printf '#!/bin/sh\n[ -e log ] || (echo record >log; sync log .; sleep 1; echo done) &\n' >background && chmod +x background
exits 2 "$headcrash" check "${guest[@]}" --verify true -- ./background
said "but none in the guest"
# The guest has the names of open files, pseudo-terminals, and commands that did not run on this host. Names may contain blanks.
mkdir 'a folder' && cat >'a folder/a test' <<'END'
#!/bin/bash
[ "$(cat <(echo a) "$1")" = "$(printf 'a\nb')" ] && [ "$(echo a | cat /dev/stdin)" = a ] || exit 3
script -qec 'echo a' /dev/null >/dev/null || exit 4
case $HEADCRASH_FOLDER in /.headcrash/*) tac "$1" >/dev/null || exit 5 ;; esac
echo 'record 1' >log; sync log .; echo 'committed 1'
END
chmod +x 'a folder/a test' && echo b >'a folder/an input'
exits 0 "$headcrash" check "${guest[@]}" --verify 'sh ./verify.sh' -- './a folder/a test' './a folder/an input'
said "acknowledged 1 line"

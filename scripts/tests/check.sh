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
mkdir no-trace && printf '#!/bin/sh\nexit 1\n' >no-trace/strace && chmod +x no-trace/strace
exits 77 env PATH="$scratch/no-trace:$PATH" "$headcrash" check --fs ext4 -- ./synced
mkdir other && touch other/file other/application.toml
exits 2 "$headcrash" check --fs ext4 --folder other -- ./synced
said "contains files that headcrash did not write"

# Most cases use user-mode guests if their kernel has been built (the default), because these boot faster.
guest=(--fs ext4 --states 16 --time 120)
exits 2 "$headcrash" check "${guest[@]}" --disk 40M -- dd if=/dev/zero of=file bs=1M count=60 conv=fsync status=none
said "the disk of 40M is full"
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
said "the verifier can see a loss"
[ ! -e headcrash-check ] || failed "the folder of a check that found nothing was kept"
exits 1 "$headcrash" check --guest qemu "${guest[@]}" --verify 'sh ./verify.sh' -- ./unsynced
said "ext4    lost    after line"
said "record 1 is gone"
said "unflushed file log after "
[ -s headcrash-check/ext4/crash.html ] || failed "there is no page of the crash"
exits 1 env PATH="$(dirname "$headcrash"):$PATH" sh -c 'cd / && "$0"' "$scratch/headcrash-check/ext4/reproduce.sh"
exits 2 "$headcrash" check "${guest[@]}" --verify true -- ./synced
said "cannot detect a loss"

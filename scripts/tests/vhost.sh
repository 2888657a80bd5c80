#!/usr/bin/env bash
# headcrash serve --vhost-user: a guest's ext4 on a vhost-user disk, a cut during a request, recovery in the same guest, and
# the content of the recording. Before that, without a guest: sockets, several machines, SIGTERM, a command.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$scratch"

start() {
  rm -f serve.json
  "$headcrash" serve --profile hp-c2447 --vhost-user disk.sock --json "$@" >serve.json 2>serve.err &
  server=$!
  for _ in $(seq 200); do
    [ -s serve.json ] && return
    kill -0 "$server" 2>/dev/null || failed "serve ended: $(cat serve.err)"
    sleep 0.05
  done
  failed "serve printed nothing"
}
stop() {  # SIGNAL
  kill "-$1" "$server"
  wait "$server" || failed "serve exited with $?: $(cat serve.err)"
  server=
  [ -z "$(ls | grep sock)" ] || failed "sockets were left behind: $(ls)"
}
ask() { echo "$1" | socat -t 80 - UNIX-CONNECT:disk.sock.control; }
words() { python3 -c 'import json, sys; [print(w) for w in json.load(open("serve.json"))'"$1"']'; }

# sockets: rejected while a server listens, replaced after a killed server, removed by SIGTERM and SIGINT
start --size 64M --clock off
refuses 2 disk.sock "another server listens on it" -- timeout 20 "$headcrash" serve --size 64M --vhost-user disk.sock
ask '{"power":"status"}' | says '"power":"on"' || failed "the refused one disturbed the server"
stop TERM
start --size 64M --clock off
kill_server || failed "serve had ended: $(cat serve.err)"
[ -S disk.sock ] || failed "a killed server was expected to leave its socket"
start --size 64M --clock off
stop INT

# with a command, the server ends with the command; QEMU accepts the options
exits 124 "$headcrash" serve --profile hp-c2447 --size 64M --clock off --vhost-user disk.sock --memory 64M -- \
  timeout 2 qemu-system-x86_64 -accel tcg -M q35 -S -display none -nodefaults
[ ! -e disk.sock ] || failed "the socket was left behind"

# the guest: synced data survives a cut in the middle of a write
cat >guest.sh <<'G'
set -e
mark() { printf '%s\0' "$1" | dd of=/dev/vdb bs=512 conv=sync oflag=direct status=none; }
mkfs.ext4 -q -b 4096 /dev/vda
mkdir -p /mnt
mount /dev/vda /mnt
dd if=/dev/zero bs=64k count=4 status=none | tr '\0' k >/mnt/kept
dd of=/mnt/kept conv=notrunc,fsync bs=1 count=0 status=none </dev/null
sync /mnt/kept
# Four writers, so that the disk always has a request while they write, however slowly the guest runs; the mark waits for each to have begun.
writers=
for n in 1 2 3 4; do
  dd if=/dev/zero of=/mnt/w$n bs=1M count=80 oflag=direct status=none 2>/dev/null & writers="$writers $!"
done
for n in 1 2 3 4; do while [ ! -s /mnt/w$n ]; do sleep 0.05; done; done
mark writing
for writer in $writers; do wait $writer || echo "a writer met the cut"; done
umount /mnt || umount -l /mnt
while ! dd if=/dev/vda of=/dev/null bs=4096 count=1 iflag=direct status=none 2>/dev/null; do sleep 0.1; done
mount /dev/vda /mnt && echo mounted
[ "$(tr -d k </mnt/kept | wc -c)" = 0 ] && [ "$(wc -c </mnt/kept)" = 262144 ] && echo kept
umount /mnt
e2fsck -fn /dev/vda >/tmp/fsck 2>&1 && echo clean
mark "guest is done"
G
start --size 256M --memory 256M --record run.hcrec --cut 'after-mark:writing+60'
mapfile -t options < <(words '["qemu"]'; words '["mark"]["qemu"]')
qemu=()
for word in "${options[@]}"; do qemu+=(--qemu "$word"); done
"$here/run-in-guest" --memory 256 --seconds 80 "${qemu[@]}" guest.sh >guest.out 2>guest.err &
guest=$!
trap 'kill "$guest" 2>/dev/null || true; kill "$server" 2>/dev/null || true; wait; rm -rf "$scratch"' EXIT
ask '{"power":"wait-cut","timeout_ms":60000}' >cut.json
says '"power":"off"' <cut.json || failed "no cut: $(cat cut.json guest.out guest.err serve.err)"
sleep 0.3
ask '{"power":"on"}' | says '"ok":true' || failed "power on"
wait "$guest" || failed "the guest failed: $(cat guest.out guest.err serve.err)"
[ "$(grep -c "^a writer met the cut" guest.out)" = 4 ] || failed "a writer missed the cut: $(cat guest.out guest.err)"
for line in mounted kept clean; do says "^$line" <guest.out || failed "no \"$line\": $(cat guest.out guest.err)"; done
ask '{"stats":"read"}' >stats.json
stop TERM
says 'the power is off' <serve.err || failed "failed requests are not reported: $(cat serve.err)"

# the recording: the cut is 60 ms of model time after the mark, requests are in the device at that time, and none is acknowledged without power
"$headcrash" recording export run.hcrec --format csv -o run.csv >/dev/null
python3 - <<'P' || failed "the recording: $(tail -n 40 run.csv)"
import csv, json
rows = list(csv.DictReader(open("run.csv")))
mark = next(r for r in rows if r["kind"] == "mark" and r["text"].strip('"') == "writing")
off, on = (next(i for i, r in enumerate(rows) if r["kind"] == "power" and r["result"] == state) for state in ("off", "on"))
assert int(rows[off]["time_ns"]) - int(mark["time_ns"]) == 60_000_000, "the cut is late"
ops = {r["request"]: r["op"] for r in rows if r["kind"] == "submit"}
before = {kind: [r["request"] for r in rows[:off] if r["kind"] == kind] for kind in ("submit", "ack")}
inside = set(before["submit"]) - set(before["ack"])
assert [r for r in inside if ops[r] == "write"], "no write was inside"
assert any(ops[r] == "flush" for r in before["ack"]), "no flush before the cut"
lost = [r for r in rows[off:on] if r["kind"] == "ack"]
assert lost and all(r["result"] == "power_lost" for r in lost), "acknowledged without power"
assert inside <= {r["request"] for r in lost}, "requests in flight have not failed"
assert not [r for r in rows[off:on] if r["kind"] == "media" and int(r["time_ns"]) > int(rows[off]["time_ns"])], "written without power"
after = [ops[r["request"]] for r in rows[on:] if r["kind"] == "ack" and r["result"] == "ok"]
assert "write" in after and "flush" in after, "nothing was recovered"
stats = json.load(open("stats.json"))
assert stats["in_flight_max"] >= 2 and stats["devices"][0]["latency"]["lateness"]["count"] > 0
P
echo "vhost: all as it should be"

#!/usr/bin/env bash
# Guests in virtual time: requests take as long in the guest as on the drive, ext4 on an array recovers from a power cut
# during a commit, equal commands produce equal bytes, and no process outlives a guest. Needs the kernel of scripts/build-
# guest --uml; without it, the test is skipped (77), unless the second argument is `build`.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")/.." && pwd)
agent=(--agent "$build/bin/headcrash-agent")
if [ "${2:-}" = build ]; then
  "$here/build-guest" --uml "${agent[@]}" >"$scratch/guest" 2>"$scratch/log" || failed "build-guest: $(tail -n 20 "$scratch/log")"
elif ! "$here/build-uml" --check >/dev/null 2>&1; then
  echo "skipped: no user-mode kernel is built; scripts/build-guest --uml builds one"
  exit 77
else
  "$here/build-guest" --uml "${agent[@]}" >"$scratch/guest" 2>"$scratch/log" || failed "build-guest: $(cat "$scratch/log")"
fi
guest=$(tail -n 1 "$scratch/guest")
cd "$scratch"

# without the harness: the agent's lines over a socket, and the time of a read of the drive by both clocks
cat >hand.py <<'H'
import json, socket, time

def connect(path):
    for _ in range(400):
        one = socket.socket(socket.AF_UNIX)
        try:
            one.connect(path)
            return one.makefile("rw")
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"no process listens on {path}")

agent, control = connect("disk.sock.agent"), connect("disk.sock.control")
def ask(**request):
    agent.write(json.dumps({"id": 1, **request}) + "\n")
    agent.flush()
    while True:
        answer = json.loads(agent.readline())
        if "event" not in answer:
            assert answer["ok"], answer
            return answer
def server(request):
    control.write(json.dumps(request) + "\n")
    control.flush()
    return json.loads(control.readline())
H
serve_by_hand() {   # WORDS of serve
  "$headcrash" serve --profile hp-c2447 --size 64M --write-cache off --vhost-user disk.sock --virtual-time "$@" --json -- \
    env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$guest/linux" mem=128M initrd="$guest/initramfs" uml_dir="$scratch/" \
    stderr=1 console=stderr con=null con0=null,null loglevel=5 >serve.out 2>serve.err &
  server=$!
}
serve_by_hand
python3 - <<'P' || failed "a guest by hand: $(tail -n 30 serve.err)"
import time

from hand import ask, server

ask(do="hello")
assert server({"stats": "read"})["clock"] == "virtual"
refused = server({"clock": "off"})
assert not refused["ok"] and "virtual time" in refused["error"], refused
def now():
    return server({"stats": "read"})["model_ns"]
# time stands still while the agent waits
before = now()
time.sleep(0.3)
assert now() == before
began = time.monotonic()
ask(do="pause", ms=1_000_000)
assert now() - before >= 10**12 and time.monotonic() - began < 20, "1000 s of virtual time"
beyond = set()
for offset in (0, 20 << 20, 5 << 20, 60 << 20, 60 << 20):
    server({"stats": "take"})
    guest = ask(do="time-read", path="/dev/vda", offset=offset)["elapsed_ns"]
    drive = server({"stats": "read"})["devices"][0]["latency"]["target"]["max_ns"]
    assert drive > 500_000, drive
    beyond.add(guest - drive)
# Each time that the guest reads its clock, a nanosecond passes; apart from this, the times are equal.
assert all(0 < each < 50 for each in beyond), beyond
print("a read in the guest takes", sorted(beyond), "ns longer than in the drive")
P
kill -TERM "$server"
wait "$server" || true
server=
sleep 0.3
! pgrep -f "$scratch/" >/dev/null || failed "processes were left behind: $(pgrep -af "$scratch/")"
! ls | says sock || failed "sockets were left behind: $(ls)"

# A loop in the guest takes the host's processor time, multiplied by the charge. The guest's clock follows when the guest waits for a disk.
# Without a charge, the loop takes no time.
cat >loop.py <<'L'
from hand import ask, server
ask(do="hello")
def now():
    return server({"stats": "read"})["model_ns"] / 1e9
clock = "dd if=/dev/vda of=/dev/null bs=4k count=1 iflag=direct 2>/dev/null; read up rest </proc/uptime; echo $up; "
loop = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done; "
before = now()
told = ask(do="exec", argv=["busybox", "sh", "-c", clock + loop + clock], timeout_ms=100000)
first, last = map(float, told["stdout"].split())
print(now() - before, last - first)
L
loop_takes() {   # WORDS of serve
  serve_by_hand "$@"
  python3 loop.py || failed "a loop in a guest: $(tail -n 30 serve.err)"
  kill -TERM "$server"
  wait "$server" || true
  server=
}
for charge in 1 20; do loop_takes --charge $charge; done >took
loop_takes >>took
python3 - <<'P' || failed "what computing takes: $(cat took)"
(one, clock_one), (more, clock_more), (none, clock_none) = (map(float, line.split()) for line in open("took"))
assert 0.005 < one < 20 and 4 < more / one < 100, (one, more)
assert abs(clock_one - one) < 0.5 * one + 0.02 and clock_more > 0.5 * more, (clock_one, one, clock_more, more)
assert none < 0.1 and clock_none < 0.05, (none, clock_none)  # two reads of the drive
print(f"a loop takes {one:.3f} s at charge 1, {more:.3f} s at 20, {none:.3f} s without")
P

# bench_file NAME: writes standard input to the file, with one trial per cell, in virtual time.
bench_file() { { cat; printf '%s\n' '[repetitions]' 'least = 1' 'most = 1' '[guest]' 'kind = "virtual"'; } >"$1"; }

# Writeback continues until it waits: adjacent small files become few requests, as on a real machine.
bench_file small.toml <<'T'
filesystems = ["ext4"]
[[device]]
profiles = ["hp-c2447"]
size = "512M"
[[workload]]
name = "lfs-small-file"
scale = "scaled"
T
exits 0 "$headcrash" bench small.toml --db small.db --quiet
writes=$("$headcrash" query --db small.db "SELECT max(writes) FROM phase WHERE name = 'workload'" --csv | tail -n 1 | tr -d '\r')
[ "$writes" -gt 5 ] && [ "$writes" -lt 150 ] || failed "1000 small files of ext4 were $writes writes"

# power cuts during commits, on RAID 5 behind NVRAM; the complete test runs twice
cat >cuts.toml <<'T'
seed = 3
trials = 4
filesystems = ["ext4"]
[device]
profiles = ["netra-raid5-presto"]
size = "128M"
[cut]
after-persistence-ms = [0, 3]
[guest]
kind = "virtual"
T
for run in one two; do
  mkdir "$run"
  exits 0 "$headcrash" campaign cuts.toml --db "$run/cuts.db" --jobs 2
  says -E '^ *ext4 +4 +4 +0 +0 +clean +yes +4 replayed' <out || failed "ext4 on the array: $(cat out)"
  find "$run" -name recording.hcrec | sort | while read -r file; do
    rm -f events
    "$headcrash" recording export "$file" --format csv -o events >/dev/null
    cat events
  done >"$run/events.csv"
done
[ -s one/events.csv ] || failed "no events"
cmp one/events.csv two/events.csv || failed "two runs of one campaign differ: $(diff one/events.csv two/events.csv | head -n 6)"
python3 - <<'P' || failed "no cut was in the middle of a commit"
import csv
inside, ops, cuts = set(), {}, 0
for row in csv.DictReader(open("one/events.csv")):
    if row["kind"] == "kind":  # the next recording's header
        inside, ops = set(), {}
    if row["kind"] == "submit":
        inside.add(row["request"])
        ops[row["request"]] = row["op"]
    if row["kind"] == "ack":
        inside.discard(row["request"])
    if row["kind"] == "power" and row["result"] == "off":
        cuts += any(ops[each] in ("write", "flush") for each in inside)
assert cuts, "no request was in flight at any cut"
print(cuts, "of 4 cuts with writes or flushes inside the array")
P

# crash states: the control loses data, also with a log on a separate disk and on an array; equal seeds record equal bytes
cat >eight.txt <<'T'
create f0
write f0 0 8192 1 1
fsync f0
fsyncdir .
create f1
write f1 0 8192 2 2
fsync f1
fsyncdir .
T
explore() { "$headcrash" explore --guest virtual --workload eight.txt --seed 7 --json "$@"; }
told() { python3 -c 'import json; said = json.load(open("out")); assert '"$1"', {k: said[k] for k in ("checked", "verdicts", "guest")}' || failed "explore $2: $(head -c 600 out)"; }
for run in one two; do exits 0 explore --fs ext4 --size 64M --budget 20 --jobs 2 --record "$run/states"; done
told 'said["checked"] == 20 and said["guest"] == "virtual" and said["disagreements"] == 0' ext4
cmp one/states/formatted.hcrec two/states/formatted.hcrec || failed "two recordings of mkfs differ"
cmp one/states/workload.hcrec two/states/workload.hcrec || failed "two recordings of one workload differ"
exits 1 explore --fs ext4-nobarrier --size 64M --jobs 1 --budget 40 --strategy lose-all --record lost
told '"lost-synced-data" in said["verdicts"]' "ext4 without barriers"
lost=$(python3 -c 'import json; print(json.load(open("out"))["failures"][0]["state"])')
exits 1 "$headcrash" replay lost/workload.hcrec --fs ext4-nobarrier --guest virtual --state "$lost"
says 'lost-synced-data' <out || failed "replay in virtual time: $(cat out)"
exits 1 "$headcrash" replay lost/workload.hcrec --fs ext4-nobarrier --state "$lost"
says 'lost-synced-data' <out || failed "replay under QEMU of a recording in virtual time: $(cat out)"
exits 0 explore --fs ext4-external-journal --size 64M --jobs 1 --budget 10
told 'said["checked"] == 10' "with a log on a separate disk"
exits 0 explore --fs ext4 --machine raid5-5 --size 128M --jobs 1 --budget 4
told 'said["checked"] >= 3' "on an array"

# Linux writes zeroes without its journal when half a block of new space is written; they must also be zeroes on a used disk
cat >room.txt <<'T'
create f
allocate f 131072 24576
write f 131072 4096 1 1
fsync f
T
exits 0 "$headcrash" explore --guest virtual --workload room.txt --fs ext4 --size 64M --jobs 1 --strategy prefix --json
told 'said["checked"] >= 4' "a part of new room"

# a benchmark runs twice, the second time with two concurrent trials: equal bytes. A third run with another seed differs
cat >bench.toml <<'T'
filesystems = ["ext4", "f2fs"]
[[device]]
profiles = ["hp-c2447"]
size = "128M"
[[workload]]
name = "lfs-small-file"
scale = "scaled"
files = 60
[repetitions]
least = 2
most = 2
T
jobs=1
for run in one two; do
  exits 0 "$headcrash" bench bench.toml --guest virtual --db "$run/bench.db" --jobs $((jobs++))
  exits 0 "$headcrash" report --db "$run/bench.db" -o "$run/report" --csv "$run"
done
cmp one/rankings.csv two/rankings.csv || failed "two runs of one benchmark differ"
says 'hp-c2447,lfs-small-file' <one/rankings.csv || failed "the rankings: $(cat one/rankings.csv)"
exits 0 "$headcrash" query --db one/bench.db --csv "SELECT DISTINCT t.clock, r.accelerator FROM trial t JOIN run r ON r.id = t.run_id"
says '^virtual,user-mode' <out || failed "which clock it was: $(cat out)"
sed 's/^filesystems/seed = 2\n&/' bench.toml >other.toml
exits 0 "$headcrash" bench other.toml --guest virtual --db other.db

# programs of the guest must not see the host's processor features, because they would touch other pages and open other files on other processors
sed -e 's|^command = \["mkfs.*|command = ["sh", "-c", "/lib64/ld-linux-x86-64.so.2 --list-diagnostics \| grep -e hwcaps_subdirs_active -e xsave_state_size >\&2; exit 3"]|' \
  -e '/^\[variant/,/^$/d' "$here/../fs-adapters/linux/ext4.toml" >any.toml
sed -e 's/"ext4", "f2fs"/".\/any.toml"/' bench.toml >any-bench.toml
"$headcrash" bench any-bench.toml --guest virtual --db any.db >out 2>&1 && failed "a mkfs that fails: $(cat out)"
says 'hwcaps_subdirs_active=0x0' <out && says 'xsave_state_size=0x0' <out || failed "a program's processor: $(cat out)"

# the rest takes another minute, and runs at night only
if [ "${2:-}" != build ]; then
  echo "virtual: all as it should be"
  exit
fi

# two weeks of office work, and a boot after a cut on disks of two sizes; each runs twice
bench_file ageing.toml <<'T'
filesystems = ["f2fs", "xfs"]
[[device]]
profiles = ["sata-7200"]
size = "320M"
[[workload]]
name = "ageing"
scale = "scaled"
T
bench_file size.toml <<'T'
filesystems = ["ext4", "ext4-nojournal", "nilfs2"]
[[device]]
profiles = ["sata-7200"]
name = "small"
size = "256M"
[[device]]
profiles = ["sata-7200"]
name = "large"
size = "16G"
[[workload]]
name = "boot-after-cut"
scale = "scaled"
T
for bench in ageing size; do
  for run in one two; do
    exits 0 "$headcrash" bench $bench.toml --db "$run/$bench.db"
    exits 0 "$headcrash" report --db "$run/$bench.db" -o "$run/$bench" --csv "$run/$bench"
  done
  cmp one/$bench/rankings.csv two/$bench/rankings.csv || failed "two runs of $bench differ"
done
grep -q 'id="ageing"' one/ageing/report.html || failed "no plots over age"
grep -q 'id="recovery"' one/size/report.html || failed "no plots over size"
python3 - <<'P' || failed "what they measured"
import csv
score = {(r["filesystem"], r["phase"]): float(r["mean"]) for r in csv.DictReader(open("one/ageing/metrics.csv")) if r["name"] == "layout.score"}
assert {phase for _, phase in score} == {f"{what} day {day}" for what in ("read-old", "read-new", "read") for day in (0, 7, 14)}, score
assert all(0 < value <= 1 for value in score.values()), score
mounted = {(r["device"], r["filesystem"]): float(r["elapsed_mean_ms"]) for r in csv.DictReader(open("one/size/rankings.csv")) if r["phase"] == "power on to mounted"}
assert len(mounted) == 6, mounted
grows = lambda name: mounted["large", name] / mounted["small", name]
assert grows("ext4-nojournal") > 1.5 * grows("ext4"), mounted  # e2fsck reads the whole disk, a replay only the journal
P
echo "virtual: all as it should be"

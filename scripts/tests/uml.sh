#!/usr/bin/env bash
# build-guest --uml: rejected inputs, cached results, and no remains of an interrupted build. The kernel is a folder with a
# makefile, so neither a network nor much time is needed.
#
#   uml.sh BUILD-FOLDER [real]
#
# real: uses the kernel of Debian's source, built if it is not cached (in some minutes). It starts the agent twice, with equal results.
. "$(dirname "$0")/lib.sh"
build_guest=$(cd "$(dirname "$0")/.." && pwd)/build-guest
agent=$build/bin/headcrash-agent
uml() { "$build_guest" --uml --agent "$agent" "$@"; }
describes() { grep -qF -- "$1" "$guest/info.json" || failed "info.json has no $1: $(cat "$guest/info.json")"; }

if [ "${2:-}" = real ]; then
  exits 0 uml
  guest=$(tail -n 1 "$scratch/out")
  describes '"uml": true'
  for edit in exit-kill spin clock-1ns long-sleep hz-250 no-host-entropy no-host-features no-measuring no-wakeup-preemption fixed-addresses unnamed-memory large-fp-state; do describes "\"$edit\""; done
  exits 0 uml --check
  [ "$(cat "$scratch/out")" = "$guest" ] || failed "--check says $(cat "$scratch/out")"
  # The kernel boots and starts the agent, which has no connection. Its exit causes a panic, which ends the process.
  boot() {   # NAME WORD...
    local name=$1
    shift
    mkdir "$scratch/$name"
    (cd "$scratch/$name" && env GLIBC_TUNABLES=glibc.pthread.rseq=0 "$@" timeout 60 "$guest/linux" mem=256M initrd="$guest/initramfs" \
      uml_dir=./ time-travel=inf-cpu time-travel-start=0 stderr=1 console=stderr con=null con0=null,null panic=0 \
      </dev/null >"$scratch/$name/out" 2>"$scratch/$name/console" || true)
    # The panic writes the whole log to standard output. Skips messages about the host, which are printed before the guest starts, and
    # the random name of the kernel's control socket.
    cat "$scratch/$name/console" "$scratch/$name/out" | sed -n '/Linux version/,$p' | grep -av mconsole >"$scratch/$name.log"
    grep -q 'Run /init as init process' "$scratch/$name.log" || failed "the kernel did not start the agent: $(tail -n 20 "$scratch/$name.log")"
  }
  boot first
  sleep 1
  boot second MORE="$(printf 'x%.0s' {1..3000})"   # at another time, with a larger environment
  cmp "$scratch/first.log" "$scratch/second.log" || failed "two boots differ: $(diff "$scratch/first.log" "$scratch/second.log" | head -n 6)"
  grep -q 'ext4' <(strings -a "$guest/linux") || failed "no ext4 in the kernel"
  echo "uml: $(sed -n 's/.*"kernel_version": "\([^"]*\)".*/\1/p' "$guest/info.json") boots, twice with the same $(wc -l <"$scratch/first.log") lines"
  exit 0
fi

export HEADCRASH_CACHE=$scratch/cache
# A source tree to which the edits of exit-kill and spin apply. Its kernel is the concatenation of its sources.
tree=$scratch/tree
mkdir -p "$tree"/{arch/um/{os-Linux/skas,kernel},kernel/sched}
: >"$tree/Kconfig"
for file in skas/process start_up; do printf 'set(\n   (void *) PTRACE_O_TRACESYSGOOD) < 0)\n' >"$tree/arch/um/os-Linux/$file.c"; done
printf 'int __sched __cond_resched(void)\n{\n\tif (a) {\n}\n' >"$tree/kernel/sched/core.c"
printf 'void timer_handler(int sig)\n{\n}\n' >"$tree/arch/um/kernel/time.c"
cat >"$tree/Makefile" <<'END'
alldefconfig:
	grep -v '$(or $(shell cat lacks),^nothing)' $(KCONFIG_ALLCONFIG) >.config
linux:
	test ! -e slow || sleep 300.PID
	cat arch/um/os-Linux/*/*.c kernel/sched/*.c arch/um/kernel/*.c >linux
kernelrelease:
	@echo 9.8.7-uml
END
sed -i "s/300.PID/300.$$/" "$tree/Makefile"   # by which this test's are known
: >"$tree/lacks"

# ---- rejected
printf 'bzImage' >"$scratch/bzImage"
refuses 1 "$scratch/bzImage is a file" 'built from source' -- uml --kernel "$scratch/bzImage"
refuses 1 'not a kernel' 'arch/um' -- uml --kernel "$scratch"
refuses 1 'newest is neither' '6.12' -- uml --kernel newest
refuses 1 "$scratch/nowhere is neither" -- uml --kernel "$scratch/nowhere"
refuses 1 'has no modules' -- uml --load dm_log_writes
refuses 1 'has no modules' -- uml --module "$scratch/bzImage"
refuses 3 'not built yet' -- uml --check --kernel "$tree"
refuses 3 'not built yet' -- uml --check
[ ! -d "$HEADCRASH_CACHE/kernel-uml" ] || failed "--check and refusals made $(find "$HEADCRASH_CACHE/kernel-uml")"
mkdir "$scratch/few"
find /usr/bin /usr/sbin -maxdepth 1 ! -type d -exec ln -sf -t "$scratch/few" {} +
rm -f "$scratch"/few/{flex,bison}
(
  PATH=$scratch/few
  cp "$(dirname "$build_guest")"/{build-uml,uml.config,package-lists} "$scratch/few"   # without build-guest's /usr/sbin
  refuses 1 'lacks flex bison' 'apt-get install flex bison' -- "$scratch/few/build-uml" --kernel "$tree"
)
# A replacement for apt-cache that lists the packages of this test.
mkdir "$scratch/fake"
cat >"$scratch/fake/apt-cache" <<'END'
#!/bin/sh
case "$*" in
  *depends*linux-source*) echo '  Depends: linux-source-6.1' ;;
  *pkgnames*linux-image*) echo linux-image-6.1.0-1-amd64 ;;
  *pkgnames*linux-source*) printf 'linux-source\nlinux-source-6.12\n' ;;
esac
END
chmod +x "$scratch/fake/apt-cache"
mkdir -p "$HEADCRASH_CACHE/apt"
touch "$HEADCRASH_CACHE/apt/fetched"
PATH=$scratch/fake:$PATH refuses 1 'no source package of Linux 5.4' 'use one of 6.1, 6.12' -- uml --kernel 5.4
if unshare -rm mount -t tmpfs none /tmp 2>/dev/null; then
  mkdir "$scratch/small"
  refuses 1 'MiB free' 'HEADCRASH_CACHE' -- unshare -rm sh -c 'mount -t tmpfs -o size=64m none "$1" && shift && exec "$@"' sh "$scratch/small" \
    "$build_guest" --uml --agent "$agent" --kernel "$tree" "$scratch/small"
fi
echo UML_TIME_TRAVEL >"$tree/lacks"
exits 1 uml --kernel "$tree"
tail -n 1 "$scratch/err" | grep -q 'has no CONFIG_UML_TIME_TRAVEL_SUPPORT' || failed "$(cat "$scratch/err")"
: >"$tree/lacks"
sed -i 's/TRACESYSGOOD/SOMETHING/' "$tree/arch/um/os-Linux/start_up.c"
exits 1 uml --kernel "$tree"
tail -n 1 "$scratch/err" | grep -q 'the source edit exit-kill does not apply' || failed "$(cat "$scratch/err")"
sed -i 's/SOMETHING/TRACESYSGOOD/' "$tree/arch/um/os-Linux/start_up.c"
[ -z "$(find "$HEADCRASH_CACHE" -name '.build.*')" ] || failed "refusals left $(find "$HEADCRASH_CACHE" -name '.build.*')"

# ---- built only once
touch "$tree"/built.{o,a} "$tree/vmlinux"   # files from the user's own build are not copied
exits 0 uml --kernel "$tree"
guest=$(tail -n 1 "$scratch/out")
describes '"uml": true'
describes '"kernel_version": "9.8.7-uml"'
describes '"edits": ["exit-kill", "spin"]'
grep -q 'the source edit clock-1ns does not apply' "$scratch/err" || failed "an edit that does not apply is not told: $(cat "$scratch/err")"
[ "$(grep -c 'PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL' "$guest/linux")" -eq 1 ] || failed "exit-kill: $(cat "$guest/linux")"
grep -q $'^\tum_time_travel_spin();' "$guest/linux" || failed "spin: $(cat "$guest/linux")"
[ ! -s "$guest/vmlinuz" ] && [ -s "$guest/initramfs" ] || failed "$(ls -l "$guest")"
[ "$(find "$tree" -newer "$tree/vmlinux")" = "" ] || failed "the tree has changed: $(find "$tree" -newer "$tree/vmlinux")"
exits 0 uml --kernel "$tree"
[ "$(cat "$scratch/out")" = "$guest" ] || failed "built again: $(cat "$scratch/out" "$scratch/err")"
exits 0 uml --check --kernel "$tree"
[ "$(cat "$scratch/out")" = "$guest" ] || failed "--check: $(cat "$scratch/out")"
cp "$agent" "$scratch/agent"
echo >>"$scratch/agent"
exits 0 "$build_guest" --uml --agent "$scratch/agent" --kernel "$tree"
[ "$(cat "$scratch/out")" != "$guest" ] || failed "another agent, the same guest"
! grep -q building "$scratch/err" || failed "another agent builds the kernel again"
[ "$(find "$HEADCRASH_CACHE/kernel-uml" -name linux | wc -l)" -eq 1 ] || failed "$(find "$HEADCRASH_CACHE/kernel-uml")"
echo '# another' >>"$tree/Makefile"
refuses 3 'not built yet' -- uml --check --kernel "$tree"

# ---- interrupted by a signal, and killed
touch "$tree/slow"
for signal in TERM KILL; do
  "$build_guest" --uml --agent "$agent" --kernel "$tree" >"$scratch/out" 2>&1 &
  server=$!
  for _ in $(seq 100); do
    if pgrep -f "sleep 300[.]$$" >/dev/null && [ -n "$(find "$HEADCRASH_CACHE/kernel-uml" -maxdepth 1 -name '.build.*')" ]; then break; fi
    sleep 0.1
  done
  kill "-$signal" "$server"
  wait "$server" 2>/dev/null || true
  server=
  for _ in $(seq 50); do
    if ! pgrep -f "$scratch/cache|sleep 300[.]$$" >/dev/null && [ -z "$(find "$HEADCRASH_CACHE/kernel-uml" -maxdepth 1 -name '.build.*')" ]; then break; fi
    sleep 0.1
  done
  ! pgrep -f "$scratch/cache|sleep 300[.]$$" >/dev/null || failed "after $signal: $(pgrep -af "$scratch/cache|sleep 300[.]$$")"
  [ -z "$(find "$HEADCRASH_CACHE" -name '.build.*')" ] || failed "$signal left $(find "$HEADCRASH_CACHE" -name '.build.*')"
done
rm "$tree/slow"

# ---- two concurrent calls: one builds, the other waits
uml --kernel "$tree" >"$scratch/out1" 2>"$scratch/err1" &
server=$!
exits 0 uml --kernel "$tree"
wait "$server" || failed "$(cat "$scratch/err1")"
server=
[ "$(tail -n 1 "$scratch/out1")" = "$(tail -n 1 "$scratch/out")" ] || failed "two builds at once: $(cat "$scratch/out1" "$scratch/out")"
[ "$(cat "$scratch/err" "$scratch/err1" | grep -c building)" -eq 1 ] || failed "both built: $(cat "$scratch/err" "$scratch/err1")"
echo "uml: refused, built once, no files left by an interrupted build"

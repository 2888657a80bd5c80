#!/usr/bin/env bash
# Tests git bisect run headcrash replay --anew, which repeats the writes under each commit's kernel instead of using a
# recording. The commits contain the adapter instead of a kernel, so no other kernel is needed: the mount option nobarrier
# is the defect, and its removal the fix.
. "$(dirname "$0")/lib.sh"
cd "$scratch"
export TMPDIR=$scratch GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@x GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@x

exits 1 "$headcrash" explore --fs ext4-nobarrier --workload overwrite-fsync --rounds 8 --strategy lose-all --budget 4 --jobs 1 --db found.db
replay=("$headcrash" replay 1 --db ../found.db --anew)

git init -q repository
cd repository
commit() {   # NAME ADAPTER-LINE...
  printf '%s\n' "${@:2}" >fs.toml
  echo "$1" >name
  git add .
  git commit -qm "$1"
}
commit keeps-1 'base = "ext4"'
commit keeps-2 'base = "ext4"' '# the same'
commit untestable 'base = "ext4"' '[mkfs]' 'command = ["false"]'
commit loses-1 'base = "ext4-nobarrier"'
commit loses-2 'base = "ext4-nobarrier"' '# the same'
commit mended 'base = "ext4"' '# mended'

# A recording does not depend on the commit: the unflushed writes of its state are lost under every kernel that recovers it.
exits 1 "$headcrash" replay 1 --db ../found.db --fs fs.toml
exits 0 "${replay[@]}" --fs fs.toml
says 'the recorded finding recurred in none of 4 states' <"$scratch/out" || failed "$(cat "$scratch/out")"
says '^NOT as recorded' <"$scratch/out" || failed "$(cat "$scratch/out")"

git bisect start HEAD~1 HEAD~5
git bisect run "${replay[@]}" --fs fs.toml >../bisect 2>&1 || true   # does not exit with 0 if only skipped commits are left
says -x "There are only 'skip'ped commits left to test." <../bisect || failed "$(cat ../bisect)"
[ "$(sed -n '/^The first bad commit could be/,/^We cannot/p' ../bisect | grep -cE '^[0-9a-f]{40}$')" = 2 ] || failed "$(cat ../bisect)"
git bisect log | says '^# skip: .* untestable$' || failed "not skipped: $(git bisect log)"
git bisect log | says '^# bad: .* loses-1$' || failed "not bad: $(git bisect log)"
git bisect reset 2>../reset

git bisect start --term-old=loses --term-new=keeps HEAD HEAD~2
git bisect run "${replay[@]}" --fs fs.toml --find-fix >../bisect 2>&1 || failed "$(cat ../bisect)"
says "^$(git rev-parse refs/bisect/keeps) is the first keeps commit" <../bisect || failed "$(cat ../bisect)"
[ "$(git log -1 --format=%s refs/bisect/keeps)" = mended ] || failed "$(git bisect log)"
git bisect reset 2>../reset

# A kernel given by a file. A commit that cannot be tested is skipped, for any reason.
refuses 125 'no-such-file' 'does not name a kernel' -- "${replay[@]}" --kernel-from no-such-file
: >kernel
refuses 125 'does not name a kernel' -- "${replay[@]}" --kernel-from kernel
echo newest >kernel
refuses 125 'newest' 'neither a kernel' -- "${replay[@]}" --kernel-from kernel
echo 6.12 >kernel
mkdir -p "$scratch/cache/kernel/6.12.9/boot" "$scratch/cache/kernel/6.12.9/lib/modules/6.12.9"
touch "$scratch/cache/kernel/6.12.9/boot/vmlinuz-6.12.9" "$scratch/cache/kernel/6.12.9/lib/modules/6.12.9/modules."{order,builtin}
echo 6.12.9-1 >"$scratch/cache/kernel/6.12.9/version"
status=0
HEADCRASH_CACHE=$scratch/cache "${replay[@]}" --kernel-from kernel >"$scratch/out" 2>"$scratch/err" || status=$?
[ $status -eq 125 ] && says '6.12.9 has no module' <"$scratch/err" || failed "exit $status: $(cat "$scratch/err")"
refuses 2 '--kernel-from' '--kernel' -- "${replay[@]}" --kernel-from kernel --kernel 6.12
# An invalid command line is an error, not a reason to skip a commit.
refuses 2 'has no trial "7"' -- "$headcrash" replay 7 --db ../found.db --anew
refuses 2 '--shell' -- "${replay[@]}" --shell
refuses 2 'all promises were kept' -- "${replay[@]}" --state "$(sqlite3 ../found.db "SELECT name FROM crash_state WHERE verdict IN ('clean', 'replayed') LIMIT 1")"
touch away.hcrec
refuses 2 'does not contain the settings' -- "$headcrash" replay away.hcrec --fs ext4 --anew
echo "bisect: all as it should be"

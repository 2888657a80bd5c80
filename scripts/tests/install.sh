#!/usr/bin/env bash
# Tests that an installation works by itself: the command with its plugin, its agent and the script that packs guests, under
# a prefix and under DESTDIR, without access to the source tree and the build folder. Programs of the build contain the
# paths of these folders; in the tested copy, the paths are invalid.
#
#   install.sh BUILD-FOLDER plain|guest
. "$(dirname "$0")/lib.sh"
part=$2
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$build" && pwd)
cd "$scratch"
export TMPDIR=$scratch/tmp
mkdir tmp

cmake --install "$build" --prefix "$scratch/away" >installed 2>&1 || failed "cmake --install: $(cat installed)"
! grep -v "$scratch/away" installed | grep -q '^-- Installing' || failed "something was installed elsewhere: $(cat installed)"
prefix=$scratch/opt   # moved, so no file may contain the installation path
mv away "$prefix"
nowhere=/$(printf '%0*d' $((${#top} - 1)) 0)
while IFS= read -r program; do
  LC_ALL=C sed -i "s|$top|$nowhere|g" "$program"   # as long as the name it replaces
done < <(find "$prefix" -type f \( -path '*/bin/*' -o -path '*/lib*' \))
! grep -rlqF "$top" "$prefix" || failed "the tree is named in $(grep -rlF "$top" "$prefix")"
export PATH=$prefix/bin:$PATH
headcrash=$(command -v headcrash)
[ "$headcrash" = "$prefix/bin/headcrash" ] || failed "another command is tested: $headcrash"

if [ "$part" = guest ]; then
  headcrash doctor >out 2>err || failed "doctor: $(cat out err)"
  grep -q "plugin: $prefix/lib/headcrash/nbdkit-headcrash-plugin.so" out || failed "another plugin: $(cat out)"
  for filesystem in ext4 ufs-soft-updates; do   # the second one's tools go into the guest
    exits 0 headcrash explore --fs $filesystem --workload ace-seq1/17 --budget 2
    grep -q '^verdicts' out || failed "explore: $(cat out err)"
  done
  echo "install: guests run, too"
  exit 0
fi

for file in bin/headcrash bin/mkfs.headcrash-ufs bin/fsck.headcrash-ufs bin/mount.headcrash-ufs lib/headcrash/nbdkit-headcrash-plugin.so \
            libexec/headcrash/headcrash-agent libexec/headcrash/build-guest libexec/headcrash/build-uml libexec/headcrash/uml.config libexec/headcrash/uml-stacks.config libexec/headcrash/package-lists share/man/man1/nbdkit-headcrash-plugin.1 \
            share/headcrash/README.md share/headcrash/docs/first-crash.md share/headcrash/plugin/profiles/drives/hp-c2447.toml share/headcrash/plugin/profiles/examples/two-disks.toml \
            share/headcrash/fs-adapters/linux/ext4.toml share/headcrash/fs-adapters/stacks/md-raid1.toml share/headcrash/fs-adapters/examples/my-ext4.toml \
            share/man/man1/headcrash.1 share/man/man1/headcrash-campaign.1 share/man/man5/headcrash-adapters.5 share/man/man5/headcrash-campaigns.5 \
            share/man/man5/headcrash-profiles.5 share/man/man7/headcrash-faults.7 share/man/man7/headcrash-operations.7 share/man/man7/headcrash-states.7 \
            share/bash-completion/completions/headcrash share/zsh/vendor-completions/_headcrash share/fish/vendor_completions.d/headcrash.fish \
            share/man/man8/mkfs.headcrash-ufs.8 share/man/man8/fsck.headcrash-lfs.8 share/man/man8/mount.headcrash-snapfs.8 \
            share/headcrash/CHANGELOG.md share/headcrash/harness/campaign/campaigns/demo.toml share/headcrash/harness/bench/benches/quick.toml \
            share/headcrash/scripts/examples/check/sqlite/test.sh share/headcrash/scripts/examples/check/lmdb/test.py; do
  [ -s "$prefix/$file" ] || failed "$file is not installed"
done
# The Debian package is built with the libraries that scripts/setup installs.
awk '/^# /{build = /^# Build/} build && $1 ~ /-dev$/ && $1 !~ /^libclang/ {print $1}' "$top/scripts/packages" |
  while read -r package; do
    grep -q "^ *\(Build-Depends: \)\?$package,\?$" "$top/scripts/debian/control" || echo "$package"
  done >missing
[ ! -s missing ] || failed "scripts/debian/control lacks $(cat missing)"
"$prefix/libexec/headcrash/build-guest" --help | says "build-guest" || failed "build-guest --help"

headcrash list profiles | says '^hp-c2447 ' || failed "list profiles"
headcrash list filesystems | says '^ext4 ' || failed "list filesystems"
headcrash campaign demo --plan | says '15 trials' || failed "campaign --plan"
headcrash bench quick --plan >/dev/null || failed "bench --plan"
headcrash simulate --profile raid5-5 --random count=100 | says '^100 requests' || failed "simulate"
exits 0 headcrash campaign ufs-schemes/conventional --shard 1/3000 --db one.db
exits 0 headcrash report --db one.db -o report
[ -s report/report.html ] || failed "no report"
for command in $(headcrash help | awk '/^[A-Z].*:$/ {on = !/^Options/} on && /^  [a-z]/ {print $1}'); do
  [ -s "$prefix/share/man/man1/headcrash-$command.1" ] || failed "headcrash-$command(1) is not installed"
done
exits 0 headcrash init campaign
exits 0 headcrash campaign my-campaign.toml --plan
mkfs.headcrash-ufs --help >/dev/null 2>&1 || [ $? -le 2 ] || failed "mkfs.headcrash-ufs does not run"

headcrash serve --machine "$prefix/share/headcrash/plugin/profiles/examples/two-disks.toml" --clock off --json >serve.json 2>serve.err &
server=$!
for _ in $(seq 400); do
  [ ! -s serve.json ] || break
  kill -0 "$server" 2>/dev/null || failed "serve: $(cat serve.err)"
  sleep 0.05
done
socket=$(sed -n 's/.*"socket": "\(.*\)".*/\1/p' serve.json)
nbdinfo --size "nbd+unix:///disk/log?socket=$socket" | says -x $((64 << 20)) || failed "the installed plugin does not serve"
tr '\0' ' ' </proc/"$(pgrep -P "$server" nbdkit)"/cmdline | says "$prefix/lib/headcrash/nbdkit-headcrash-plugin.so" || failed "another plugin"
kill -INT "$server"
wait "$server" || failed "serve exited with $?"
server=

# a system-wide installation: the plugin is in nbdkit's folder, and nothing is outside DESTDIR
DESTDIR=$scratch/image cmake --install "$build" --prefix /usr/local >installed 2>&1 || failed "cmake --install: $(cat installed)"
! grep -v "$scratch/image/" installed | grep -q '^-- Installing' || failed "something was installed elsewhere: $(cat installed)"
plugins=$(pkg-config --variable=plugindir nbdkit)
cmp "image$plugins/nbdkit-headcrash-plugin.so" "$build/lib/nbdkit-headcrash-plugin.so" || failed "no plugin for nbdkit itself"
"image/usr/local/bin/headcrash" list profiles | says '^hp-c2447 ' || failed "the command under DESTDIR"
nbdkit -U - "image$plugins/nbdkit-headcrash-plugin.so" profile=hp-c2447 size=512M --run 'nbdinfo --size "$uri"' | says -x $((512 << 20)) ||
  failed "the plugin under DESTDIR"
echo "install: all as it should be"

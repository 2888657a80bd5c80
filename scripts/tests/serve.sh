#!/usr/bin/env bash
# headcrash serve: data stays in the store, a cut loses unflushed data, standard NBD tools work, and Ctrl-C leaves nothing
# behind.
. "$(dirname "$0")/lib.sh"
cd "$scratch"

start() {
  rm -f serve.json   # of an earlier server: it would be read before the new one has emptied it
  "$headcrash" serve --profile hp-c2447 --clock off --json "$@" >serve.json 2>serve.err &
  server=$!
  for _ in $(seq 200); do
    [ -s serve.json ] && return
    kill -0 "$server" 2>/dev/null || failed "serve ended: $(cat serve.err)"
    sleep 0.05
  done
  failed "serve printed nothing"
}
stop() {
  kill -INT "$server"
  wait "$server" || failed "serve exited with $?"
  server=
}
field() { sed -n "s/.*\"$1\": \"\\(.*\\)\".*/\\1/p" serve.json; }

start --size 64M --store disk --record one.hcrec
socket=$(field socket)
nbdinfo --size "nbd+unix:///?socket=$socket" | says -x $((64 << 20)) || failed "nbdinfo"
nbdinfo --list "nbd+unix:///?socket=$socket" | says 'export="mark"' || failed "the mark export is not listed"
head -c 4M /dev/urandom >data
truncate -s 64M data
nbdcopy --flush data "nbd+unix:///?socket=$socket"
stop
[ ! -e "$socket" ] || failed "the socket was left behind"

start --size 64M --store disk
nbdcopy "nbd+unix:///?socket=$(field socket)" - | cmp - data || failed "the store did not keep the bytes"
qemu-img info --image-opts "driver=nbd,server.type=unix,server.path=$(field socket)" >/dev/null || failed "qemu-img"
qemu-img bench -q -c 200 -d 8 -s 4096 -w --image-opts "driver=nbd,server.type=unix,server.path=$(field socket)" >/dev/null || failed "qemu-img bench"
stop

# serve reports the power cut and the return of power
start --size 64M --control told.control
echo '{"power":"cut"}' | socat - UNIX-CONNECT:told.control | says '"ok":true' || failed "cut"
for _ in $(seq 100); do ! says 'The power was cut at' <serve.err || break; sleep 0.05; done
! says 'The power is on' <serve.err || failed "on too early: $(cat serve.err)"
echo '{"power":"on"}' | socat - UNIX-CONNECT:told.control | says '"ok":true' || failed "on"
for _ in $(seq 100); do ! says 'The power is on' <serve.err || break; sleep 0.05; done
[ "$(grep -c 'The power' serve.err)" = 2 ] || failed "cut and return are not reported once each: $(cat serve.err)"
stop

start --size 64M --store other
refuses 2 other -- "$headcrash" serve --size 64M --store other
stop
refuses 2 store.json sectors -- "$headcrash" serve --size 32M --store other

# sockets chosen by the user: removed at the end, rejected while a server listens, replaced after a killed server
start --size 64M --socket own.sock --control own.control
[ "$(field socket)" = "$PWD/own.sock" ] || failed "another socket: $(cat serve.json)"
refuses 2 own.sock "another server listens on it" -- timeout 20 "$headcrash" serve --size 64M --socket own.sock
refuses 2 own.control "another server listens on it" -- timeout 20 "$headcrash" serve --size 64M --control own.control
nbdinfo --size "nbd+unix:///?socket=own.sock" | says -x $((64 << 20)) || failed "the refused one disturbed the server"
stop
[ ! -e own.sock ] && [ ! -e own.control ] || failed "sockets were left behind: $(ls)"
start --size 64M --socket own.sock --control own.control
kill_server || failed "serve had ended: $(cat serve.err)"
[ -S own.sock ] || failed "a killed server was expected to leave its socket"
start --size 64M --socket own.sock --control own.control
nbdinfo --size "nbd+unix:///?socket=own.sock" | says -x $((64 << 20)) || failed "a dead server's socket"
stop
[ ! -e own.sock ] || failed "the socket was left behind"
refuses 2 "too long for a Unix socket" -- timeout 20 "$headcrash" serve --size 64M --socket "$(printf 'x%.0s' {1..120}).sock"

# QEMU accepts the printed options: a paused machine with the disk
"$headcrash" serve --size 64M --clock off --profile hp-c2447 -- timeout 5 qemu-system-x86_64 -accel tcg -M q35 -m 64 -S -display none -nodefaults 2>qemu.err || [ $? -eq 124 ] ||
  failed "QEMU refused the printed options: $(cat qemu.err)"
echo "serve: all as it should be"

# Starts a server in the current folder, and waits until it answers. The argument is the value of appendfsync.
redis-server --bind 127.0.0.1 --port 6399 --save '' --appendonly yes --appendfsync "$1" >&2 &
redis() { redis-cli -h 127.0.0.1 -p 6399 "$@"; }
until [ "$(redis ping 2>&1)" = PONG ]; do kill -0 $! || exit 1; sleep 0.1; done

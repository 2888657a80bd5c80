# Serves a disk for a solution, until the solution ends. Sets folder (scratch), disk (its address for qemu-io), and control.
#   serve OPTION...     options of headcrash serve; returns when the disk is ready
#   control MESSAGE     sends a message, and prints the answer
folder=$(mktemp -d) || exit 2
disk="nbd+unix:///?socket=$folder/disk.nbd"
control() { echo "$1" | socat - "UNIX-CONNECT:$folder/disk.control"; }
serve() {
  headcrash serve "$@" --socket "$folder/disk.nbd" --control "$folder/disk.control" >"$folder/serve.out" &
  server=$!
  trap 'kill -INT "$server"; wait "$server"; rm -r "$folder"' EXIT
  until control '{"power":"status"}' >"$folder/status" 2>&1 && [ -s "$folder/status" ]; do
    kill -0 "$server" || { trap - EXIT; exit 2; }
    sleep 0.1
  done
}

# Cuts the power of a RAID-5 during a small write, fails member 1, and reads its data, which was not overwritten.
#   sh write-hole.sh PROFILE SECTOR     cuts when sector SECTOR of member 4, which has the parity, is half written
# Exit code 0: the data is intact; 1: the data is damaged; 2: error of the exercise.
profile=$1 sector=$2
. "$(dirname "$0")/serve.sh"
serve --profile "$profile" --size 32M --write-cache off
qemu-io -t writeback -f raw "$disk" -c 'write -P 0x41 0 256k' -c flush || exit 2
sleep 1   # an array with a log still copies the data from the log to its place
control "{\"power\":\"cut\",\"when\":\"at-lba:hd0.4/$sector\"}"
qemu-io -t writeback -f raw "$disk" -c 'write -P 0x42 0 4k'   # an array with a log acknowledges it before the cut
printf '{"power":"wait-cut","timeout_ms":3000}\n' | socat -t 5 - "UNIX-CONNECT:$folder/disk.control" | grep '"off"' ||
  { echo "the power was not cut: sector $sector was not written"; exit 2; }
control '{"power":"on"}'
qemu-io -f raw "$disk" -c 'read 0 4k' || exit 2   # waits until the array has started
control '{"array":"fail","member":1}'
qemu-io -f raw "$disk" -c 'read -P 0x41 64k 64k'

# Writes A, flushes, writes B and C, and loses power when C has been acknowledged. Prints the letters that survive.
#   sh first-cut.sh on|off     with the disk's volatile write cache on or off
. "$(dirname "$0")/serve.sh"
serve --profile hp-c2447 --size 64M --write-cache "$1" --cut after-writes:3
qemu-io -t writeback -f raw "$disk" -c 'write -P 0x41 0 4k' -c flush -c 'write -P 0x42 1M 4k' -c 'write -P 0x43 2M 4k' >"$folder/out" || exit 2
control '{"power":"on"}' >"$folder/out"
survivors=
qemu-io -f raw "$disk" -c 'read -P 0x41 0 4k' >"$folder/out" && survivors="${survivors}A"
qemu-io -f raw "$disk" -c 'read -P 0x42 1M 4k' >"$folder/out" && survivors="${survivors}B"
qemu-io -f raw "$disk" -c 'read -P 0x43 2M 4k' >"$folder/out" && survivors="${survivors}C"
echo "survivors: $survivors"

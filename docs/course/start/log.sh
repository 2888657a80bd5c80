# A log in the file "logfile", which exists and has 8 blocks of 4096 bytes. Block 0 has the number of records, and block 2N
# has record N.
#   sh log.sh append       appends records 1 to 3; prints "appended N" when record N is durable
#   sh log.sh recover N    prints the body of record N; exits with 1 if the log has no record N

put() { dd of=logfile bs=4096 seek="$1" conv=sync,notrunc iflag=fullblock status=none; }   # standard input into a block
get() { dd if=logfile bs=4096 skip="$1" count=1 status=none | tr -d '\0'; }   # a block to standard output

append() {
  for n in 1 2 3; do
    seq "$n" "$((n + 300))" | put "$((2 * n))"
    echo "$n" | put 0
    sync logfile
    echo "appended $n"
  done
}

recover() {
  count=$(get 0)
  [ "$1" -le "${count:-0}" ] || exit 1
  get "$((2 * $1))"
}

"$@"

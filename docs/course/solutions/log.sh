# A log in the file "logfile", which exists and has 8 blocks of 4096 bytes. Block 2N has record N: a line with the number and
# a checksum of number and body, then the body. A record without a valid checksum does not exist.
#   sh log.sh append       appends records 1 to 3; prints "appended N" when record N is durable
#   sh log.sh recover N    prints the body of record N; exits with 1 if the log has no record N

put() { dd of=logfile bs=4096 seek="$1" conv=sync,notrunc iflag=fullblock status=none; }   # standard input into a block
get() { dd if=logfile bs=4096 skip="$1" count=1 status=none | tr -d '\0'; }   # a block to standard output
sum() { printf '%s\n%s\n' "$1" "$2" | cksum | cut -d ' ' -f 1; }   # of a record's number and body

append() {
  for n in 1 2 3; do
    body=$(seq "$n" "$((n + 300))")
    printf 'record %s %s\n%s\n' "$n" "$(sum "$n" "$body")" "$body" | put "$((2 * n))"
    sync logfile
    echo "appended $n"
  done
}

recover() {
  record=$(get "$((2 * $1))")
  body=$(echo "$record" | tail -n +2)
  [ "$(echo "$record" | head -n 1)" = "record $1 $(sum "$1" "$body")" ] || exit 1
  echo "$body"
}

"$@"

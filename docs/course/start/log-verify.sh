# Recovers the log and checks that it has every promised record, and that each recovered record is whole. The argument is
# log.sh. Standard input has the lines that log.sh had printed before the power cut.
promised=$(tail -n 1 | cut -d ' ' -f 2)
for n in 1 2 3; do
  if body=$(sh "$1" recover "$n"); then
    [ "$body" = "$(seq "$n" "$((n + 300))")" ] || { echo "record $n is damaged; ${promised:-none} was promised"; exit 1; }
  elif [ "$n" -le "${promised:-0}" ]; then
    echo "record $n is missing; $promised was promised"
    exit 1
  fi
done

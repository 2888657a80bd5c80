#!/bin/sh
# Checks that the table of results/reference/findings matches its kernels.csv: each cell of a kernel, and each line of the
# file.
#
#   findings_table.sh README.md kernels.csv
#
# A row begins with lists in backquotes, then the adapter in backquotes and, if the campaign's cell has one, its variant.
set -eu
awk -F'|' -v csv="$2" '
  function words(cell, into,   n, rest) {        # words in backquotes
    n = 0
    for (rest = cell; match(rest, /`[^`]*`/); rest = substr(rest, RSTART + RLENGTH))
      into[++n] = substr(rest, RSTART + 1, RLENGTH - 2)
    return n
  }
  function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
  function wrong(text) { print FILENAME ":" FNR ": " text; bad = 1 }
  BEGIN {
    while ((getline line < csv) > 0) {
      gsub(/"/, "", line)
      split(line, field, ",")
      if (field[1] == "filesystem") continue
      at = field[1] " " field[2] " " field[3]
      told[at] = field[4] ~ /^(clean|replayed)$/ ? "clean" : field[4] == "repaired-by-fsck" ? "damaged" : field[4] == "harness-error" ? "not judged" : "lost"
      verdict[at] = field[4]
      lines++
    }
  }
  /^\| list \| adapter \|/ { for (i = 2; i <= NF; i++) if (trimmed($i) ~ /^[0-9]/) kernel[i] = trimmed($i); in_table = 1; next }
  /^\|-/ { next }
  !/^\|/ { in_table = 0 }
  in_table {
    rows++
    split("", lists); split("", adapter)
    n = words($2, lists); m = words($3, adapter)
    if ($2 ~ /linux-holes/) next                 # another campaign
    if (n == 0 || m == 0) { wrong("a row names lists and an adapter in backquotes"); next }
    for (i in kernel) {
      cell = trimmed($i)
      sub(/ \([0-9]+\)$/, "", cell)
      if (cell == "not run" || cell == "removed from Linux") cell = ""
      for (l = 1; l <= n; l++) {
        at = adapter[1] "@" kernel[i] " " lists[l] " " (m > 1 ? adapter[2] : "")
        if (cell == "both" && verdict[at] == "non-atomic-rename" || cell == "damaged" && verdict[at] == "repaired-by-fsck") { seen[at] = 1; continue }
        if (cell != (at in told ? told[at] : ""))
          wrong(at ": the table says \"" cell "\", the campaign \"" (at in told ? told[at] : "nothing") "\"")
        if (at in told && !(at in seen)) seen[at] = 1
      }
    }
  }
  END {
    for (at in told) if (!(at in seen)) wrong("no row has \"" at "\", " told[at])
    if (rows == 0 || lines == 0) wrong("there is no table, or no line in " csv)
    if (!bad) print "findings_table: " rows " rows say what " lines " lines of the campaign say"
    exit bad
  }' "$1"

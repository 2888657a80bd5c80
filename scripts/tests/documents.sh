#!/usr/bin/env bash
# Runs every command in the documents and help texts as printed, in order, in a scratch folder with the tree's folders and
# the build as build/release. documents.table has exceptions: prerequisites, exit codes other than 0, background commands,
# and short forms of long commands or tests that run them, each with its reason. Failures are: a failing command, an entry
# for a command that is no longer printed, and a reference to a test that does not run it.
#
#   documents.sh BUILD-FOLDER plain|guest [DOCUMENT]     guest: the commands that need one; else all others
. "$(dirname "$0")/lib.sh"
part=$2 only=${3:-}
tests=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$tests/../.." && pwd)
build=$(cd "$build" && pwd)
headcrash=$build/bin/headcrash
export TMPDIR=$scratch/tmp PATH=$PATH:/usr/sbin:/sbin
mkdir "$TMPDIR" "$scratch/bin"
# nbdkit as if the plugin were installed. It ends with this test, and uses no TCP port.
cat >"$scratch/bin/nbdkit" <<END
#!/bin/bash
words=() unix=no
for word in "\$@"; do
  [ "\$word" != headcrash ] || word=$build/lib/nbdkit-headcrash-plugin.so
  case \$word in -U) unix=yes ;; esac
  words+=("\$word")
done
rm -f "$TMPDIR/default.nbd"   # nbdkit leaves it behind
[ \$unix = yes ] || words=(-U "$TMPDIR/default.nbd" "\${words[@]}")
PATH=\${PATH#*:} exec nbdkit --pidfile "$TMPDIR/nbdkit.pid" "\${words[@]}"
END
# Scripts expect a build in build/release, so it refers to the tested build.
cat >"$scratch/bin/cmake" <<'END'
#!/bin/bash
[[ " $* " == *" --preset release "* ]] || { echo "cmake $*: is not run by this test" >&2; exit 1; }
END
chmod +x "$scratch/bin"/*

declare -A entry     # of "DOCUMENT COMMAND": its lines
declare -A used
declare -A before    # of a document: commands, a line each
read_table() {
  local line document= command=
  while IFS= read -r line; do
    case $line in
      '' | '#'*) ;;
      '= '*) document=${line#= } command= ;;
      'before '*) before[$document]+="${line#before }"$'\n' ;;
      'command '*) command=${line#command } entry["$document $command"]=" " ;;
      '  '*) [ -n "$command" ] || failed "documents.table: \"$line\" belongs to no command"
             entry["$document $command"]+=$'\n'"${line#  }" ;;
      *) failed "documents.table: \"$line\" is not understood" ;;
    esac
  done <"$tests/documents.table"
}
# field NAME: prints the rest of the entry's line that begins with NAME; fails if there is no such line.
field() {
  local line
  while IFS= read -r line; do
    case $line in "$1" | "$1 "*) line=${line#"$1"}; printf '%s' "${line# }"; return 0 ;; esac
  done <<<"$lines"
  return 1
}

markdown() { awk -f "$tests/documents.awk" "$top/$1"; }
# The examples in the help of every command and subcommand.
help_texts() {
  local command
  {
    "$headcrash" --help | awk '/^[A-Z].*:$/ {on = !/^Options/} on && /^  [a-z]/ {print $1}' | while read -r command; do
      echo "$command"
      "$headcrash" "$command" --help | awk -v command="$command" '/^Subcommands:$/ {on = 1} /^$/ {on = 0} on && /^  [a-z]/ {print command, $1}'
    done
  } | while read -r command; do
    # shellcheck disable=SC2086  # a command and perhaps its subcommand
    "$headcrash" $command --help | awk '/^Examples:/ {on = 1; next} /^$/ {on = 0} on && /^  [a-z]/ {sub(/^  /, ""); sub(/ +# .*/, ""); printf "%s\036", $0}'
  done | awk 'BEGIN {RS = ORS = "\036"} !seen[$0]++'   # subcommands share help texts
}
# Verbatim paragraphs of the man page that begin with a command, except the synopsis.
manual() {
  awk '/^=head1/ {synopsis = /SYNOPSIS/} /^ / && !synopsis { sub(/^ /, ""); pending = pending == "" ? $0 : pending "\n" $0; next }
       function out(   n, i, lines, command, until_line) {
         if (pending !~ /^(nbdkit|nbdcopy|qemu|fio|echo|cat|headcrash|socat) /) { pending = ""; return }
         n = split(pending, lines, "\n")
         for (i = 1; i <= n; ++i) {
           command = command == "" ? lines[i] : command "\n" lines[i]
           if (until_line != "" && lines[i] != until_line) continue
           if (until_line == "" && match(lines[i], /<<\047?[A-Z]+/)) { until_line = substr(lines[i], RSTART + 2); gsub(/[^A-Z]/, "", until_line); continue }
           until_line = ""
           if (lines[i] ~ /\\$/) continue
           if (i < n && lines[i + 1] ~ /^  /) continue
           printf "%s\036", command
           command = ""
         }
         pending = ""
       }
       !/^ / {if (pending != "") out()} END {if (pending != "") out()}' "$top/plugin/servers/nbd/nbdkit-headcrash-plugin.pod"
}
# The requests of the control socket without placeholders.
requests() {
  grep -o '`{[^`]*}`' "$top/plugin/servers/nbd/CONTROL.md" | tr -d '`' | grep -vE '\.\.|\\?\||:(N|L)\b|KIND|NAME|"ok"' | sort -u |
    while IFS= read -r request; do printf "echo '%s' | socat - UNIX-CONNECT:control.sock\036" "$request"; done
}

end_servers() {
  local pid
  [ -z "$server" ] || { kill -INT "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; server=; }
  # nbdkit's command ends before its server has written the file.
  for _ in $(seq 200); do [ ! -s "$TMPDIR/nbdkit.pid" ] && pgrep -f -- "--pidfile $TMPDIR/nbdkit.pid" >/dev/null || break; sleep 0.05; done
  if [ -e "$TMPDIR/nbdkit.pid" ]; then
    pid=$(cat "$TMPDIR/nbdkit.pid")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$pid" 2>/dev/null || break; sleep 0.05; done
    rm -f "$TMPDIR/nbdkit.pid"
    find "$work" -maxdepth 1 -type s -delete
  fi
}
complains() { failed "$document: $printed"$'\n'"$*"$'\n'"$(tail -c 3000 "$scratch/out" "$scratch/err" 2>/dev/null)"; }

# serves COMMAND: starts the command in the background, and waits until it has printed how to attach the disk.
serves() {
  end_servers
  bash -c "$state"$'\n'"exec $1" >"$scratch/out" 2>"$scratch/err" </dev/null &
  server=$!
  for _ in $(seq 600); do
    ! grep -qE 'nbdinfo|^Control socket' "$scratch/out" || { sleep 0.1; return; }
    kill -0 "$server" 2>/dev/null || { server=; complains "the server ended"; }
    sleep 0.05
  done
  complains "it did not begin to serve within 30 s"
}

run_one() {
  local status=0 wanted command client
  command=$(field run) || command=$printed
  command=${command//"/var/tmp/"//tmp/} command=${command//"/tmp/"/"$work/"}
  if field serves >/dev/null || field stays >/dev/null; then
    serves "$command"
    client=$(field serves) || return 0
    local NBD=$(sed -n "s/^  nbdinfo '\\(.*\\)'\$/\\1/p" "$scratch/out" | head -1)
    [ -z "$client" ] || NBD=$NBD timeout 60 bash -c "$client" >"$scratch/client" 2>&1 || complains "the client failed: $(cat "$scratch/client")"
    kill -INT "$server"
    wait "$server" || complains "the server exited with $?"
    server=
    return
  fi
  # The test must not build a kernel, which would need the network and some minutes.
  [[ $command != *'--guest virtual'* || $command == *--plan* ]] || complains "wants a user-mode kernel, which may not be there: documents.table has to say what runs it"
  wanted=$(field exit) || wanted=0
  [[ $command != nbdkit\ * ]] || end_servers
  [[ $command != *socat* ]] || field says >/dev/null || lines+=$'\n''says "ok":true'
  timeout 300 bash -c "$state"$'\n'"$command" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ "$status" = "$wanted" ] || complains "exited with $status, not $wanted"
  while IFS= read -r client; do
    cat "$scratch/out" "$scratch/err" | says -F -- "$client" || complains "does not say \"$client\""
  done < <(sed -n 's/^says //p' <<<"$lines")
}

ran=0 short=0 elsewhere=0 not_run=0
# run_document NAME: runs the document's commands, given on standard input.
run_document() {
  local line by needs
  document=$1
  [ -z "$only" ] || [ "$only" = "$document" ] || return 0
  work=$scratch/$document state= server=
  state='export PATH=$PWD/build/release/bin:'"$scratch/bin:$PATH"
  mkdir -p "$work/build"
  cd "$work"
  for line in plugin fs-adapters harness results scripts docs; do ln -s "$top/$line" "$line"; done
  ln -s "$build" build/release
  mapfile -d $'\036' -t commands
  [ ${#commands[@]} -gt 0 ] || failed "$document has no commands"
  local prepared=no
  for printed in "${commands[@]}"; do
    key="$document ${printed%%$'\n'*}"
    lines=${entry[$key]:-}
    used[$key]=yes
    ! field form >/dev/null || continue
    ! field none >/dev/null || { not_run=$((not_run + 1)); continue; }
    if by=$(field by); then
      grep -qF -- "${by#*: }" "$top/${by%%: *}" || complains "${by%%: *} does not have \"${by#*: }\""
      elsewhere=$((elsewhere + 1))
      continue
    fi
    if [[ $printed =~ ^(export\ |[A-Z]+=) ]]; then
      line=$(field run) || line=$printed
      state+=$'\n'$line
      continue
    fi
    needs=plain
    ! field guest >/dev/null || needs=guest
    [[ $printed != cat\ \>* && $printed != cp\ * && $printed != printf\ * ]] || needs=$part
    [ "$needs" = "$part" ] || continue
    if [ $prepared = no ]; then
      prepared=yes
      while IFS= read -r line; do
        [ -z "$line" ] || { [[ $line == guest\ * ]] && [ "$part" != guest ]; } ||
          timeout 300 bash -c "$state"$'\n'"$(sed "s|/tmp/|$work/|g" <<<"${line#guest }")" >"$scratch/out" 2>"$scratch/err" </dev/null || complains "before: $line"
      done <<<"${before[$document]:-}"
    fi
    [ -z "${VERBOSE:-}" ] || echo "[$SECONDS s] $document: $printed"
    run_one
    if field run >/dev/null; then short=$((short + 1)); else ran=$((ran + 1)); fi
  done
  end_servers
  cd "$scratch"
  ! pgrep -f "$scratch/$document" >/dev/null || failed "$document left behind: $(pgrep -af "$scratch/$document")"
}

read_table
run_document README < <(markdown README.md)
for page in "$top"/docs/*.md "$top"/docs/course/*.md; do
  page=${page#"$top/"} page=${page%.md}
  ! grep -q '^```$' "$top/$page.md" || run_document "$page" < <(markdown "$page.md")
done
run_document HACKING < <(markdown HACKING.md)
run_document ADDING < <(markdown ADDING.md)
run_document WALKTHROUGH < <(markdown fs-adapters/examples/WALKTHROUGH.md)
run_document help < <(help_texts)
run_document manual < <(manual)
run_document CONTROL < <(markdown plugin/servers/nbd/CONTROL.md; requests)
run_document SCHEMA < <(markdown results/db/SCHEMA.md)
if [ -z "$only" ]; then
  for key in "${!entry[@]}"; do [ -n "${used[$key]:-}" ] || failed "documents.table: \"$key\" is printed nowhere"; done
fi
echo "documents, $part: $ran commands as printed, $short in a short form, $elsewhere run by other tests, $not_run not at all"

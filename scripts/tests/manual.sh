#!/usr/bin/env bash
# Manual pages and completions: pages format without warnings and describe all options of the program, and completions offer
# valid next words.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
documents=$build/documents
cd "$scratch"

for page in "$documents"/man?/*; do
  warnings=$(groff -man -Tutf8 -ww -z "$page" 2>&1 || true)
  [ -z "$warnings" ] || failed "$(basename "$page"): $warnings"
done

# has PAGE WORD...: checks that the page contains each of the words.
has() {
  local page=$documents/$1 word
  shift
  [ $# -gt 0 ] || failed "no word is searched for in $page"
  for word in "$@"; do sed 's/\\//g' "$page" | says -F -- "$word" || failed "$(basename "$page") does not have $word"; done
}
# Prints the quoted words in the matching lines of a C++ file.
quoted() { sed -n "$2" "$top/$1" | grep -oE '"[a-z][a-z-]*"' | tr -d '"' | sort -u; }
mapfile -t keys < <(quoted fs-adapters/linux/adapter.cc '/only({/,/})/p')
has man5/headcrash-adapters.5 "${keys[@]}"
mapfile -t keys < <(cat "$top"/harness/campaign/campaigns/{demo,smoke,controls}.toml | grep -v '"""' | grep -oE '^(\[+[a-z]+|[a-z-]+ =)' | tr -d '[ =' | sort -u)
has man5/headcrash-campaigns.5 "${keys[@]}"
mapfile -t kinds < <(sed -n 's|^//   \([a-z-]*-[a-z-]*\|dead\|slow\) .*|\1|p' "$top/plugin/model/faults/faults.h")
has man7/headcrash-faults.7 "${kinds[@]}" battery-dead
mapfile -t words < <(sed -n 's/^ *{Kind::[a-z_]*, "\([a-z-]*\)".*/\1/p' "$top/harness/workload/operation_table.cc")
[ "${#words[@]}" -ge 61 ] || failed "only ${#words[@]} operations are in the table"
has man7/headcrash-operations.7 "${words[@]}"
mapfile -t verdicts < <(quoted harness/oracle/verdict.cc '/names<Verdict>(/,/});/p')
has man7/headcrash-states.7 "${verdicts[@]}"
for command in $("$headcrash" help | awk '/^[A-Z].*:$/ {on = !/^Options/} on && /^  [a-z]/ {print $1}'); do
  mapfile -t options < <("$headcrash" $command --help | grep -oE '^  (-.,)?--[a-z-]+' | grep -oE -- '--[a-z-]+' | grep -vx -- --help)
  [ ${#options[@]} = 0 ] || has "man1/headcrash-$command.1" "${options[@]}"
done

diff "$top/docs/commands.md" "$documents/commands.md" ||
  failed "docs/commands.md is older than the help texts: copy documents/commands.md of the build"

# complete WORD...: prints bash's completions of the last word
offers() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _headcrash
  printf '%s\n' "${COMPREPLY[@]}"
}
PATH=$build/bin:$PATH
source "$documents/bash/headcrash"
set +e   # as in a shell at work
[ "$(offers headcrash cam)" = campaign ] || failed "bash: $(offers headcrash cam)"
[ "$(offers headcrash image ufs mk)" = mkfs ] || failed "bash: $(offers headcrash image ufs mk)"
[ "$(offers headcrash campaign --on)" = --only ] || failed "bash: $(offers headcrash campaign --on)"
[ "$(offers headcrash serve --write-cache o | xargs)" = "on off" ] || failed "bash: $(offers headcrash serve --write-cache o)"
[ "$(offers headcrash list prof)" = profiles ] || failed "bash: $(offers headcrash list prof)"
[ "$(offers headcrash campaign seq1-a)" = seq1-all ] || failed "bash: $(offers headcrash campaign seq1-a)"
touch results.db
[ "$(offers headcrash report --db res)" = results.db ] || failed "bash: $(offers headcrash report --db res)"
for shell in zsh fish; do   # where they are
  ! command -v $shell >/dev/null || $shell -n "$documents/$shell"/*headcrash* || failed "$shell's completion"
done
echo "manual: all as it should be"

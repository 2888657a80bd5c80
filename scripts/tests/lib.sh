# Shared by the end-to-end scripts: a scratch folder that is removed at the end, and three assertions.
# Each script is run as: NAME.sh BUILD-FOLDER
set -euo pipefail
build=$1
headcrash=$build/bin/headcrash
scratch=$(mktemp -d)
trap 'status=$?; trap - EXIT; [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"; exit $status' EXIT

# says [GREP-OPTION] PATTERN: standard input has the pattern. It counts, so that it reads to the end: `grep -q` (and grep into
# /dev/null) closes the pipe at the first hit, and the writer's SIGPIPE would count as a failure under pipefail.
says() { [ "$(grep -c "$@")" != 0 ]; }

failed() { echo "FAILED: $*" >&2; exit 1; }

# exits CODE COMMAND...: checks that the command exits with CODE; its output is in the files out and err.
exits() {
  local code=$1 status=0
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [ "$status" -eq "$code" ] || failed "$* gave exit code $status, not $code: $(cat "$scratch/out" "$scratch/err")"
}

# kill_server: kills the server, like a power cut. None of its processes may survive. Fails if it had ended before.
kill_server() {
  local ended=0
  kill -KILL "$server" 2>/dev/null || ended=1
  wait "$server" 2>/dev/null || true
  server=
  sleep 1
  ! pgrep -f "$scratch" >/dev/null || failed "processes were left behind: $(pgrep -af "$scratch")"
  return "$ended"
}

# refuses CODE WORD... -- COMMAND...: the command exits with CODE, and its one line on standard error has every WORD.
refuses() {
  local code=$1 words=() status=0
  shift
  while [ "$1" != -- ]; do words+=("$1"); shift; done
  shift
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ "$status" -eq "$code" ] || failed "$* exited with $status, not $code: $(cat "$scratch/err")"
  for word in "${words[@]}"; do
    grep -qF -- "$word" "$scratch/err" "$scratch/out" || failed "$* does not say \"$word\": $(cat "$scratch/err")"
  done
  ! grep -qE 'terminate called|Sanitizer|Assertion' "$scratch/err" || failed "$* crashed: $(cat "$scratch/err")"
}

# The commands of a Markdown document, each ended by the byte 036: the lines of fenced blocks that name no language, with
# here-documents and continued lines as one command, and text between backticks that looks like a command.
function emit(command) { sub(/[ \t]+#[ \t].*$/, "", command); sub(/[ \t]+$/, "", command); if (command != "") printf "%s\036", command }
function inline(text,   span, word) {
  while (match(text, /`[^`]+`/)) {
    span = substr(text, RSTART + 1, RLENGTH - 2)
    text = substr(text, RSTART + RLENGTH)
    if (span ~ /^(sudo )?(headcrash|cmake|ctest|nbdkit) [^ ]/ || span ~ /^[a-z][a-z-]*\/[^ ]+ -?[^ ]/) emit(span)
  }
}
/^ *```/ {
  if (fenced) { fenced = 0; next }
  fenced = 1
  commands = ($0 ~ /^ *```$/)
  match($0, /^ */); indent = RLENGTH
  pending = ""; until_line = ""
  next
}
!fenced { inline($0); next }
!commands { next }
{
  line = substr($0, indent + 1)
  if (until_line != "") {
    pending = pending "\n" line
    if (line == until_line) { printf "%s\036", pending; pending = ""; until_line = "" }
    next
  }
  if (line ~ /^[ \t]*(#.*)?$/) next
  pending = pending == "" ? line : pending "\n" line
  if (match(line, /<<'?[A-Z]+'?/)) { until_line = substr(line, RSTART + 2, RLENGTH - 2); gsub(/'/, "", until_line); next }
  if (line ~ /\\$/) next
  if (pending ~ /\n/) printf "%s\036", pending; else emit(pending)
  pending = ""
}

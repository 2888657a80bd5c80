#!/usr/bin/env bash
# Of a campaign of power cuts on lfs with segments of 64 KiB on 8 MiB (guest.toml beside it): where in the cleaner's work each cut came.
#   cut-in-cleaning.sh DATABASE.db
# The cleaner is who reads whole segments (from sector 128 on, 128 sectors each); a pass ends with a checkpoint region, before them.
set -euo pipefail
database=$1
artefacts=${database%.db}.artefacts/run-1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sqlite3 -separator ' ' "$database" 'SELECT key, (SELECT sum(model_ms) FROM phase WHERE trial_id = trial.id AND ordinal <= 2), verdict FROM trial' |
  while read -r key ms verdict; do
    rm -f "$scratch/events"
    headcrash recording export "$artefacts/${key//\//.}/recording.hcrec" --format blkparse -o "$scratch/events" >"$scratch/out"
    awk -v cut="$ms" -v key="$key" -v verdict="$verdict" '
      $6 == "D" && $4 * 1000 <= cut {
        if ($7 ~ /W/ && $8 > 16 && $8 < 128) { if (read) ++passes; read = written = 0 }
        else if ($7 ~ /W/ && read) ++written
        else if ($7 ~ /R/ && $8 >= 128 && $10 == 128) ++read
      }
      END { printf "%-36s cut at %6.3f s after %2d passes, in the next one: %2d segments read, %d requests written since; %s\n", key, cut / 1000, passes, read, written, verdict }' "$scratch/events"
  done

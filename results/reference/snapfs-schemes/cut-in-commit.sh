#!/usr/bin/env bash
# Of a campaign of power cuts on snapfs (guest.toml beside it): where in the commit of a generation each cut came.
#   cut-in-commit.sh DATABASE.db
# Superblocks lie at sectors 8 and 16, four sectors each; everything else that is written belongs to a generation whose superblock comes
# after it.
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
      $6 == "D" && $7 ~ /W/ && $10 > 0 && $4 * 1000 <= cut {
        if (($8 == 8 || $8 == 16) && $10 == 4) { ++commits; written = sectors = 0 } else { ++written; sectors += $10 }
      }
      END { printf "%-32s cut at %6.3f s after %3d commits; of the next generation %3d requests, %4d sectors were written; %s\n", key, cut / 1000, commits, written, sectors, verdict }' "$scratch/events"
  done

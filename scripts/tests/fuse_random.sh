#!/usr/bin/env bash
# Random operations of several users through FUSE, on a log-structured file system that is nine tenths full and whose cleaner never
# rests, each beside its reference. Mounts on this machine: takes root and /dev/fuse.
#
#   scripts/tests/fuse_random.sh [BUILD [SECONDS [FIRST-SEED]]]      default: build/dev, 60 seconds, seed 1
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev} seconds=${2:-60} seed=${3:-1}
if [ ! -w /dev/fuse ] || [ "$(id -u)" != 0 ]; then
  echo "fuse_random: nothing can be mounted here: this takes root and /dev/fuse" >&2
  exit 77
fi
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi   # an image in memory
HEADCRASH_FUSE_SECONDS=$seconds HEADCRASH_FUSE_BIN=$(realpath "$build/bin") HEADCRASH_SEEDS_FROM=$seed \
  "$build/bin/headcrash_fuse_random_test"

#!/usr/bin/env bash
# Random operations of several users through FUSE, each compared with a reference: on lfs with a disk 90 % full and a busy
# cleaner, or on snapfs with a disk 95 % full. Mounts on this machine: needs root and /dev/fuse.
#
#   scripts/tests/fuse_random.sh [BUILD [SECONDS [FIRST-SEED [TYPE]]]]      default: build/dev, 60 seconds, seed 1, lfs
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/dev} seconds=${2:-60} seed=${3:-1} type=${4:-lfs}
if [ ! -w /dev/fuse ] || [ "$(id -u)" != 0 ]; then
  echo "fuse_random: cannot mount here: needs root and /dev/fuse" >&2
  exit 77
fi
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi   # an image in memory
HEADCRASH_FUSE_SECONDS=$seconds HEADCRASH_FUSE_BIN=$(realpath "$build/bin") HEADCRASH_SEEDS_FROM=$seed HEADCRASH_FUSE_TYPE=$type \
  "$build/bin/headcrash_fuse_random_test"

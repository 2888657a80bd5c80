#!/bin/sh
. "${0%/*}/postgres.sh"
chown postgres .
as_postgres initdb --no-sync --wal-segsize=1 --no-instructions -A trust -D data

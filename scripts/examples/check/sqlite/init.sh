#!/bin/sh
sqlite3 test.db "PRAGMA journal_mode = $1; CREATE TABLE entry (n INTEGER)"

#!/bin/sh
# A table of 12 rows, each on a page of its own.
sqlite3 test.db "PRAGMA journal_mode = $1; CREATE TABLE entry (n INTEGER, text TEXT);
WITH RECURSIVE row(i) AS (SELECT 1 UNION SELECT i + 1 FROM row WHERE i < 12)
INSERT INTO entry SELECT 0, replace(hex(zeroblob(1500)), '0', 'a') FROM row"

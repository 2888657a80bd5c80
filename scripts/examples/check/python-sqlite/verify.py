#!/usr/bin/python3
# The database must be intact and contain every promised row.
import sqlite3
import sys

promised = {int(line.split()[1]) for line in sys.stdin}
if promised:
    database = sqlite3.connect("test.db")
    health = database.execute("PRAGMA integrity_check").fetchall()
    rows = {n for (n,) in database.execute("SELECT n FROM entry")}
    if health != [("ok",)]:
        sys.exit(f"the database is damaged: {health[0][0]}")
    if promised - rows:
        sys.exit(f"rows are gone: {sorted(promised - rows)}")

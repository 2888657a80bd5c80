#!/usr/bin/python3
# Commits eight transactions with Python's sqlite3. The argument is the value of PRAGMA synchronous.
# packages: python3-minimal libpython3-stdlib
# kept, any on f2fs: headcrash check --verify ./verify.py -- ./test.py EXTRA
# lost: headcrash check --verify ./verify.py -- ./test.py FULL
import sqlite3
import sys

database = sqlite3.connect("test.db")
database.execute(f"PRAGMA synchronous = {sys.argv[1]}")
database.execute("CREATE TABLE entry (n INTEGER)")
for n in range(1, 9):
    with database:
        database.execute("INSERT INTO entry VALUES (?)", (n,))
    print("committed", n)

#!/usr/bin/python3
# Writes eight records with LevelDB. With the argument "sync" each write is synchronous.
# packages: python3-plyvel
# kept, any on f2fs: headcrash check --verify ./verify.py -- ./test.py sync
# lost: headcrash check --verify ./verify.py -- ./test.py
import sys

import plyvel

database = plyvel.DB("data", create_if_missing=True)
for n in range(1, 9):
    database.put(b"record %d" % n, b"value %d" % n, sync="sync" in sys.argv)
    print("committed", n)

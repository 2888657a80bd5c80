#!/usr/bin/python3
# Commits eight transactions with LMDB. With the argument "nosync" the flag MDB_NOSYNC is set.
# packages: python3-lmdb
# kept, any on f2fs: headcrash check --verify ./verify.py -- ./test.py
# lost: headcrash check --verify ./verify.py -- ./test.py nosync
import sys

import lmdb

database = lmdb.open("data", map_size=1 << 20, sync="nosync" not in sys.argv)
for n in range(1, 9):
    with database.begin(write=True) as transaction:
        transaction.put(b"record %d" % n, b"value %d" % n)
    print("committed", n)

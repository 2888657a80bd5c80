#!/usr/bin/python3
# The database must contain every promised record.
import sys

import lmdb

promised = [int(line.split()[1]) for line in sys.stdin]
if promised:
    with lmdb.open("data", map_size=1 << 20).begin() as transaction:
        for n in promised:
            if transaction.get(b"record %d" % n) != b"value %d" % n:
                sys.exit(f"record {n} is gone")

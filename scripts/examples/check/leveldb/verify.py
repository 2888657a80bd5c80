#!/usr/bin/python3
# The database must contain every promised record.
import sys

import plyvel

promised = [int(line.split()[1]) for line in sys.stdin]
if promised:
    database = plyvel.DB("data")
    for n in promised:
        if database.get(b"record %d" % n) != b"value %d" % n:
            sys.exit(f"record {n} is gone")

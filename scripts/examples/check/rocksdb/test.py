#!/usr/bin/python3
# Writes five records with the C interface of RocksDB. With the argument "sync" WriteOptions::sync is set.
# packages: rocksdb-tools librocksdb7.8|librocksdb9.10
# kept, any on f2fs: headcrash check --verify ./verify.sh -- ./test.py sync
import ctypes
import glob
import sys

rocksdb = ctypes.CDLL(glob.glob("/usr/lib/*/librocksdb.so.*")[0])
for function in "options_create", "writeoptions_create", "open":
    getattr(rocksdb, "rocksdb_" + function).restype = ctypes.c_void_p
error = ctypes.c_char_p()
options = ctypes.c_void_p(rocksdb.rocksdb_options_create())
rocksdb.rocksdb_options_set_create_if_missing(options, 1)
rocksdb.rocksdb_options_set_write_buffer_size(options, ctypes.c_size_t(1000000))  # fits on a small disk
database = ctypes.c_void_p(rocksdb.rocksdb_open(options, b"data", ctypes.byref(error)))
write = ctypes.c_void_p(rocksdb.rocksdb_writeoptions_create())
rocksdb.rocksdb_writeoptions_set_sync(write, "sync" in sys.argv)
for n in range(1, 6):
    key, value = b"record%d" % n, b"value%d" % n
    rocksdb.rocksdb_put(database, write, key, ctypes.c_size_t(len(key)), value, ctypes.c_size_t(len(value)),
                        ctypes.byref(error))
    if error.value:
        sys.exit(error.value.decode())
    print("committed", n)
rocksdb.rocksdb_close(database)

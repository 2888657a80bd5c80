#!/usr/bin/env python3
"""Prints the tree of a UFS image as read by the third-party library dissect.ffs: one line per name, sorted.

Lines consist of TYPE PATH LINKS SIZE DIGEST; DIGEST is the FNV-1a of a regular file's bytes or of a link's target.
independent_test.cc compares the output with that of headcrash's reader. Exits with 77 if dissect.ffs is not installed.
"""
import stat
import sys

try:
    from dissect.ffs import FFS
except ImportError:
    sys.exit(77)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def walk(node, path):
    for entry in node.iterdir():
        if entry.name in (".", "..") or entry.inum == 0:
            continue
        yield path + entry.name, entry
        if entry.is_dir():
            yield from walk(entry, path + entry.name + "/")


with open(sys.argv[1], "rb") as image:
    lines = []
    for path, entry in walk(FFS(image).root, ""):
        kind = {stat.S_IFDIR: "d", stat.S_IFREG: "f", stat.S_IFLNK: "l"}[stat.S_IFMT(entry.inode.di_mode)]
        data = entry.open().read(min(entry.size, 1 << 20)) if kind == "f" else entry.link.encode() if kind == "l" else b""
        lines.append(f"{kind} {path} {entry.inode.di_nlink} {entry.size} {fnv(data):016x}")
    print("\n".join(sorted(lines)))

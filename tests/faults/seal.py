#!/usr/bin/env python3
"""seal.py FILE... - seals results again that something has changed on purpose, so that tlmpi reads them all the same.

The seal is that of src/store/seal.h, and the hash that of src/base/hash.c, built a second time.
"""

import os
import struct
import sys

SEAL, BLOCK, WORD = 512, 64 << 10, (1 << 64) - 1
ROOT2, ROOT3, ROOT5, ROOT7 = 0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1


def fold(a, b):
    product = a * b
    return (product & WORD) ^ (product >> 64)


def hash_bytes(data):
    n = len(data)
    seed, a, b = ROOT2, 0, 0
    if n > 16:
        many = (n - 1) // 48 if n > 48 else 0
        words = struct.unpack("<%dQ" % (6 * many), data[:48 * many])
        if many:
            seed1 = seed2 = seed
            for i in range(0, 6 * many, 6):
                seed = fold(words[i] ^ ROOT3, words[i + 1] ^ seed)
                seed1 = fold(words[i + 2] ^ ROOT5, words[i + 3] ^ seed1)
                seed2 = fold(words[i + 4] ^ ROOT7, words[i + 5] ^ seed2)
            seed ^= seed1 ^ seed2
        at = 48 * many
        while n - at > 16:
            x, y = struct.unpack_from("<QQ", data, at)
            seed = fold(x ^ ROOT3, y ^ seed)
            at += 16
        a, b = struct.unpack("<QQ", data[-16:])
    elif n >= 8:
        a, b = struct.unpack("<Q", data[:8])[0], struct.unpack("<Q", data[-8:])[0]
    elif n >= 4:
        a, b = struct.unpack("<I", data[:4])[0], struct.unpack("<I", data[-4:])[0]
    elif n > 0:
        a = data[0] << 16 | data[n // 2] << 8 | data[-1]
    return fold(ROOT3 ^ n, fold(a ^ ROOT5, b ^ seed))


def scatter(v):
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9 & WORD
    v = (v ^ v >> 27) * 0x94d049bb133111eb & WORD
    return v ^ v >> 31


def mix(value, more):
    return scatter(((value << 23 | value >> 41) & WORD) * ROOT7 + scatter(more + ROOT3 & WORD) & WORD)


def seal(path):
    total = 0
    with open(path, "r+b") as f:
        f.seek(SEAL)
        while True:
            block = f.read(BLOCK)
            total = mix(total, hash_bytes(block))
            if len(block) < BLOCK:
                break
        f.seek(0)
        f.write((b"tlmpi result, %d bytes, checksum %016x\n" % (os.path.getsize(path), total)).ljust(SEAL, b"\0"))


if __name__ == "__main__":
    for file in sys.argv[1:]:
        seal(file)

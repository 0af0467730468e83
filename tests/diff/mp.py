# SPDX-License-Identifier: MIT
"""MessagePack, as little as the checks need: the values of Python, and
extensions as Ext."""
import collections
import struct

Ext = collections.namedtuple("Ext", "code data")


def head(n, small, small_max, codes):
    """The head of n bytes or items: one byte, or a code with a length."""
    if n <= small_max:
        return bytes([small | n])
    for code, form, most in zip(codes, (">BB", ">BH", ">BI"), (0xFF, 0xFFFF, 0xFFFFFFFF)):
        if code and n <= most:
            return struct.pack(form, code, n)
    raise ValueError(n)


def pack(v):
    if v is None:
        return b"\xc0"
    if isinstance(v, bool):
        return b"\xc3" if v else b"\xc2"
    if isinstance(v, int):
        if -32 <= v < 128:
            return struct.pack("b" if v < 0 else "B", v)
        return struct.pack(">Bq", 0xD3, v) if v < 1 << 63 else struct.pack(">BQ", 0xCF, v)
    if isinstance(v, float):
        return struct.pack(">Bd", 0xCB, v)
    if isinstance(v, str):
        b = v.encode()
        return head(len(b), 0xA0, 31, (0xD9, 0xDA, 0xDB)) + b
    if isinstance(v, bytes):
        return head(len(v), 0, -1, (0xC4, 0xC5, 0xC6)) + v
    if isinstance(v, (list, tuple)):
        return head(len(v), 0x90, 15, (None, 0xDC, 0xDD)) + b"".join(map(pack, v))
    if isinstance(v, dict):
        return head(len(v), 0x80, 15, (None, 0xDE, 0xDF)) + b"".join(pack(x) for kv in v.items() for x in kv)
    raise TypeError(type(v))


def pack_all(values):
    return b"".join(map(pack, values))


FIXED = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
         0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
SIZED = {0xC4: (bytes, 1), 0xC5: (bytes, 2), 0xC6: (bytes, 4), 0xC7: (Ext, 1), 0xC8: (Ext, 2), 0xC9: (Ext, 4),
         0xD9: (str, 1), 0xDA: (str, 2), 0xDB: (str, 4), 0xDC: (list, 2), 0xDD: (list, 4),
         0xDE: (dict, 2), 0xDF: (dict, 4), 0xD4: (Ext, 0), 0xD5: (Ext, 0), 0xD6: (Ext, 0), 0xD7: (Ext, 0),
         0xD8: (Ext, 0)}


def unpack(b, at):
    """The value at a place, and the place behind it."""
    c = b[at]
    at += 1
    if c < 0x80:
        return c, at
    if c >= 0xE0:
        return c - 256, at
    if c in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[c], at
    if c in FIXED:
        n = struct.calcsize(FIXED[c])
        return struct.unpack_from(FIXED[c], b, at)[0], at + n
    if c < 0xC0:
        kind, n = (dict, c & 15) if c < 0x90 else (list, c & 15) if c < 0xA0 else (str, c & 31)
    else:
        kind, width = SIZED[c]
        n = int.from_bytes(b[at:at + width], "big") if width else 1 << (c - 0xD4)
        at += width
    if kind is list:
        out = []
        for _ in range(n):
            v, at = unpack(b, at)
            out.append(v)
        return out, at
    if kind is dict:
        out = {}
        for _ in range(n):
            k, at = unpack(b, at)
            out[k], at = unpack(b, at)
        return out, at
    if kind is Ext:
        return Ext(b[at], b[at + 1:at + 1 + n]), at + 1 + n
    raw = b[at:at + n]
    if len(raw) < n:
        raise ValueError("cut off")
    return (raw if kind is bytes else raw.decode("utf-8", "surrogateescape")), at + n


def unpack_all(b):
    at = 0
    while at < len(b):
        v, at = unpack(b, at)
        yield v

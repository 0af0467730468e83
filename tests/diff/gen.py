# SPDX-License-Identifier: MIT
"""Random values, with a liking for those at which programs go wrong."""
import math
import struct

INTS = [0, 1, -1, 2, -2, 3, 7, 10, 63, 64, 127, 128, -128, 255, 256, 1000, 65535, 2**31 - 1, 2**31, -2**31,
        2**53 - 1, 2**53, 2**53 + 1, -2**53 - 1, 2**62, 2**63 - 1, -2**63 + 1, -2**63]
BIG = [2**63, 2**63 + 1, 2**64 - 1]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-5, 1e15, 1e16, 123456789.125, 1e22, 1e23, 1e300,
          5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 9.223372036854775807e18,
          -9.223372036854775808e18, 0.30000000000000004, 1 / 3]
# No letter whose other case has another length, which tables of single characters cannot give.
LETTERS = "abcxyzABCXYZ019 _-.,;:/\\'\"\t<>&%$#@!?=+*()[]{}|~`^" + "äöüÄÖÜéÉñçøØåœŒ" + "αβγΔΩжЖяЯ" + "你好日本語" + "😀🎉𝔘" + "\u200b\u00a0"


def an_int(r):
    k = r.random()
    if k < 0.3:
        return r.choice(INTS)
    if k < 0.8:
        return r.randint(-20, 20)
    return r.randint(-2**63, 2**63 - 1) >> r.randint(0, 62)


def an_int_or_big(r):
    return r.choice(BIG) if r.random() < 0.1 else an_int(r)


def a_float(r):
    """Finite ones."""
    k = r.random()
    if k < 0.3:
        return r.choice(FLOATS)
    if k < 0.6:
        return r.randint(-10000, 10000) / 10 ** r.randint(0, 4)
    if k < 0.8:
        return r.uniform(-1000, 1000)
    while True:
        f = struct.unpack("<d", struct.pack("<Q", r.getrandbits(64)))[0]
        if math.isfinite(f):
            return f


def a_number(r):
    return an_int(r) if r.random() < 0.5 else a_float(r)


def a_bool(r):
    return r.random() < 0.5


def a_text(r, most=12, letters=LETTERS):
    return "".join(r.choice(letters) for _ in range(r.randint(0, most)))


def a_plain(r, most=6):
    """Few letters, so that parts are found again."""
    return a_text(r, most, "abAB é")


def some_bytes(r, most=12):
    return bytes(r.getrandbits(8) for _ in range(r.randint(0, most)))


def a_scalar(r):
    return r.choice((an_int_or_big, a_float, a_bool, a_text, lambda _: None))(r)


def a_value(r, depth=3, keys=a_text):
    """Anything that JSON can hold."""
    k = r.random()
    if depth == 0 or k < 0.6:
        return a_scalar(r)
    if k < 0.8:
        return [a_value(r, depth - 1, keys) for _ in range(r.randint(0, 4))]
    return {keys(r): a_value(r, depth - 1, keys) for _ in range(r.randint(0, 4))}


def a_list(of, most=6):
    return lambda r: [of(r) for _ in range(r.randint(0, most))]


def many(r, of, most=40, least=0):
    return [of(r) for _ in range(r.randint(least, most))]


def byte(c):
    """A byte as delim= and the like take it, for no one on the way to touch."""
    return f"'\\x{ord(c):02x}'"


def literal(v):
    """A value as an expression writes it."""
    if v is None or isinstance(v, bool):
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, str):
        return '"' + "".join(f"\\u{{{ord(c):x}}}" if c in '"\\@$' or ord(c) < 32 else c for c in v) + '"'
    if isinstance(v, (list, tuple)):
        return "[" + ", ".join(map(literal, v)) + "]"
    if isinstance(v, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(x)}" for k, x in v.items()) + "}"
    if isinstance(v, bytes):
        return f'unhex("{v.hex()}")'
    return repr(v)

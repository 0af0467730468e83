# SPDX-License-Identifier: MIT
"""MessagePack as dsvc has it, and the errors of its programs. Standard library only."""
from __future__ import annotations

import struct
from typing import Any, List, Tuple

np: Any
try:
    import numpy as np
except ImportError:  # arrays then come as memoryviews
    np = None

# dtype of dsvc: its letter for struct and memoryview, its name in numpy, its bytes
DTYPES = {"u8": ("B", "u1", 1), "u16": ("H", "<u2", 2), "u32": ("I", "<u4", 4), "u64": ("Q", "<u8", 8),
          "i8": ("b", "i1", 1), "i16": ("h", "<i2", 2), "i32": ("i", "<i4", 4), "i64": ("q", "<i8", 8),
          "f32": ("f", "<f4", 4), "f64": ("d", "<f8", 8), "bool": ("?", "?", 1),
          "f16": ("e", "<f2", 2), "bf16": ("H", "<u2", 2)}
NAMES = list(DTYPES)  # in the order of their numbers in tensors


class Error(RuntimeError):
    """What a program of dsvc reports; `code` is its exit code, `help` how to mend it."""

    def __init__(self, text: str, code: int = 1, help: str = "", core: Any = None) -> None:
        super().__init__(text + ("\n  help: " + help if help else ""))
        self.text, self.code, self.help, self.core = text, code, help, core


class SpecError(Error, ValueError):
    """The pipeline or an option is wrong (64), or the configuration (78)."""


class StructureError(Error, TypeError):
    """The data is wrong, or an element has another structure than those before it (65)."""


class NotFound(Error, LookupError):
    """There is no such file, dataset or position (66)."""


class Unavailable(Error, ConnectionError):
    """No dispatcher or worker answered (69)."""


class Lost(Error, ConnectionError):
    """Contact was lost; running it again may help (75)."""


class Timeout(Error, TimeoutError):
    """Something took too long (124)."""


KINDS = {64: SpecError, 65: StructureError, 66: NotFound, 69: Unavailable, 75: Lost, 76: Lost, 78: SpecError, 124: Timeout}


def error(code: int, text: str, help: str = "", core: Any = None) -> Error:
    return KINDS.get(code, Error)(text, code, help, core)


class More(Exception):
    """The value goes on behind the bytes that are there."""


def _head(out: bytearray, n: int, fix: int, most: int, codes: Tuple[int, int, int]) -> None:
    if n <= most:
        out.append(fix | n)
    elif n < 256 and codes[0]:
        out += struct.pack(">BB", codes[0], n)
    elif n < 65536:
        out += struct.pack(">BH", codes[1], n)
    else:
        out += struct.pack(">BI", codes[2], n)


def _pack_tensor(a: Any, out: bytearray) -> None:
    kind = a.dtype.newbyteorder("<").str.lstrip("|<")
    names = {"b1": "bool", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "i1": "i8", "i2": "i16", "i4": "i32",
             "i8": "i64", "f2": "f16", "f4": "f32", "f8": "f64"}
    if kind not in names:
        raise TypeError("dsvc has no dtype for " + str(a.dtype))
    data = a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes()
    pad = -(4 + 8 * a.ndim) % 8
    body = struct.pack("<BBBB%dQ" % a.ndim, 1, NAMES.index(names[kind]), a.ndim, pad, *a.shape) + b"\0" * pad + data
    out += struct.pack(">BIb", 0xC9, len(body), 1)
    out += body


def _pack_int(v: int, out: bytearray) -> None:
    if 0 <= v < 128:
        out.append(v)
    elif -32 <= v < 0:
        out.append(v & 0xFF)
    elif v >= 0:
        out += struct.pack(">BI", 0xCE, v) if v < 1 << 32 else struct.pack(">BQ", 0xCF, v)
    else:
        out += struct.pack(">Bq", 0xD3, v)


def pack(v: Any, out: bytearray) -> None:
    """Appends a value."""
    if v is None:
        out.append(0xC0)
    elif v is True or v is False:
        out.append(0xC3 if v else 0xC2)
    elif isinstance(v, int):
        _pack_int(v, out)
    elif isinstance(v, float):
        out += struct.pack(">Bd", 0xCB, v)
    elif isinstance(v, str):
        data = v.encode()
        _head(out, len(data), 0xA0, 31, (0xD9, 0xDA, 0xDB))
        out += data
    elif isinstance(v, memoryview) and (v.format != "B" or v.ndim != 1):  # a column of a batch, without numpy
        pack(v.tolist(), out)
    elif isinstance(v, (bytes, bytearray, memoryview)):
        _head(out, len(v), 0, -1, (0xC4, 0xC5, 0xC6))
        out += v
    elif isinstance(v, dict):
        _head(out, len(v), 0x80, 15, (0, 0xDE, 0xDF))
        for key, value in v.items():
            pack(str(key), out)
            pack(value, out)
    elif hasattr(v, "detach") and hasattr(v, "cpu"):  # a tensor of torch
        pack(v.detach().cpu().numpy(), out)
    elif np is not None and isinstance(v, np.generic):
        pack(v.item(), out)
    elif np is not None and hasattr(v, "__array__"):
        _pack_tensor(np.asarray(v), out)
    elif hasattr(v, "__iter__"):
        items = list(v)
        _head(out, len(items), 0x90, 15, (0, 0xDC, 0xDD))
        for item in items:
            pack(item, out)
    else:
        raise TypeError("dsvc has no value for " + type(v).__name__)


def tensor(body: memoryview) -> Any:
    """A tensor as an array of numpy, or, without numpy, as a memoryview."""
    version, dtype, dims, pad = struct.unpack_from("<BBBB", body)
    if version != 1 or dtype >= len(NAMES):
        raise ValueError("a tensor of an unknown kind")
    shape = struct.unpack_from("<%dQ" % dims, body, 4)
    letter, name, _ = DTYPES[NAMES[dtype]]
    data: Any = body[4 + 8 * dims + pad:]
    if np is not None:
        return np.frombuffer(data, name).reshape(shape).copy()
    own: Any = memoryview(bytes(data))
    return own.cast(letter, shape) if data.nbytes and dims else own.cast(letter).tolist()


# first byte -> letter of struct for a number, or what follows: s text, b bytes, l list, r record, e ext
_NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h",
            0xD2: ">i", 0xD3: ">q"}
_SMALL = {0xCC: 1, 0xCD: 2, 0xCE: 4}  # first byte of an int -> bytes behind it
_SIZED = {0xD9: ("s", ">B"), 0xDA: ("s", ">H"), 0xDB: ("s", ">I"), 0xC4: ("b", ">B"), 0xC5: ("b", ">H"),
          0xC6: ("b", ">I"), 0xDC: ("l", ">H"), 0xDD: ("l", ">I"), 0xDE: ("r", ">H"), 0xDF: ("r", ">I"),
          0xC7: ("e", ">B"), 0xC8: ("e", ">H"), 0xC9: ("e", ">I")}


def _number(b: memoryview, at: int, form: str) -> Tuple[Any, int]:
    end = at + struct.calcsize(form)
    if end > len(b):
        raise More
    return struct.unpack_from(form, b, at)[0], end


def _slice(b: memoryview, at: int, n: int) -> Tuple[memoryview, int]:
    if at + n > len(b):
        raise More
    return b[at:at + n], at + n


def unpack(b: memoryview, at: int = 0) -> Tuple[Any, int]:
    """The value at `at`, and the place behind it."""
    if at >= len(b):
        raise More
    c, at = b[at], at + 1
    if c < 0x80:
        return c, at
    if c >= 0xE0:
        return c - 256, at
    if c in _NUMBERS:
        return _number(b, at, _NUMBERS[c])
    if c in (0xC0, 0xC2, 0xC3):
        return (None, False, True)[c - 0xC1 if c > 0xC0 else 0], at
    if 0xD4 <= c <= 0xD8:
        kind, n = "e", 1 << (c - 0xD4)
    elif c in _SIZED:
        kind, form = _SIZED[c]
        n, at = _number(b, at, form)
    else:
        kind = "s" if c >= 0xA0 else "l" if c >= 0x90 else "r"
        n = c & 31 if kind == "s" else c & 15
    if kind == "l":
        items: List[Any] = []
        for _ in range(n):
            c = b[at] if at < len(b) else 0xC0
            if c < 0x80:  # these are the most
                items.append(c)
                at += 1
            elif c in _SMALL and at + _SMALL[c] < len(b):
                items.append(int.from_bytes(b[at + 1:at + 1 + _SMALL[c]], "big"))
                at += 1 + _SMALL[c]
            else:
                item, at = unpack(b, at)
                items.append(item)
        return items, at
    if kind == "r":
        record = {}
        for _ in range(n):
            key, at = unpack(b, at)
            record[key], at = unpack(b, at)
        return record, at
    data, at = _slice(b, at, n + (kind == "e"))
    if kind == "e":
        return (tensor(data[1:]) if data[0] == 1 else bytes(data[1:])), at
    return (str(data, "utf-8", "replace") if kind == "s" else bytes(data)), at

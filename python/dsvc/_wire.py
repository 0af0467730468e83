# SPDX-License-Identifier: MIT
"""MessagePack as dsvc has it, and the errors of its programs. Standard library only."""
from __future__ import annotations

import re
import struct
from typing import Any

np: Any
try:
    import numpy as np
except ImportError:  # arrays then come as memoryviews
    np = None

# dtype of dsvc, in the order of their numbers in tensors: its letter for struct and memoryview, its name in numpy
DTYPES = {"u8": ("B", "u1"), "u16": ("H", "<u2"), "u32": ("I", "<u4"), "u64": ("Q", "<u8"), "i8": ("b", "i1"),
          "i16": ("h", "<i2"), "i32": ("i", "<i4"), "i64": ("q", "<i8"), "f32": ("f", "<f4"), "f64": ("d", "<f8"),
          "bool": ("?", "b1"), "f16": ("e", "<f2"), "bf16": ("H", "<u2")}
_BY_NUMBER = list(DTYPES.values())
_BY_NAME = {name.lstrip("<"): k for k, (_, name) in reversed(list(enumerate(_BY_NUMBER)))}
_TENSOR = 1  # the type of the extension


class Error(RuntimeError):
    """What a program of dsvc reports; `code` is its exit code, `help` how to mend it."""

    def __init__(self, text: str, code: int = 1, help: str = "", core: int | None = None) -> None:
        super().__init__(text + ("\n  help: " + help if help else ""))
        self.text, self.code, self.help, self.core = text, code, help, core

    def __reduce__(self) -> Any:  # its only argument would be the whole message otherwise
        return type(self), (self.text, self.code, self.help, self.core)


class SpecError(Error, ValueError):
    """The pipeline is wrong (65, with its text and a caret), an option (64), or the configuration (78)."""


class StructureError(Error, TypeError):
    """An element or a result is wrong, or has another structure than those before it (65)."""


class NotFound(Error, LookupError):
    """There is no such file, dataset or position (66)."""


class Unavailable(Error, ConnectionError):
    """No dispatcher, worker or dsvc-feed answered (69)."""


class Lost(Error, ConnectionError):
    """Contact was lost, and running it again may help (75), or the other side has another version (76)."""


class Timeout(Error, TimeoutError):
    """Something took too long (124)."""


KINDS = {64: SpecError, 65: StructureError, 66: NotFound, 69: Unavailable, 75: Lost, 76: Lost, 78: SpecError,
         124: Timeout}


_CARET = re.compile(r"\n *\d+ \| .*\n +\| *\^")  # the line of a pipeline that is wrong, and where


def error(code: int, text: str, help: str = "", core: int | None = None) -> Error:
    kind = SpecError if code == 65 and _CARET.search(text) else KINDS.get(code, Error)
    return kind(text, code, help, core)


def _head(out: bytearray, n: int, fix: int, most: int, codes: tuple[int, int, int]) -> None:
    if n <= most:
        out.append(fix | n)
    elif n < 256 and codes[0]:
        out += struct.pack(">BB", codes[0], n)
    elif n < 65536:
        out += struct.pack(">BH", codes[1], n)
    else:
        out += struct.pack(">BI", codes[2], n)


def _pack_int(v: int, out: bytearray) -> None:
    if -32 <= v < 128:
        out.append(v & 0xFF)
    else:
        out += struct.pack(">BQ", 0xCF, v) if v >= 0 else struct.pack(">Bq", 0xD3, v)


def _pack_bytes(v: Any, out: bytearray, *head: Any) -> None:
    _head(out, len(v), *head)
    out += v


def _pack_tensor(a: Any, out: bytearray) -> None:
    a = a.astype(a.dtype.newbyteorder("<"), copy=False)
    number = _BY_NAME.get(a.dtype.str.lstrip("|<"))
    if number is None:
        raise TypeError(f"dsvc has no dtype for {a.dtype}")
    pad = -(4 + 8 * a.ndim) % 8
    body = struct.pack(f"<BBBB{a.ndim}Q{pad}x", 1, number, a.ndim, pad, *a.shape) + a.tobytes()
    out += struct.pack(">BIb", 0xC9, len(body), _TENSOR) + body


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
        _pack_bytes(v.encode(), out, 0xA0, 31, (0xD9, 0xDA, 0xDB))
    elif isinstance(v, memoryview) and (v.format != "B" or v.ndim != 1):  # a column of a batch, without numpy
        pack(v.tolist(), out)
    elif isinstance(v, (bytes, bytearray, memoryview)):
        _pack_bytes(v, out, 0, -1, (0xC4, 0xC5, 0xC6))
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


def _tensor(body: memoryview) -> Any:
    """A tensor as an array of numpy, or, without numpy, as a memoryview. It lies where it was read when that memory
    can be left to it: most of it is the tensor, and it begins where it may."""
    version, dtype, dims, pad = struct.unpack_from("<BBBB", body)
    if version != 1 or dtype >= len(_BY_NUMBER):
        raise ValueError("a tensor of an unknown kind")
    shape = struct.unpack_from(f"<{dims}Q", body, 4)
    letter, name = _BY_NUMBER[dtype]
    data: Any = body[4 + 8 * dims + pad:]
    stays = not body.readonly and 2 * data.nbytes > memoryview(body.obj).nbytes
    if np is not None:
        array = np.frombuffer(data, name).reshape(shape)
        return array if stays and array.flags.aligned else array.copy()
    own: Any = data if stays else memoryview(bytearray(data))
    return own.cast(letter, shape) if data.nbytes and dims else own.cast(letter).tolist()


class More(Exception):
    """The value goes on behind the bytes that are there, for at least `lack` bytes."""

    def __init__(self, lack: int) -> None:
        self.lack = lack


# First byte of a value -> the form of the number behind it.
_NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h",
            0xD2: ">i", 0xD3: ">q"}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_INTS = {0xCC: 1, 0xCD: 2, 0xCE: 4}  # first byte of an int -> bytes behind it
# ... -> record, list, text, bytes or extension, and its length or the form of that.
_SIZED: dict[int, tuple[str, Any]] = {
    **{0x80 + n: ("r", n) for n in range(16)}, **{0x90 + n: ("l", n) for n in range(16)},
    **{0xA0 + n: ("s", n) for n in range(32)}, **{0xD4 + n: ("e", 1 << n) for n in range(5)},
    0xD9: ("s", ">B"), 0xDA: ("s", ">H"), 0xDB: ("s", ">I"), 0xC4: ("b", ">B"), 0xC5: ("b", ">H"), 0xC6: ("b", ">I"),
    0xDC: ("l", ">H"), 0xDD: ("l", ">I"), 0xDE: ("r", ">H"), 0xDF: ("r", ">I"),
    0xC7: ("e", ">B"), 0xC8: ("e", ">H"), 0xC9: ("e", ">I")}


def _number(b: memoryview, at: int, form: str) -> tuple[Any, int]:
    end = at + struct.calcsize(form)
    if end > len(b):
        raise More(end - len(b))
    return struct.unpack_from(form, b, at)[0], end


def _list(b: memoryview, at: int, n: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    for k in range(n):
        if at >= len(b):
            raise More(n - k)
        c = b[at]
        if c < 0x80:  # these are the most
            items.append(c)
            at += 1
        elif c in _INTS and at + _INTS[c] < len(b):
            items.append(int.from_bytes(b[at + 1:at + 1 + _INTS[c]], "big"))
            at += 1 + _INTS[c]
        else:
            item, at = unpack(b, at)
            items.append(item)
    return items, at


def unpack(b: memoryview, at: int = 0) -> tuple[Any, int]:
    """The value at `at`, and the place behind it."""
    if at >= len(b):
        raise More(1)
    c, at = b[at], at + 1
    if c < 0x80:
        return c, at
    if c >= 0xE0:
        return c - 256, at
    if c in _NUMBERS:
        return _number(b, at, _NUMBERS[c])
    if c in _CONSTANTS:
        return _CONSTANTS[c], at
    kind, n = _SIZED[c]
    if isinstance(n, str):
        n, at = _number(b, at, n)
    if kind == "l":
        return _list(b, at, n)
    if kind == "r":
        record = {}
        for _ in range(n):
            key, at = unpack(b, at)
            record[key], at = unpack(b, at)
        return record, at
    end = at + n + (kind == "e")  # an extension has its type before its bytes
    if end > len(b):
        raise More(end - len(b))
    if kind == "s":
        return str(b[at:end], "utf-8", "replace"), end
    if kind == "e" and b[at] == _TENSOR:
        return _tensor(b[at + 1:end]), end
    return bytes(b[at + (kind == "e"):end]), end

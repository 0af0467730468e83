# SPDX-License-Identifier: MIT
"""Steps in shared memory: slots are mapped one by one, and arrays are views of them.

A slot is given back when its last view is gone, which is seen by counting references: cheaper in each step than an
object that is referred to weakly. A batch that is kept while others come is moved to
memory of its own, at the same address, so that its views stay what they are and the slot is free."""
from __future__ import annotations

import ctypes
import math
import mmap
import os
from collections.abc import Callable, Sequence
from sys import getrefcount
from typing import Any

from ._wire import DTYPES, unpack
from ._wire import np as np

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
_libc.mremap.restype = ctypes.c_void_p
_libc.mremap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
_FAILED = ctypes.c_void_p(-1).value
_MOVE_FIXED = 3  # MREMAP_MAYMOVE | MREMAP_FIXED


class Map:
    """Some memory of this process, unmapped when nobody refers to it."""

    def __init__(self, size: int, fd: int = -1, at: int = 0, writable: bool = True) -> None:
        flags = mmap.MAP_SHARED if fd >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        prot = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self.size, self._munmap = size, _libc.munmap
        self.unpin: Callable[[int], Any] | None = None
        self.address = _libc.mmap(None, size, prot, flags, fd, at)
        if self.address == _FAILED:
            self.address = None
            raise OSError(ctypes.get_errno(), "cannot map the memory of steps")

    def detach(self) -> None:
        """Puts private memory with the same bytes in its place; it is no slot any more."""
        copy = Map(self.size)
        self._unpin()
        ctypes.memmove(copy.address, self.address, self.size)
        if _libc.mremap(copy.address, self.size, self.size, _MOVE_FIXED, self.address) == _FAILED:
            raise OSError(ctypes.get_errno(), "cannot keep a batch")
        copy.address = None

    def _unpin(self) -> None:
        if self.unpin is not None:
            self.unpin(self.address)
            self.unpin = None

    def __del__(self) -> None:
        if getattr(self, "address", None):
            self._unpin()
            self._munmap(self.address, self.size)


class Ring:
    """The slots of a feed, as its message RING tells of them."""

    def __init__(self, fields: list[Any], fd: int, pins: Any = None) -> None:
        slots, self.bytes, _, self.whole, self.writable, self.mask, columns = fields
        self.columns = [Column(*c) for c in columns]
        self.bare = self.columns[0] if len(columns) == 1 and not self.columns[0].path else None
        self.plain = self.writable and not self.whole and all(c.plain and len(c.path) < 2 for c in self.columns)
        self.fd, self.pins = fd, pins
        self.slot: Any = type("Slot", (ctypes.c_ubyte * self.bytes,), {})  # with attributes
        # The memory of each slot, of which all views are views; and how many references it has when there are none.
        self.owners: list[Any] = [None] * slots
        self.alone = 0

    def owner(self, slot: int) -> Any:
        """Maps a slot that is used for the first time, or anew."""
        m = Map(self.bytes, self.fd, slot * self.bytes, self.writable)
        if self.pins is not None:
            self.pins.map(m)
        owners = self.owners
        owners[slot] = self.slot.from_address(m.address)
        owners[slot].map = m
        self.alone = getrefcount(owners[slot])
        return owners[slot]

    def value(self, owner: Any, first: int, rows: int, seen: Any) -> Any:
        """Rows as a dict of arrays, or the bare array. seen: what makes something else of a view; may be None."""
        if self.plain and seen is None:
            made = np.ndarray
            if self.bare is not None:
                c = self.bare
                return made((rows, *c.dims), c.dtype, owner, c.at + first * c.row)
            return {c.path[0]: made((rows, *c.dims), c.dtype, owner, c.at + first * c.row) for c in self.columns}
        views = [c.view(owner, first, rows, self.whole, self.writable) for c in self.columns]
        return nest(self.columns, views if seen is None else [seen(c, v) for c, v in zip(self.columns, views)])

    def __del__(self) -> None:
        os.close(self.fd)


class Column:
    def __init__(self, path: list[str], kind: int, dtype: str, dims: list[list[int]], at: int, heap: int,
                 tensor: bool, axis: int = 0) -> None:
        self.path, self.kind, self.at, self.heap = path, kind, at, heap
        self.letter, self.name = DTYPES[dtype or "u8"]
        self.dtype = np.dtype(self.name) if np is not None else None
        self.bf16 = dtype == "bf16"
        self.dims = tuple(d[0] for d in dims)
        self.row = int(self.name[-1]) * math.prod(self.dims)  # bytes
        self.tensor, self.axis = tensor, axis
        self.plain = np is not None and not kind and not axis

    def view(self, owner: Any, first: int, rows: int, whole: bool, writable: bool) -> Any:
        if self.kind:
            items = Ragged(owner, self, first, rows)
            return items[0] if whole and rows == 1 else items
        shape = self.dims if whole and rows == 1 else (rows, *self.dims)
        if np is not None:  # of one row, of rows along another axis, or not to be written
            a = np.ndarray(shape, self.dtype, owner, self.at + first * self.row)
            if not writable:
                a.flags.writeable = False
            if self.axis:
                return np.moveaxis(a, 0, self.axis)
            return a[()] if not shape and not self.tensor else a
        raw: Any = memoryview(owner).cast("B")[self.at + first * self.row:self.at + (first + rows) * self.row]
        letter = "h" if self.letter == "e" else self.letter
        if not shape:
            return raw.cast(letter)[0]
        if self.axis:
            raw, shape = self._turned(raw, rows), (*self.dims[:self.axis], rows, *self.dims[self.axis:])
        raw = raw.cast(letter) if 0 in shape or len(shape) == 1 else raw.cast(letter, shape)
        return raw if writable else raw.toreadonly()

    def _turned(self, raw: memoryview, rows: int) -> memoryview:
        """A copy with the rows along their axis: a memoryview has no strides of its own."""
        outer = math.prod(self.dims[:self.axis])
        inner = self.row // (outer or 1)
        starts = (row * self.row + o * inner for o in range(outer) for row in range(rows))
        return memoryview(bytearray().join(raw[at:at + inner] for at in starts))


def _numbers(owner: Any, at: int, n: int, letter: str, name: str) -> Any:
    if np is not None:
        return np.ndarray((n,), name, owner, at)
    raw: Any = memoryview(owner).cast("B")
    return raw[at:at + n * int(name[-1])].cast(letter)


class Ragged(Sequence[Any]):
    """Texts, bytes, lists of numbers or other values, one for each row. `offsets` and `values` are the
    arrays that they lie in."""

    def __init__(self, owner: Any, c: Column, first: int, rows: int) -> None:
        letter, name = {3: ("q", "<i8"), 4: ("d", "<f8")}.get(c.kind, ("B", "u1"))
        self.offsets = _numbers(owner, c.at + 8 * first, rows + 1, "Q", "<u8")
        self.values = _numbers(owner, c.heap, int(self.offsets[rows]) if rows else 0, letter, name)
        self._kind, self._rows = c.kind, rows

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._rows))]
        i = range(self._rows)[i]  # also from behind, and an IndexError
        value = self.values[int(self.offsets[i]):int(self.offsets[i + 1])]
        if self._kind == 1:
            return bytes(value).decode("utf-8", "replace")
        if self._kind == 2:
            return bytes(value)
        if self._kind == 5:
            return unpack(memoryview(bytes(value)))[0] if len(value) else None
        return value

    def tolist(self) -> list[Any]:
        return [v.tolist() if hasattr(v, "tolist") else v for v in self]

    def __eq__(self, other: Any) -> bool:
        return self.tolist() == list(other)

    def __repr__(self) -> str:
        return repr(self.tolist())


def nest(columns: list[Column], views: list[Any]) -> Any:
    """Records as they were: nested dicts, or the bare array."""
    if len(columns) == 1 and not columns[0].path:
        return views[0]
    out: dict[str, Any] = {}
    for c, view in zip(columns, views):
        at = out
        for name in c.path[:-1]:
            at = at.setdefault(name, {})
        at[c.path[-1]] = view
    return out

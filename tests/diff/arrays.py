# SPDX-License-Identifier: MIT
"""Tensors as numpy sees them. numpy is a parameter, since it may be missing."""
import struct

import mp

DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "?", "f2"]  # and bf16, which numpy has not


def an_array(r, np, least=1, kinds="iufb"):
    shape = [r.randint(0 if k == 0 and least < 2 else 1, 5) for k in range(r.randint(least, 4))]
    kind = r.choice(kinds)
    order = r.choice("<>")
    dtype = {"i": r.choice(("i1", "i2", "i4", "i8")), "u": r.choice(("u1", "u2", "u4", "u8")), "f": r.choice(("f2", "f4", "f8")), "b": "?"}[kind]
    rng = np.random.default_rng(r.getrandbits(32))
    if kind == "f":
        a = rng.normal(0, 100, shape)
    elif kind == "b":
        a = rng.integers(0, 2, shape)
    else:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return a.astype(order + dtype)


def as_array(np, v):
    """A tensor as numpy sees it."""
    if not isinstance(v, mp.Ext):
        return np.asarray(v)
    version, dtype, dims, pad = v.data[:4]
    assert v.code == 1 and version == 1, v
    shape = struct.unpack_from(f"<{dims}Q", v.data, 4)
    return np.frombuffer(v.data, "<" + DTYPES[dtype], -1, 4 + 8 * dims + pad).reshape(shape)


def tensor(a):
    """An array as our MessagePack has it."""
    a = a.astype(a.dtype.newbyteorder("<"), order="C")
    code = DTYPES.index("?" if a.dtype.kind == "b" else a.dtype.str[1:])
    head = bytes([1, code, a.ndim])
    pad = -(4 + 8 * a.ndim) % 8
    data = head + bytes([pad]) + struct.pack(f"<{a.ndim}Q", *a.shape) + bytes(pad) + a.tobytes()
    return bytes([0xC9]) + struct.pack(">IB", len(data), 1) + data


def same_arrays(t, np, got, want, what):
    for g, w in zip(got, want):
        g, w = as_array(np, g), np.ascontiguousarray(w)
        if g.dtype.newbyteorder("<") != w.dtype.newbyteorder("<") or g.shape != w.shape or g.tobytes() != w.astype(w.dtype.newbyteorder("<")).tobytes():
            t.same([f"{g.dtype} {g.shape} {g.tolist()}"], [f"{w.dtype} {w.shape} {w.tolist()}"], what)
            t.same("other bytes", "the same bytes", what)
    t.same(len(got), len(want), what)
    t.compared += len(got)

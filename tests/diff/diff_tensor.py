# SPDX-License-Identifier: MIT
"""Tensors against numpy: operators of two, functions, shapes, and the loops that
are made for each processor. A plain number is of the dtype that numpy 2 gives it."""
import warnings

import arrays
import gen
import mp
from harness import check

BINARY = {"+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "//": "floor_divide", "%": "remainder", "<": "less", "<=": "less_equal",
          "==": "equal", "!=": "not_equal", ">": "greater", ">=": "greater_equal"}
UNARY = [("abs(x)", "abs"), ("-x", "negative"), ("floor(x)", "floor"), ("ceil(x)", "ceil"), ("round(x)", "rint")]


def shapes(r):
    """Two shapes that go together, most of the time."""
    a = [r.randint(1, 4) for _ in range(r.randint(1, 3))]
    b = [r.choice((n, n, 1)) for n in a][r.randint(0, len(a) - 1):]
    a = [r.choice((n, n, n, 1)) for n in a]
    return (a, b) if r.random() < 0.5 else (b, a)


def of_shape(r, np, shape, kinds="iuf"):
    kind = r.choice(kinds)
    dtype = {"i": r.choice(("i1", "i2", "i4", "i8")), "u": r.choice(("u1", "u2", "u4", "u8")), "f": r.choice(("f2", "f4", "f8")), "b": "?"}[kind]
    rng = np.random.default_rng(r.getrandbits(32))
    if kind == "f":
        return (rng.integers(-100, 100, shape) / 8).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, shape).astype("?")
    info = np.iinfo(dtype)
    low, high = (info.min, info.max) if r.random() < 0.3 else (max(info.min, -9), 9)
    return rng.integers(low, high, shape, dtype=dtype, endpoint=True)


def small(a):
    """Of numbers that every dtype has."""
    return a % 100


def quiet(f):
    """numpy's answer, None where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return f()
        except (ValueError, TypeError, FloatingPointError):
            return None


def ask(t, spec, tensors):
    return t.values("stdin msgpack | " + spec, b"".join(bytes([0x90 | len(p)]) + b"".join(arrays.tensor(a) for a in p) for p in tensors))


def same(t, np, got, want, what):
    for g, w in zip(got, want):
        if w is None:
            t.same([g], [None], what)
        elif g is None:
            t.same([None], [f"{w.dtype}{list(w.shape)} {w.tolist()}"], what)
        elif isinstance(g, mp.Ext):
            arrays.same_arrays(t, np, [g], [w], what)
        else:  # a plain number
            t.same([g], [w.item()], what)
    t.same(len(got), len(want), what)


@check("numpy")
def tensor_binary(t):
    import numpy as np
    for sign, name in BINARY.items():
        pairs = []
        for _ in range(14):
            sa, sb = shapes(t.rng)
            pairs.append((of_shape(t.rng, np, sa), of_shape(t.rng, np, sb)))
        wants = []
        for a, b in pairs:
            zero = sign in ("//", "%") and np.result_type(a, b).kind in "iu" and (b == 0).any()
            w = None if zero else quiet(lambda: getattr(np, name)(a, b))
            if w is not None and sign == "/" and a.dtype.kind in "iu" and b.dtype.kind in "iu":
                w = w.astype("f8")
            wants.append(w)
        same(t, np, ask(t, f"map (x[0] {sign} x[1]) ?? null", pairs), wants, f"a {sign} b")


@check("numpy")
def tensor_scalar(t):
    """A plain int or float takes the tensor's dtype when it is of its kind."""
    import numpy as np
    for sign in ("+", "-", "*", "/", "//", "%"):
        for dtype in ("u1", "i2", "i4", "i8", "u4", "f2", "f4", "f8"):
            a = of_shape(t.rng, np, [t.rng.randint(1, 6)], dtype[0]).astype(dtype)
            n = t.rng.choice((t.rng.randint(1, 100), t.rng.randint(-40, 40) / 4 or 0.5))
            kind = "f8" if isinstance(n, float) and dtype[0] != "f" else dtype
            want = quiet(lambda: getattr(np, BINARY[sign])(a.astype(kind), np.asarray(n, dtype=kind)))
            if sign == "/" and dtype[0] != "f":
                want = a.astype("f8") / n
            same(t, np, ask(t, f"map (x[0] {sign} {n}) ?? null", [(a,)]), [want], f"{a.dtype} {sign} {n}")


@check("numpy")
def tensor_unary(t):
    import numpy as np
    some = [of_shape(t.rng, np, shapes(t.rng)[0]) for _ in range(20)]
    for spec, name in UNARY:
        wants = [getattr(np, name)(a) if name in ("abs", "negative") or a.dtype.kind == "f" else a for a in some]
        same(t, np, ask(t, "map x[0] | map " + spec, [(a,) for a in some]), wants, spec)
    for spec, f in (("sqrt(x)", np.sqrt), ("exp(x)", np.exp), ("log(x)", np.log)):
        good = [np.abs(a.astype("f8")) + 0.5 for a in some]
        got = [arrays.as_array(np, v) for v in ask(t, "map x[0] | map " + spec, [(a,) for a in good])]
        for g, a in zip(got, good):  # the last digit is the library's
            if not np.allclose(g, quiet(lambda: f(a)), rtol=1e-14):
                t.same(g.tolist(), f(a).tolist(), spec)


@check("numpy")
def tensor_reduce(t):
    import numpy as np
    for _ in range(6):
        a = of_shape(t.rng, np, [t.rng.randint(1, 5) for _ in range(t.rng.randint(1, 3))], "iuf")
        a = np.clip(a, 0 if a.dtype.kind == "u" else -100, 100) if a.dtype.kind in "iu" else a
        axis = t.rng.randrange(-a.ndim, a.ndim)
        for spec, want in ((f"amin(x, {axis})", a.min(axis)), (f"amax(x, {axis})", a.max(axis)), ("max(x)", a.max()), ("min(x)", a.min()),
                           (f"sum(x, {axis})", a.sum(axis, dtype=None if a.dtype.kind in "iu" else "f8").astype(None if a.dtype.kind in "iu" else a.dtype)), ("sum(x)", a.sum(dtype="f8" if a.dtype.kind == "f" else None)),
                           (f"mean(x, {axis})", a.mean(axis, dtype="f8").astype(a.dtype if a.dtype.kind == "f" else "f8")), ("mean(x)", a.mean(dtype="f8"))):
            (got,) = ask(t, "map x[0] | map " + spec, [(a,)])
            want, got = np.asarray(want), arrays.as_array(np, got)
            if got.shape != want.shape or not np.allclose(got.astype("f8"), want.astype("f8"), rtol=1e-6):
                t.same(f"{got.dtype} {got.tolist()}", f"{want.dtype} {want.tolist()}", f"{spec} of {a.dtype} {a.tolist()}")
            t.compared += 1


@check("numpy")
def tensor_shapes(t):
    import numpy as np
    for _ in range(6):
        a = of_shape(t.rng, np, [t.rng.randint(1, 5) for _ in range(t.rng.randint(1, 3))], "iufb")
        i, j = t.rng.randint(-6, 6), t.rng.randint(-6, 6)
        k = t.rng.randrange(-len(a), len(a))
        one = ask(t, f"map x[0] | map x[{k}]", [(a,)])
        same(t, np, one, [a[k]], f"x[{k}]")
        same(t, np, ask(t, f"map x[0] | map x[{i}:{j}]", [(a,)]), [a[i:j]], f"x[{i}:{j}]")
        same(t, np, ask(t, "map x[0] | map reshape(x, [-1])", [(a,)]), [a.reshape(-1)], "reshape")
        t.same(ask(t, "map x[0] | map [shape(x), len(x), dtype(x)]", [(a,)]), [[list(a.shape), len(a), name(a)]], "shape")
        t.same(t.run("stdin msgpack | map x[0]", b"\x91" + arrays.tensor(a), ("-t", "ndjson")).decode().replace(".0", ""),
               str(a.tolist()).replace(" ", "").replace("True", "true").replace("False", "false").replace(".0", "") + "\n", "as JSON")
        b = of_shape(t.rng, np, a.shape, "f").astype(a.dtype)
        same(t, np, ask(t, "map stack(x)", [(a, b)]), [np.stack([a, b])], "stack")
        same(t, np, ask(t, "map x[0] ++ x[1]", [(a, b)]), [np.concatenate([a, b])], "++")
        same(t, np, ask(t, "flat_map x | batch 2", [(a, b)]), [np.stack([a, b])], "batch")
        mask = of_shape(t.rng, np, a.shape, "b")
        same(t, np, ask(t, "map where(x[0], x[1], x[2])", [(mask, a, b)]), [np.where(mask, a, b)], "where")


def name(a):
    return "bool" if a.dtype.kind == "b" else a.dtype.kind + str(a.dtype.itemsize * 8)


@check("numpy")
def tensor_cast(t):
    import numpy as np
    for to in ("u1", "u2", "i4", "i8", "f2", "f4", "f8"):
        some = [of_shape(t.rng, np, [5], "iufb") for _ in range(6)]
        # numpy leaves open what a float outside an int's range becomes
        some = [np.clip(a, 0, 100) if a.dtype.kind == "f" else a for a in some]
        same(t, np, ask(t, f"map cast(x[0], \"{name(np.zeros(1, to))}\")", [(a,) for a in some]), [quiet(lambda a=a: a.astype(to)) for a in some], f"cast to {to}")


@check("numpy")
def tensor_batches(t):
    """batch, unbatch, padded_batch and window of tensors."""
    import numpy as np
    for _ in range(4):
        shape, dtype, n = [t.rng.randint(1, 4) for _ in range(t.rng.randint(1, 2))], t.rng.choice(("u1", "f2", "f4", "i8")), t.rng.randint(1, 4)
        some = [small(of_shape(t.rng, np, shape, "i")).astype(dtype) for _ in range(t.rng.randint(1, 9))]
        feed = b"".join(map(arrays.tensor, some))
        want = [np.stack(some[k:k + n]) for k in range(0, len(some), n)]
        same(t, np, t.values(f"stdin msgpack | batch {n}", feed), want, f"batch {n}")
        same(t, np, t.values(f"stdin msgpack | batch {n} | unbatch", feed), some, "unbatch")
        m = t.rng.randint(1, 4)
        same(t, np, t.values(f"stdin msgpack | batch {n} | rebatch {m}", feed), [np.stack(some[k:k + m]) for k in range(0, len(some), m)], f"rebatch {m}")
        ragged = [small(of_shape(t.rng, np, [t.rng.randint(1, 4), 2], "i")).astype(dtype) for _ in range(6)]
        longest = [max(len(a) for a in ragged[k:k + n]) for k in range(0, 6, n)]
        want = [np.stack([np.pad(a, ((0, longest[k // n] - len(a)), (0, 0))) for a in ragged[k:k + n]]) for k in range(0, 6, n)]
        same(t, np, t.values(f"stdin msgpack | padded_batch {n}", b"".join(map(arrays.tensor, ragged))), want, f"padded_batch {n}")
        numbers = [gen.an_int(t.rng) for _ in range(8)]
        same(t, np, t.values(f"stdin msgpack | batch {n} as=tensor", mp.pack_all(numbers)), [np.array(numbers[k:k + n], "i8") for k in range(0, 8, n)], "as=tensor")

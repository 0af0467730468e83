# SPDX-License-Identifier: MIT
"""What the checks of operators share: inputs, and Python's ways of taking them apart."""
import functools
import math

import gen
import mp
from model import key

N = 12  # runs of dsvc-run in each check


def element(r):
    """Values that are often equal, and of all kinds."""
    return r.choice((lambda: r.randint(0, 5), lambda: r.randint(0, 5), lambda: float(r.randint(0, 5)), lambda: r.choice("abc"),
                     lambda: None, lambda: a_bool(r), lambda: [r.randint(0, 1)], lambda: {"a": r.randint(0, 1)}, lambda: r.random()))()


def a_bool(r):
    return r.random() < 0.5


def row(r):
    return {"k": r.choice("abcdef"), "n": r.randint(-5, 5), "f": r.randint(-40, 40) / 8, "l": [r.randint(0, 9) for _ in range(r.randint(0, 4))]}


def runs(t, of, most=60):
    """Inputs, with the kind of source that gives them."""
    for _ in range(N):
        values = gen.many(t.rng, of, most)
        yield values, functools.partial(ask, t, values)


def ask(t, values, spec):
    if t.rng.random() < 0.3 and values:
        return t.values("elements " + gen.literal(values) + " | " + spec)
    return t.values("stdin msgpack | " + spec, mp.pack_all(values))


def batches(values, n, drop=False):
    out = [values[i:i + n] for i in range(0, len(values), n)]
    return [b for b in out if len(b) == n] if drop else out


def columns(rs):
    """Records as batch lays them side by side."""
    names = list(dict.fromkeys(k for r in rs for k in r))
    return {n: [r.get(n) for r in rs] for n in names}


def unique(values, of=lambda v: v):
    seen, out = [], []
    for v in values:
        if key(of(v)) not in seen:
            seen.append(key(of(v)))
            out.append(v)
    return out


def groups(values, of):
    """Lists of those with equal keys, in the order of the first ones."""
    out = []
    for v in values:
        into = next((g for g in out if key(of(g[0])) == key(of(v))), None)
        if into is None:
            out.append([v])
        else:
            into.append(v)
    return out


def pad(values, fill, lengths):
    """Lists of lists, each as long as the longest beside it or as `lengths` says."""
    def depth(v):
        return 1 + max(map(depth, v), default=0) if isinstance(v, list) else 0

    deep = depth(values)

    def longest(vs, level, want):
        want[level] = max(want.get(level, 0), len(vs))
        for v in vs:
            if isinstance(v, list):
                longest(v, level + 1, want)

    want = {}
    longest(values, 0, want)
    for k, n in enumerate(lengths or []):
        if n is not None:
            want[k + 1] = n

    def fit(v, level):
        if level == deep:
            return v
        items = [fit(x, level + 1) for x in v]
        return items + [empty(level + 1) for _ in range(want[level] - len(items))]

    def empty(level):
        return fill if level == deep else [empty(level + 1) for _ in range(want.get(level, 0))]

    return [fit(v, 1) for v in values]


def quantile(s, q):
    """Between the two that are nearest, as numpy does."""
    at = q * (len(s) - 1)
    low = math.floor(at)
    high = min(low + 1, len(s) - 1)
    return s[low] + (s[high] - s[low]) * (at - low)

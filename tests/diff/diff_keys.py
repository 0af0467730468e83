# SPDX-License-Identifier: MIT
"""Operators that compare elements, or look at them all, against a few lines of Python."""
import functools
import math
import statistics

import gen
import model
import mp
import ops
from harness import check
from model import key
from ops import N, a_bool, ask, batches, element, groups, quantile, row, runs, unique


@check()
def op_group_by_window(t):
    for values, ask in runs(t, element):
        n, m = t.rng.randint(1, 5), t.rng.randint(1, 4)
        rests, windows = [], []
        for g in groups(list(enumerate(values)), lambda p: p[1]):
            windows += [w for w in batches(g, n) if len(w) == n]
            rests += [w for w in batches(g, n) if len(w) < n]
        # full ones as they become so
        windows = sorted(windows, key=lambda w: w[-1][0]) + rests
        want = [b for w in windows for b in batches([[v] for _, v in w], m)]
        spec = f"group_by_window x {n} (| map [x] | batch {m})"
        t.same(ask(spec), want, spec)


@check()
def op_unique_dedup(t):
    for values, ask in runs(t, element):
        t.same(ask("unique"), unique(values), "unique")
        t.same(ask("unique str(x)"), unique(values, lambda v: [type(v) is float, v]), "unique str(x)")
        n = t.rng.randint(1, 5)
        want = []
        for v in values:
            if key(v) not in [key(w) for w in want[-n:]]:
                want.append(v)
        t.same(ask(f"dedup window={n}"), want, f"dedup window={n}")


@check()
def op_sort_top(t):
    for values, ask in runs(t, element):
        t.same(ask("sort"), sorted(values, key=key), "sort")
        back = sorted(range(len(values)), key=functools.cmp_to_key(lambda a, b: (key(values[b]) > key(values[a])) - (key(values[b]) < key(values[a]))))
        t.same(ask("sort reverse=true"), [values[i] for i in back], "sort reverse=true")
        n = t.rng.randint(1, 20)
        t.same(ask(f"top {n}"), [values[i] for i in back][:n], f"top {n}")
        t.same(ask(f"top {n} reverse=true"), sorted(values, key=key)[:n], f"top {n} reverse=true")
    for values, ask in runs(t, row):
        t.same(ask("sort [.k, -.n]"), sorted(values, key=lambda v: (v["k"], -v["n"])), "sort by two")
        t.same(ask("top 5 .n"), sorted(values, key=lambda v: -v["n"])[:5], "top 5 .n")


@check()
def op_sort_spilled(t):
    """More than its memory, so that a file is sorted."""
    values = [gen.a_text(t.rng, 12) for _ in range(9000)]
    got = t.values("stdin msgpack | sort mem=64k", mp.pack_all(values))
    t.same(got, sorted(values, key=str.encode), "sort mem=64k")


@check()
def op_group_by(t):
    for values, ask in runs(t, element):
        got = ask("group_by x")
        t.same(got, [{"key": g[0], "value": len(g)} for g in groups(values, lambda v: v)], "group_by x")
    aggs = {"count": len, "sum": lambda g: sum(g) if g else 0, "mean": statistics.fmean, "min": min, "max": max,
            "first": lambda g: g[0], "last": lambda g: g[-1], "list": list}
    for values, ask in runs(t, row):
        for agg, f in aggs.items():
            field = t.rng.choice("nf")
            want = [{"key": g[0]["k"], "value": f([v[field] for v in g])} for g in groups(values, lambda v: v["k"])]
            t.same(ask(f"group_by .k agg={agg} of=.{field}"), want, f"group_by .k agg={agg} of=.{field}")
        want = [{"key": g[0]["k"], "value": functools.reduce(lambda s, v: s * 3 + v["n"], g, 1)} for g in groups(values, lambda v: v["k"])]
        t.same(ask("group_by .k init=1 reduce=(s * 3 + .n) on_error=skip"), want, "group_by reduce") if all(len(g) < 30 for g in groups(values, lambda v: v["k"])) else None


@check()
def op_stats(t):
    for values, ask in runs(t, lambda r: r.randint(-99, 99), 200):
        if not values:
            continue
        if a_bool(t.rng):
            values = [v / 8 for v in values]
            ask = functools.partial(ops.ask, t, values)
        elif a_bool(t.rng):  # ints that no float holds are exact
            big = [gen.an_int(t.rng) for _ in values]
            got = t.values("stdin msgpack | stats", mp.pack_all(big))[0]
            t.same([got["min"], got["max"]], [min(big), max(big)], "stats of large ints")
        (got,) = ask("stats quantiles=[0, 0.25, 0.5, 0.9, 1]")
        t.same([got["count"], got["min"], got["max"]], [len(values), min(values), max(values)], "stats")
        near = {"sum": math.fsum(values), "mean": math.fsum(values) / len(values), "stddev": statistics.pstdev(values)}
        s = sorted(values)
        for q in (0, 0.25, 0.5, 0.9, 1):
            near[f"p{q * 100:g}"] = quantile(s, q)
        for name, want in near.items():
            if not math.isclose(got[name], want, rel_tol=1e-9, abs_tol=1e-9):
                t.same(got[name], want, name)
        t.compared += len(near)


@check()
def op_join(t):
    for _ in range(N):
        left = gen.many(t.rng, lambda r: {"id": r.choice((r.randint(0, 4), float(r.randint(0, 4)), None, "a", [1])), "v": r.randint(0, 9)}, 30)
        right = gen.many(t.rng, lambda r: {"id": r.choice((r.randint(0, 4), None, "a", [1.0])), "w": r.randint(0, 9), "v": -1}, 10, 1)
        for kind in ("inner", "left", "right", "outer"):
            want, seen = [], []
            for a in left:
                fit = [b for b in right if a["id"] is not None and model.equal(a["id"], b["id"])]
                want += [{**b, **a} for b in fit]
                seen += fit
                if not fit and kind in ("left", "outer"):
                    want.append({**a, "w": None})
            if kind in ("right", "outer"):
                want += [b for b in right if not any(b is s for s in seen)]
            # without elements nobody knows their fields, and rows come as they are
            want = [{n: v[n] for n in ("id", "v", "w")} for v in want] if left else want
            spec = f"stdin msgpack | join (elements {gen.literal(right)}) on=.id kind={kind}"
            t.same(t.values(spec, mp.pack_all(left)), want, spec)
        as_row = [{**a, "r": b} for a in left for b in right if a["id"] is not None and model.equal(a["id"], b["id"])]
        t.same(t.values(f"stdin msgpack | join (elements {gen.literal(right)}) on=.id as=r", mp.pack_all(left)), as_row, "as=")

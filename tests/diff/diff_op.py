# SPDX-License-Identifier: MIT
"""Operators against what their pages say, in Python: each check makes a random
input and random parameters, and a few lines that should give the same."""
import functools
import itertools
import math
import statistics

import gen
import model
import mp
from harness import check
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


def rows(r, most=60):
    return gen.many(r, row, most)


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


@check()
def op_take_skip_shard(t):
    for values, ask in runs(t, element):
        n, k = t.rng.randint(0, 70), t.rng.randint(1, 7)
        j = t.rng.randrange(k)
        t.same(ask(f"take {n}"), values[:n], f"take {n}")
        t.same(ask(f"skip {n}"), values[n:], f"skip {n}")
        t.same(ask(f"shard {k} {j}"), values[j::k], f"shard {k} {j}")
        t.same(ask(f"skip {k} | take {n} | enumerate {j}"), [[i + j, v] for i, v in enumerate(values[k:k + n])])
        t.same(ask("count"), [len(values)], "count")
        t.same(ask(f"repeat {k}"), values * k, f"repeat {k}")
        t.same(ask(f"take {n} | pad_to 80 -1"), values[:n] + [-1] * (80 - len(values[:n])), "pad_to")
        t.same(ask(f"cardinality {len(values)}"), values, "cardinality")
        t.same(ask(f"cache | repeat 2 | prefetch {k}"), values * 2, "cache, prefetch")


@check()
def op_batch(t):
    for values, ask in runs(t, element):
        n, drop = t.rng.randint(1, 9), a_bool(t.rng)
        plain = [v for v in values if not isinstance(v, dict)]
        spec = f"filter type(x) != \"record\" | batch {n} drop_remainder={str(drop).lower()}"
        t.same(ask(spec), batches(plain, n, drop), spec)
        t.same(ask(spec + " | unbatch"), [v for b in batches(plain, n, drop) for v in b], spec)
        m = t.rng.randint(1, 9)
        flat = [v for b in batches(plain, n, drop) for v in b]
        t.same(ask(f"{spec} | rebatch {m}"), batches(flat, m), f"{spec} | rebatch {m}")


@check()
def op_batch_records(t):
    for values, ask in runs(t, row):
        n, m = t.rng.randint(1, 9), t.rng.randint(1, 9)
        want = list(map(columns, batches(values, n)))
        t.same(ask(f"batch {n}"), want, f"batch {n}")
        t.same(ask(f"batch {n} | unbatch"), values, "unbatch")
        t.same(ask(f"batch {n} | rebatch {m}"), list(map(columns, batches(values, m))), f"batch {n} | rebatch {m}")
        t.same(ask(f"ragged_batch {n}"), want, f"ragged_batch {n}")


@check()
def op_window(t):
    for values, ask in runs(t, element):
        size, shift, stride, drop = t.rng.randint(1, 6), t.rng.randint(1, 7), t.rng.randint(1, 4), a_bool(t.rng)
        want = [values[i:i + size * stride:stride] for i in range(0, len(values), shift)]
        want = [w for w in want if len(w) == size or not drop]
        spec = f"window {size} shift={shift} stride={stride} drop_remainder={str(drop).lower()}"
        t.same(ask(spec), want, spec)


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


@check()
def op_padded_batch(t):
    for values, ask in runs(t, lambda r: [r.randint(1, 9) for _ in range(r.randint(0, 5))], 30):
        n, fill = t.rng.randint(1, 6), t.rng.choice((0, -1, 7))
        spec = f"padded_batch {n} pad={fill}"
        t.same(ask(spec), [pad(b, fill, None) for b in batches(values, n)], spec)
        shape = t.rng.randint(5, 8)
        t.same(ask(f"{spec} shape=[{shape}]"), [pad(b, fill, [shape]) for b in batches(values, n)], f"{spec} shape=[{shape}]")
        t.same(ask(f"map {{a: x, b: map(x, str(it))}} | padded_batch {n}"),
               [{"a": pad(b, 0, None), "b": pad([[str(i) for i in v] for v in b], "", None)} for b in batches(values, n)])
    for values, ask in runs(t, lambda r: [[r.randint(1, 9) for _ in range(r.randint(1, 3))] for _ in range(r.randint(1, 3))], 20):
        n = t.rng.randint(1, 6)
        t.same(ask(f"padded_batch {n}"), [pad(b, 0, None) for b in batches(values, n)], f"padded_batch {n}, two deep")


@check()
def op_bucket(t):
    for values, ask in runs(t, lambda r: [1] * r.randint(1, 9)):
        bounds = sorted(t.rng.sample(range(1, 9), t.rng.randint(1, 3)))
        sizes = [t.rng.randint(1, 4) for _ in range(len(bounds) + 1)]
        held, want = [[] for _ in sizes], []
        for v in values:
            k = sum(len(v) >= b for b in bounds)
            held[k].append(v)
            if len(held[k]) == sizes[k]:
                want.append(pad(held[k], 0, None))
                held[k] = []
        rest = [pad(h, 0, None) for h in held if h]
        spec = f"bucket len(x) bounds={bounds} sizes={sizes}"
        t.same(ask(spec), want + rest, spec)
        t.same(ask(spec + " drop_remainder=true"), want, spec)


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
            ask = functools.partial(globals()["ask"], t, values)
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


def quantile(s, q):
    """Between the two that are nearest, as numpy does."""
    at = q * (len(s) - 1)
    low = math.floor(at)
    high = min(low + 1, len(s) - 1)
    return s[low] + (s[high] - s[low]) * (at - low)


@check()
def op_fold(t):
    for values, ask in runs(t, lambda r: r.randint(-9, 9)):
        t.same(ask("reduce 0 s + x"), [sum(values)], "reduce")
        t.same(ask("reduce [] s ++ [x]"), [values], "reduce list")
        t.same(ask("scan 0 s + x"), list(itertools.accumulate(values)), "scan")
        t.same(ask("scan 0 max(s, x)"), list(itertools.accumulate(values, lambda s, x: max(s, x), initial=0))[1:], "scan max")
        t.same(ask("take_while x > -7"), list(itertools.takewhile(lambda x: x > -7, values)), "take_while")
        t.same(ask("filter x % 3 == 0 | map x * i"), [v * i for i, v in enumerate(v for v in values if v % 3 == 0)], "i")
        t.same(ask("flat_map range(max(x, 0))"), [k for v in values for k in range(max(v, 0))], "flat_map")
        t.same(ask("map 12 // x on_error=skip"), [12 // v for v in values if v], "on_error=skip")
        t.same(ask("map 12 // x on_error=keep"), [12 // v if v else v for v in values], "on_error=keep")
        t.same(ask("map 12 // x | map x + 1 | ignore_errors"), [12 // v + 1 for v in values if v], "ignore_errors")
        t.same(ask("assert x != 3 on_error=skip"), [v for v in values if v != 3], "assert")


@check()
def op_fields(t):
    for values, ask in runs(t, row):
        some = t.rng.sample("knfl", t.rng.randint(1, 3))
        t.same(ask("select " + " ".join(some)), [{n: v[n] for n in some} for v in values], f"select {some}")
        t.same(ask("drop " + " ".join(some)), [{n: x for n, x in v.items() if n not in some} for v in values], f"drop {some}")
        names = dict(zip(some, ("z1", "z2", "z3")))
        t.same(ask("rename " + " ".join(f"{a}:{b}" for a, b in names.items())),
               [{names.get(n, n): x for n, x in v.items()} for v in values], f"rename {names}")


def inputs(t, most=20):
    return [gen.many(t.rng, element, most) for _ in range(t.rng.randint(1, 4))]


def pipelines(lists):
    return " ".join(f"(elements {gen.literal(v)})" for v in lists)


@check()
def op_combine(t):
    for _ in range(N):
        lists = inputs(t)
        t.same(t.values(f"concat {pipelines(lists)}"), sum(lists, []), "concat")
        t.same(t.values(f"zip {pipelines(lists)}"), list(map(list, zip(*lists))), "zip")
        t.same(t.values(f"zip {pipelines(lists)} short=pad"), list(map(list, itertools.zip_longest(*lists))), "zip short=pad")
        named = " ".join(f"{n}=(elements {gen.literal(v)})" for n, v in zip("pqrs", lists))
        t.same(t.values(f"zip {named}"), [dict(zip("pqrs", v)) for v in zip(*lists)], "zip name=")


@check()
def op_choose(t):
    for _ in range(N):
        lists = inputs(t)
        by = [t.rng.randrange(len(lists)) for _ in range(t.rng.randint(0, 40))]
        for stop in ("first", "all"):
            left, want = list(map(iter, lists)), []
            for k in by:
                v = next(left[k], by)
                if v is by:
                    if stop == "first":
                        break
                    continue
                want.append(v)
            spec = f"choose {pipelines(lists)} by=(elements {gen.literal(by)}) stop={stop}"
            t.same(t.values(spec), want, spec)


@check()
def op_interleave(t):
    for _ in range(N):
        counts = [t.rng.randint(0, 6) for _ in range(t.rng.randint(0, 9))]
        cycle, block = t.rng.randint(1, 5), t.rng.randint(1, 4)
        todo = ([[n, k] for k in range(n)] for n in counts)
        want, slots = [], [[] for _ in range(cycle)]
        # A slot gives a block in its turn, or less where its input ends; then it opens the next.
        turn, ended = 0, False
        opened = [False] * cycle
        while True:
            if not opened[turn]:
                if not ended:
                    v = next(todo, None)
                    ended = v is None
                    if v is not None:
                        slots[turn], opened[turn] = list(v), True
                if not opened[turn]:
                    if ended and not any(opened):
                        break
                    turn = (turn + 1) % cycle
                    continue
            given = slots[turn][:block]
            want += given
            del slots[turn][:block]
            if len(given) < block:
                opened[turn] = False
            turn = (turn + 1) % cycle if len(given) == block else (turn + 1) % cycle
        got = t.values(f"elements {gen.literal(counts)} | interleave (range x | map [xx, x]) cycle={cycle} block={block}")
        t.same_set(got, want, "interleave, in any order")
        flat = t.values(f"elements {gen.literal(counts)} | interleave (range x | map [xx, x]) cycle=1")
        t.same(flat, [[n, k] for n in counts for k in range(n)], "interleave cycle=1")


@check()
def op_join(t):
    for _ in range(N):
        left = gen.many(t.rng, lambda r: {"id": r.choice((r.randint(0, 4), float(r.randint(0, 4)), None, "a", [1])), "v": r.randint(0, 9)}, 30)
        right = gen.many(t.rng, lambda r: {"id": r.choice((r.randint(0, 4), None, "a", [1.0])), "w": r.randint(0, 9), "v": -1}, 10, 1)
        for kind in ("inner", "left"):
            want = []
            for a in left:
                fit = [b for b in right if a["id"] is not None and model.equal(a["id"], b["id"])]
                want += [{**b, **a} for b in fit]
                if not fit and kind == "left":
                    want.append({**a, "w": None})
            want = [{n: v[n] for n in ("id", "v", "w")} for v in want]
            spec = f"stdin msgpack | join (elements {gen.literal(right)}) on=.id kind={kind}"
            t.same(t.values(spec, mp.pack_all(left)), want, spec)
        as_row = [{**a, "r": b} for a in left for b in right if a["id"] is not None and model.equal(a["id"], b["id"])]
        t.same(t.values(f"stdin msgpack | join (elements {gen.literal(right)}) on=.id as=r", mp.pack_all(left)), as_row, "as=")


@check()
def op_random_ones(t):
    """What is drawn is ours alone; that it is what was put in, and the same again, is not."""
    for _ in range(4):
        values = list(range(t.rng.randint(0, 200)))
        for op in (f"shuffle {t.rng.randint(1, 60)}", f"shuffle {t.rng.randint(1, 60)} | repeat 2"):
            spec = f"range {len(values)} | {op}"
            seed = ("--seed", str(t.rng.randrange(1000)))
            got = t.values(spec, args=seed)
            t.same(sorted(got), sorted(values * (2 if "repeat" in op else 1)), spec)
            t.same(t.values(spec, args=seed), got, spec)
        n = t.rng.randint(1, 30)  # nothing comes earlier than the buffer allows
        early = [v for i, v in enumerate(t.values(f"range 200 | shuffle {n}")) if v > i + n - 1]
        t.same(early, [], f"shuffle {n}")
        got = t.values("sample (range 3000 | map 0) (range 1000 | map 1) weights=[3, 1] stop=first | take 1000")
        if not 650 < got.count(0) < 850:
            t.same(got.count(0), 750, "sample by weight")
        t.same_set(t.values("sample (range 30) (range 50) (range 0)"), list(range(30)) + list(range(50)), "sample all")
        kept = t.values("range 4000 | sample_rate 0.25")
        if not 850 < len(kept) < 1150 or kept != sorted(set(kept)):
            t.same(len(kept), 1000, "sample_rate")
        got = t.values("range 6000 | map x % 3 == 0 ? 0 : 1 | resample x target=[0.5, 0.5] initial=[0.333333, 0.666667]")
        if not 0.45 < got.count(0) / len(got) < 0.55:
            t.same(got.count(0) / len(got), 0.5, "resample")
        t.compared += 3

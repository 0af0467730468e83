# SPDX-License-Identifier: MIT
"""Operators against what their pages say, in Python: each check makes a random
input and random parameters, and a few lines that should give the same."""
import itertools

import gen
from harness import check
from ops import N, a_bool, batches, columns, element, pad, row, runs


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


def interleaved(lists, cycle, block):
    """A slot gives a block in its turn, or less where its list ends; in its next turn
    it then has the list that comes next."""
    todo, slots, out, at, idle = iter(lists), [None] * cycle, [], 0, 0
    while idle < cycle:
        if slots[at] is None:
            slots[at] = next(todo, None)
        if slots[at] is None:
            idle += 1
        else:
            idle = 0
            out += slots[at][:block]
            slots[at] = slots[at][block:] if len(slots[at]) >= block else None
        at = (at + 1) % cycle
    return out


@check()
def op_interleave(t):
    for _ in range(N):
        counts = [t.rng.randint(0, 6) for _ in range(t.rng.randint(0, 9))]
        cycle, block = t.rng.randint(1, 5), t.rng.randint(1, 4)
        want = interleaved([[[n, k] for k in range(n)] for n in counts], cycle, block)
        spec = f"elements {gen.literal(counts)} | interleave (range x | map [xx, x]) cycle={cycle} block={block}"
        t.same(t.values(spec), want, spec)


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

# SPDX-License-Identifier: MIT
"""A pipeline gives the same in this process, on threads and through workers."""
import collections
import json

import gen
import pipes
from harness import BIN, check
from service import service

N = 6


def read(t, workers, pipe, *args):
    return t.tool([BIN + "/dsvc-read", "-q", "-d", service(workers), "--wait-workers", str(workers), "-t", "ndjson", *args, "-e", str(pipe)])


def seed(t):
    return ("--seed", str(t.rng.randrange(10**6)))


def alone(t, pipe, *args):
    return t.run(str(pipe), args=("-q", "-t", "ndjson", *args))


def same_lines(t, got, want, what):
    t.same(got.split(b"\n"), want.split(b"\n"), what)


@check()
def service_order_source(t):
    """What dsvc-run gives, to the byte. Operators with memory work on each stream."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        same_lines(t, read(t, 2, pipe, "--order", "source", *s), alone(t, pipe, *s), pipe)


@check()
def service_order_any(t):
    """The same elements, each once, in whatever order."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        want = alone(t, pipe, *s).split(b"\n")
        t.same_set(read(t, 2, pipe, *s).split(b"\n"), want, str(pipe))


@check()
def service_order_stable(t):
    """The same order, however many workers there are."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, per_stream=True, of=of), seed(t)
        args = ("--order", "stable", "--shards", str(t.rng.randint(1, 4)), *s)
        got = read(t, 2, pipe, *args)
        same_lines(t, read(t, 1, pipe, *args), got, pipe)
        if pipe.scope == pipes.ELEMENT:
            t.same_set(got.split(b"\n"), alone(t, pipe, *s).split(b"\n"), str(pipe))


@check()
def service_behind_distribute(t):
    """What stands behind distribute runs where the reader is, over all elements."""
    of = pipes.sources(t)
    for _ in range(N):
        front, s = pipes.pipeline(t, 2, widest=pipes.ELEMENT, of=of), seed(t)
        rest = pipes.pipeline(t, 3, of=[("", front.kind)], drawn=False)
        behind = "".join(" | " + stage for stage in rest.stages[1:])
        if "random" in str(front) and "repeat" in behind:
            continue  # each pass of a job draws anew
        got = t.run(f"{front} | distribute order=source seed={s[1]}{behind}", args=("-q", "-t", "ndjson", "-d", service(2), *s))
        same_lines(t, got, alone(t, f"{front}{behind}", *s), f"{front} | distribute{behind}")


@check()
def threads_are_one(t):
    """dsvc-run -j N gives what dsvc-run gives."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, 5, of=of), seed(t)
        same_lines(t, alone(t, pipe, "-j", str(t.rng.randint(2, 4)), *s), alone(t, pipe, *s), pipe)


@check()
def sharding_off(t):
    """One worker gives what dsvc-run gives, with operators of any scope; each of two
    gives all of it."""
    of = pipes.sources(t)
    for _ in range(3):
        pipe, s = pipes.pipeline(t, per_stream=True, of=of), seed(t)
        same_lines(t, read(t, 1, pipe, "--sharding", "off", *s), alone(t, pipe, *s), pipe)
    for _ in range(2):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        if "random" in str(pipe):
            continue
        got = read(t, 2, pipe, "--sharding", "off", *s).split(b"\n")
        t.same_set(got[:-1], alone(t, pipe, *s).split(b"\n")[:-1] * 2, str(pipe))


CALLS = ["count()", "count(.t)", "nulls(.t)", "distinct(.t)", "distinct(.v)", "sum(.v)", "sum(.k)", "mean(.v)", "mean(.t)", "min(.v)", "max(.m)",
         "stddev(.v)", "stddev(.k)", "stddev(.t)", "median(.v)", "quantile(.v, 0.9)", "quantile(.k, 0.25)", "sum(.h)", "mean(.h)", "stddev(.h)"]
STATS = ["", " by=.k", " by=.t", " by=.m", " by=[.k, .t]"]
STATS_OF = [".v", ".k", ".t", ".h", ".m * 0.1"]
QUANTILES = ["", " quantiles=[]", " quantiles=[0, 0.25, 1]", " mem=2k", " mem=400k"]
CALLS_IN_ORDER = ["first(.m)", "last(.v)", "list(.t)"]
KEYS = [".k", ".t", ".m", "[.k, .t]", "0", ".n"]


def stats(t):
    by, more = t.rng.choice(STATS), t.rng.choice(QUANTILES)
    return f"stats {t.rng.choice(STATS_OF)}{by}{'' if by and 'mem' in more else more}"


def aggregate(t, ordered):
    if t.rng.random() < 0.35:
        return stats(t)
    key = t.rng.choice(KEYS)
    calls = t.rng.choices(CALLS + CALLS_IN_ORDER * ordered, k=t.rng.randint(1, 5))
    if ".t" in key:  # among the keys are some that have integers alone, whose sum would be too large
        calls = [c.replace(".h", ".v") for c in calls]
    old = ["sum of=.v", "mean of=.k", "min of=.t", "count", "max of=.v"] + ["list of=.m", "first of=.v"] * ordered
    named = " ".join(f"f{k}={c}" for k, c in enumerate(calls))
    others = ["top 5 .n", "top 70 [.v, .n] reverse=true", "top 3 .n mem=300"]
    if ordered:
        others += ["unique .k", "unique [.t, .v]", "unique", "unique .m | map .n", "top 9 .t", "top 1000 .v", "top 40 .k reverse=true mem=2k"]
    return t.rng.choice([t.rng.choice(others)] * 3 + ["count", f"group_by {t.rng.choice(KEYS)} agg={t.rng.choice(old)}"] + [f"group_by {key} {named}"] * 4)


@check()
def service_aggregates(t):
    """Answers about parts, which streams make, give what one process gives."""
    n, keys = t.rng.choice((0, 1, 50, 3000, 150000)), t.rng.choice((1, 3, 1000, 10**6))
    rows = (f"range {n} | map {{n: x, k: x * 7919 % {keys}, v: x % 5 == 0 ? x : (x * 7919 % 10007) * 0.1, "
            "t: x % 3 == 0 ? null : x % 100, h: x % 2 == 0 ? 9007199254740993 * (x % 1000) : (x % 11) * -1e-9, m: x % 2 == 0 ? x % 9 : (x % 9) * 1.0}")
    for _ in range(N):
        order = t.rng.choice(("any", "stable", "source", "source"))
        rest = aggregate(t, order == "source")
        how = t.rng.choice(("", " shards=3", " shards=1")) if order == "stable" else ""
        args = ("-q", "-t", "ndjson", "-d", service(t.rng.randint(1, 4)))
        got, want = t.run(f"{rows} | distribute order={order}{how} | {rest}", args=args), alone(t, f"{rows} | {rest}")
        if order == "source":
            same_lines(t, got, want, f"{rows} | {rest}")
        else:
            t.same_set(norm(got), norm(want), f"{rows} | {order}{how} {rest}")


def norm(rows):
    """Equal keys, and the first of equal values, are shown as they came first: 1 or 1.0."""
    return [json.dumps(json.loads(row), default=float).replace(".0,", ",").replace(".0}", "}").replace(".0]", "]").encode()
            for row in rows.split(b"\n") if row]


def large(t):
    """Files that are cut in the middle: (source, what it holds, as -t ndjson writes it)."""
    some = [gen.a_text(t.rng, 60, "abc ,;éß\\\"1") for _ in range(150)]
    texts = t.rng.choices(some, k=45000) + ["z"]  # an empty last line would be none
    rows = [f"{k},{v}" for k, v in enumerate(x.replace(",", ";") for x in texts)]
    raw = "".join(texts).encode()
    raw = raw[:len(raw) // 7 * 7]
    pairs = [row.split(",") for row in rows]
    tabbed = [[a, b.replace("\\", "")] for a, b in pairs]
    return [("lines " + t.file("a.txt", "\n".join(texts)), texts),
            ("ndjson " + t.file("a.ndjson", "".join(json.dumps(v) + "\n" for v in texts)), texts),
            ("csv " + t.file("a.csv", "\r\n".join(rows)) + " types=text header=false quote=none", pairs),
            ("tsv " + t.file("a.tsv", "".join("\t".join(p) + "\n" for p in tabbed)) + " types=text header=false", tabbed),
            ("lines " + t.file("b.txt", "\n".join(texts)) + " with_name=['f', 'n'] | map [.n, .value]", [[k + 1, x] for k, x in enumerate(texts)]),
            ("lines " + t.file("c.txt", "\n".join(texts).encode("utf-16")), texts),
            ("json " + t.file("a.json", json.dumps(texts, indent=t.rng.choice((None, 1)))), texts),
            ("bytes 7 " + t.file("a.bin", raw) + " | map hex(x)", [raw[k:k + 7].hex() for k in range(0, len(raw), 7)])]


@check()
def service_byte_ranges(t):
    """Every element of a file that is cut into ranges comes once and whole."""
    source, values = t.rng.choice(large(t))
    want = [json.dumps(v, ensure_ascii=False, separators=(",", ":")).encode() for v in values]
    for args in (["--order", "source"], ["--order", "any"], ["--order", "stable", "--shards", "3"]):
        got = read(t, 2, source, *args).split(b"\n")[:-1]
        ordered = "source" in args
        if (got if ordered else sorted(got)) != (want if ordered else sorted(want)):
            lost, extra = collections.Counter(want) - collections.Counter(got), collections.Counter(got) - collections.Counter(want)
            t.same([len(got), dict(lost.most_common(3)), dict(extra.most_common(3))], [len(want), {}, {}], f"{source} {args}")
            t.same(got, want, f"{source} {args}")
        t.compared += len(got)

# SPDX-License-Identifier: MIT
"""Random pipelines: stages by what they take and give, with their scope. Sources
are of files and numbers that are made anew for each run of a check."""
import gzip
import json

import gen

ELEMENT, STREAM, GLOBAL = range(3)

# takes, gives, scope, text; {n} {m} {k} are small numbers. * is any kind.
STAGES = [
    ("int", "int", ELEMENT, "map x * {n} + {m}"), ("int", "int", ELEMENT, "map x // {n}"), ("int", "int", ELEMENT, "map x % {n}"),
    ("int", "int", ELEMENT, "filter x % {n} != {m}"), ("int", "int", ELEMENT, "filter x > {n}"), ("int", "int", ELEMENT, "flat_map [x, x + {n}]"),
    ("int", "int", ELEMENT, "map 100 // (x % {n}) on_error=skip"), ("int", "int", ELEMENT, "map 7 // (x % {n}) on_error=keep"),
    ("int", "int", ELEMENT, "map x + 1 parallel=2"), ("int", "int", ELEMENT, "filter x % 2 == 0 parallel=2"), ("int", "int", ELEMENT, "map x % {n} == 0 ? skip() : x"),
    ("int", "int", ELEMENT, "assert x % {n} != 1 on_error=skip"), ("int", "int", ELEMENT, "flat_map range(x % {n})"), ("int", "int", ELEMENT, "prefetch {n}"),
    ("int", "list", ELEMENT, "map [x, x * {n}]"), ("int", "list", ELEMENT, "map range(abs(x) % {n})"), ("int", "text", ELEMENT, "map str(x)"),
    ("int", "text", ELEMENT, "map \"n\" ++ pad(x, {n}, \"0\")"), ("int", "rec", ELEMENT, "map {{id: x, k: x % {n}, t: str(x), f: x / {n}}}"),
    ("int", "list", ELEMENT, "map abs(x) % {n} | interleave (range x | map [xx, x]) cycle=1"), ("int", "rec", ELEMENT, "map {{id: x, k: null, t: \"a,b\", f: 0.5}}"),
    ("int", "int", ELEMENT, "map hash(x, {n})"),
    ("int", "int", ELEMENT, "tee (| filter false)"), ("int", "int", ELEMENT, "map x ?? 0 | ignore_errors"), ("int", "int", ELEMENT, "map 5 // (x % {n}) | ignore_errors"),
    ("rec", "rec", ELEMENT, "filter .k == {m}"), ("rec", "rec", ELEMENT, "filter .k != {m} and .id > {n}"), ("rec", "int", ELEMENT, "map .id"),
    ("rec", "rec", ELEMENT, "map merge(x, {{k: .id % {n}}})"), ("rec", "rec", ELEMENT, "rename k:j | rename j:k"),
    ("rec", "rec", ELEMENT, "select id k t f"), ("rec", "text", ELEMENT, "map .t"), ("rec", "text", ELEMENT, "format json"), ("rec", "text", ELEMENT, "format csv"),
    ("rec", "rec", ELEMENT, "format json | parse json"), ("rec", "rec", ELEMENT, "format kv | parse kv | map {{id: .id, k: .k ?? 0, t: str(.t), f: .f}}"),
    ("rec", "rec", ELEMENT, "join (range {n} | map {{k: x, w: x * x}}) on=.k kind=left | select id k t f"), ("rec", "list", ELEMENT, "map values(x)"),
    ("list", "list", ELEMENT, "map reversed(x)"), ("list", "list", ELEMENT, "map x ++ [{n}]"), ("list", "int", ELEMENT, "map len(x)"), ("list", "list", ELEMENT, "map sorted(x)"),
    ("list", "text", ELEMENT, "map to_json(x)"), ("list", "list", ELEMENT, "map x[:{n}]"), ("list", "list", ELEMENT, "filter len(x) > {m}"), ("list", "any", ELEMENT, "flat_map x"),
    ("list", "any", ELEMENT, "unbatch"), ("any", "text", ELEMENT, "map str(x)"), ("any", "list", ELEMENT, "map [x, type(x)]"), ("any", "int", ELEMENT, "map hash(x, {n})"),
    ("text", "text", ELEMENT, "map upper(x)"), ("text", "text", ELEMENT, "filter x ~ /[1-5]/"), ("text", "text", ELEMENT, "map replace(x, /([0-9])/, \"<$1>\")"),
    ("text", "int", ELEMENT, "map len(x)"), ("text", "text", ELEMENT, "flat_map split(x, \"1\")"), ("text", "int", ELEMENT, "map int(x) on_error=skip"), ("text", "text", ELEMENT, "map x[{m}:]"),
    ("text", "text", ELEMENT, "exec -- cat"), ("text", "text", ELEMENT, "exec -- sed -u s/1/one/"), ("int", "int", ELEMENT, "exec proto=ndjson -- cat"),
    ("*", "list", STREAM, "batch {n}"), ("int", "list", STREAM, "batch {n} drop_remainder=true"), ("*", "list", STREAM, "window {n} shift={k}"), ("int", "list", STREAM, "ragged_batch {n}"),
    ("int", "list", STREAM, "batch {n} | rebatch {k}"), ("*", "*", STREAM, "shuffle {n}"), ("*", "*", STREAM, "shuffle {n} seed={m}"), ("int", "int", STREAM, "scan 0 (s + x) % 1000"),
    ("*", "*", STREAM, "sample_rate 0.7"), ("*", "*", GLOBAL, "dedup"), ("int", "int", GLOBAL, "dedup x % {n} window={k}"), ("int", "list", STREAM, "group_by_window x % {n} {k} (| batch {k})"),
    ("*", "*", STREAM, "cache"), ("int", "list", STREAM, "map range(abs(x) % {n}) | bucket len(x) bounds=[2, 4] sizes={k}"), ("int", "int", STREAM, "resample abs(x) % 2 target=[0.3, 0.7]"),
    ("*", "*", GLOBAL, "take {n}0"), ("*", "*", GLOBAL, "skip {n}"), ("*", "*", GLOBAL, "unique"), ("*", "*", GLOBAL, "sort"), ("*", "*", GLOBAL, "sort reverse=true"), ("*", "*", GLOBAL, "tail {n}0"), ("*", "*", GLOBAL, "reverse"), ("int", "int", GLOBAL, "take_while x < 500"),
    ("*", "list", GLOBAL, "enumerate {n}"), ("*", "int", GLOBAL, "count"), ("int", "int", GLOBAL, "reduce 0 (s * 3 + x) % 10007"), ("int", "any", GLOBAL, "group_by x % {n}"), ("*", "*", GLOBAL, "top {n}"),
    ("int", "any", GLOBAL, "stats"), ("*", "*", GLOBAL, "repeat 2"), ("*", "*", GLOBAL, "shard {n} 0"), ("rec", "any", GLOBAL, "group_by .k agg=list of=.id"), ("int", "any", GLOBAL, "pad_to 2000"),
]


class Pipe:
    """A pipeline: its stages as texts, the kind it gives, and the widest scope."""

    def __init__(self, source, kind):
        self.stages, self.kind, self.scope = [source], kind, ELEMENT

    def __str__(self):
        return " | ".join(self.stages)


def sources(t):
    """Texts of sources and the kind they give; files are written for them."""
    r = t.rng
    n = r.randint(0, 400)
    recs = [{"id": k, "k": r.randint(0, 5), "t": gen.a_plain(r, 4), "f": k / 4} for k in range(r.randint(1, 300))]
    for part in range(3):
        rows = recs[part::3]
        t.file(f"{part}.ndjson", "".join(json.dumps(v) + "\n" for v in rows))
        t.file(f"{part}.csv", "id,k,t,f\n" + "".join(f"{v['id']},{v['k']},\"{v['t']}\",{v['f']}\n" for v in rows))
        t.file(f"{part}.txt", "".join(f"{v['id']} {v['t']}\n" for v in rows))
    t.file("all.json", json.dumps(recs, indent=r.choice((None, 1))))
    t.file("all.paras", "\n\n".join(f"{v['id']}\n{v['t']}" for v in recs))
    t.file("3.txt.gz", gzip.compress("".join(f"{k * k}\n" for k in range(n)).encode()))
    for form, made in (("msgpack", "ndjson " + t.path("*.ndjson")), ("npy", f"range {n}"), ("tfrecord", f"range {n} | map str(x)"), ("tsv", f"range {n} | map [x, str(x)]")):
        t.run(made, args=("-t", form, "-o", t.path("all." + form)))
    t.run(f"range {n + 1} | save {t.path('saved')} shards=3")
    return [(f"range {n}", "int"), (f"range {n} 0 -{r.randint(1, 3)}", "int"), (f"random {n} max=1000", "int"), (f"random {n} seed=7 max=50", "int"),
            (f"elements {[r.randint(0, 99) for _ in range(n % 50)]}", "int"), (f"ndjson {t.path('*.ndjson')}", "rec"), (f"csv {t.path('*.csv')}", "rec"),
            (f"lines {t.path('*.txt')}", "text"), (f"lines {t.path('*.txt*')}", "text"), (f"msgpack {t.path('all.msgpack')}", "rec"),
            (f"npy {t.path('all.npy')}" if n else "range 0", "int"), (f"tfrecord {t.path('all.tfrecord')} | map str(x)", "text"), (f"tsv {t.path('all.tsv')} header=false", "list"), (f"load {t.path('saved')}", "int"),
            (f"json {t.path('all.json')}", "rec"), (f"lines {t.path('all.paras')} paragraphs=true | map replace(x, /\\s/, '/')", "text"),
            (f"lines {t.path('*.txt')} with_name=true | map str(.line) ++ .value", "text"), (f"csv {t.path('*.csv')} with_name=true comment=\"#\" ragged=true | map without(x, 'file', 'line')", "rec"),
            (f"concat (range {n}) (range {n % 7})", "int"), (f"files {t.path('*.txt')} | interleave (lines x) cycle=1", "text"), (f"cmd -- seq {n % 90 + 1}", "text"), (f"whole {t.path('*.txt')} | map len(x)", "int")]


def pipeline(t, most=4, widest=GLOBAL, per_stream=False, of=None, drawn=True):
    """A pipeline of up to so many stages, none of a wider scope; without `drawn` none
    that draws, which depends on where in the pipeline it stands."""
    r = t.rng
    pipe = Pipe(*r.choice(of or sources(t)))
    for _ in range(r.randint(0, most)):
        fit = [s for s in STAGES if s[0] in (pipe.kind, "*") and s[2] <= widest and not (s[0] == "*" and pipe.kind == "rec" and "batch" in s[3])
               and (drawn or not any(w in s[3] for w in ("shuffle", "sample")))]
        scope = r.choice(sorted({s[2] for s in fit}))
        _, gives, scope, text = r.choice([s for s in fit if s[2] == scope])
        n = r.randint(1, 6)
        text = text.format(n=n, m=r.randint(0, 6), k=r.randint(1, 4))
        if scope == GLOBAL and per_stream:
            text += " per_stream=true"
        pipe.stages.append(text)
        pipe.scope = max(scope, pipe.scope)
        pipe.kind = pipe.kind if gives == "*" else gives
    return pipe

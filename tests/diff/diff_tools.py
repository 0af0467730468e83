# SPDX-License-Identifier: MIT
"""Pipelines against the programs that people would use in their place: sort, uniq,
comm, join, cut, jq and Miller."""
import json

import gen
import mp
from harness import check

C = {"LC_ALL": "C"}


def words(t, most=400):
    return gen.many(t.rng, lambda r: gen.a_text(r, 3, "abcé ,"), most)


def text(values):
    return "".join(v + "\n" for v in values)


@check("sort")
def tool_sort(t):
    for _ in range(4):
        data = text(words(t))
        for spec, argv in (("sort", []), ("sort reverse=true", ["-r"]), ("sort | dedup", ["-u"]), ("sort mem=4k", [])):
            t.same(t.run("stdin | " + spec, data).decode(), t.tool(["sort", *argv], data, env=C).decode(), spec)
        numbers = text([str(t.rng.randint(-50, 50)) for _ in range(200)])
        t.same(t.run("stdin | sort int(x)", numbers).decode(), t.tool(["sort", "-n", "-s"], numbers, env=C).decode(), "sort -n")
        rows = text([f"{t.rng.choice('abc')}\t{t.rng.randint(0, 9)}\t{k}" for k in range(100)])
        t.same(t.run("stdin | sort [split(x, \"\\t\")[0], -int(split(x, \"\\t\")[1])]", rows).decode(),
               t.tool(["sort", "-s", "-t", "\t", "-k1,1", "-k2,2nr"], rows, env=C).decode(), "sort by two keys")
        t.same(t.run("stdin | top 7 int(x)", numbers).decode(), "".join(t.tool(["sort", "-n", "-r", "-s"], numbers, env=C).decode().splitlines(True)[:7]), "top")


@check("uniq")
def tool_uniq(t):
    for _ in range(4):
        data = text([t.rng.choice("aab") * t.rng.randint(0, 2) for _ in range(200)])
        t.same(t.run("stdin | dedup", data).decode(), t.tool(["uniq"], data, env=C).decode(), "uniq")
        got = t.values("stdin | sort | group_by x", data)
        want = t.tool(["bash", "-c", "sort | uniq -c"], data, env=C).decode().splitlines()
        t.same([f"{v['value']:7} {v['key']}" for v in got], want, "sort | uniq -c")
        t.same(t.run("stdin | unique", data).decode(), t.tool(["awk", "!seen[$0]++"], data, env=C).decode(), "awk !seen")
        t.same(t.run("stdin | count", data), t.tool(["wc", "-l"], data), "wc -l")
        n = t.rng.randint(1, 50)
        t.same(t.run(f"stdin | take {n}", data), t.tool(["head", "-n", str(n)], data), "head")
        t.same(t.run(f"stdin | skip {n}", data), t.tool(["tail", "-n", f"+{n + 1}"], data), "tail")
        t.same(t.run("stdin | filter x ~ /^a+b?$/", data), t.tool(["bash", "-c", "grep -E '^a+b?$' || true"], data), "grep -E")
        t.same(t.run("stdin | map replace(x, /a+/, \"<$0>\")", data), t.tool(["sed", "-E", "s/a+/<&>/g"], data), "sed s///g")


@check("comm")
def tool_comm_join(t):
    for _ in range(4):
        a, b = (sorted(set(words(t, 30)), key=str.encode) for _ in range(2))
        pa, pb = t.file("a", text(a)), t.file("b", text(b))
        both = t.tool(["comm", "-12", pa, pb], env=C)
        t.same(t.run(f"lines {pa} | map {{w: x}} | join (lines {pb} | map {{w: x}}) on=.w | map .w"), both, "comm -12")
        left = t.tool(["comm", "-23", pa, pb], env=C)
        t.same(t.run(f"lines {pa} | map {{w: x}} | join (lines {pb} | map {{w: x}}) on=.w kind=left as=r | filter .r == null | map .w"), left, "comm -23")
        ja = "".join(f"{k}\t{t.rng.randint(0, 9)}\n" for k in sorted(t.rng.choices("abcdef", k=12)))
        jb = "".join(f"{k}\t{t.rng.randint(0, 9)}\n" for k in sorted(t.rng.choices("abcdef", k=6)))
        pa, pb = t.file("ja", ja), t.file("jb", jb)
        spec = f"tsv {pa} header=false columns=[\"k\", \"v\"] | join (tsv {pb} header=false columns=[\"k\", \"w\"]) on=.k"
        # join(1) gives pairs of equal keys in the same order
        t.same_set(t.run(spec + " | format tsv").decode().splitlines(), t.tool(["join", "-t", "\t", pa, pb], env=C).decode().splitlines(), "join")


def objects(t, most=80):
    def one(r):
        return {"user": r.choice(["ann", "bob", "é"]), "n": r.randint(-9, 9), "f": r.randint(-99, 99) / 4, "tags": [r.choice("xyz") for _ in range(r.randint(0, 3))],
                "sub": {"ok": r.random() < 0.5, "t": gen.a_text(r, 4, "ab,;é ")}}

    return gen.many(t.rng, one, most, 1)


JQ = [
    (".user", "map .user"), ("select(.n > 2)", "filter .n > 2"), ("{user, n}", "select user n"), ("del(.n)", "drop n"),
    (".tags[]", "flat_map .tags"), (".tags | length", "map len(.tags)"), (".sub.t | ascii_upcase", "map replace(upper(replace(.sub.t, \"é\", \"1\")), \"1\", \"é\")"),
    ("select(.sub.ok) | .n * 2 + 1", "filter .sub.ok | map .n * 2 + 1"), (".tags | unique", "map sorted(uniq(.tags))"), (".tags | sort", "map sorted(.tags)"),
    (".tags | join(\"-\")", "map join(.tags, \"-\")"), (".sub.t | split(\",\")", "map .sub.t == \"\" ? [] : split(.sub.t, \",\")"),
    (".tags | index(\"y\")", "map find(.tags, \"y\")"), (".sub.t[1:3]", "map .sub.t[1:3]"), (".tags | reverse", "map reversed(.tags)"),
    ("if .n < 0 then \"neg\" else \"pos\" end", "map .n < 0 ? \"neg\" : \"pos\""), ("keys_unsorted", "map keys(x)"), (".missing // 3", "map .missing ?? 3"),
    (".sub.t | test(\"a+b\")", "map .sub.t ~ /a+b/"), (".sub.t | gsub(\"[ab]\"; \"#\")", "map replace(.sub.t, /[ab]/, \"#\")"),
    (".tags | map(. + \"!\")", "map map(.tags, it ++ \"!\")"), (".tags | any(. == \"x\")", "map any(.tags, it == \"x\")"), (".sub | tojson", "map to_json(.sub)"),
    (". + {z: 1}", "map merge(x, {z: 1})"), (".f | floor", "map floor(.f)"), ("[.n, .f] | max", "map max(.n, .f)"), (".user | length", "map len(.user)"),
    (".sub.t | @base64", "map base64(.sub.t)"), (".sub.t | ltrimstr(\"a\")", "map starts(.sub.t, \"a\") ? .sub.t[1:] : .sub.t"), ("type", "map \"object\""),
]
SLURPED = [
    ("map(.n) | add", "reduce 0 s + .n"), ("length", "count"), ("sort_by(.n)[]", "sort .n"), ("sort_by(.user, .f)[]", "sort [.user, .f]"),
    ("group_by(.user)[] | {key: .[0].user, value: length}", "group_by .user | sort .key"), ("unique_by(.n)[]", "sort .n | unique .n"),
    ("group_by(.user)[] | {key: .[0].user, value: (map(.n) | add)}", "group_by .user agg=sum of=.n | sort .key"),
    ("min_by(.n)", "top 1 .n reverse=true"), ("map(.f) | max", "top 1 .f | map .f"), ("first, last", "enumerate | map {i: x[0], v: x[1]} | scan [] s == [] ? [.v, .v] : [s[0], .v] | batch 100000 | map x[-1] | unbatch"),
]


def plain(lines):
    """Numbers by value: jq knows no 1.0."""
    def of(v):
        return int(v) if isinstance(v, float) and v == int(v) else [of(x) for x in v] if isinstance(v, list) else {k: of(x) for k, x in v.items()} if isinstance(v, dict) else v

    return [of(json.loads(s)) for s in lines.decode().splitlines()]


@check("jq")
def tool_jq(t):
    for rows, flags in ((JQ, []), (SLURPED, ["-s"])):
        values = objects(t)
        data = "".join(json.dumps(v) + "\n" for v in values)
        for program, spec in rows:
            want = plain(t.tool(["jq", "-c", *flags, program], data))
            t.same(plain(t.run("ndjson - | " + spec, data, ("-t", "ndjson"))), want, f"jq {program}\n  {spec}")


MLR = [
    (["cat"], "map x"), (["head", "-n", "4"], "take 4"), (["tac"], "enumerate | sort -x[0] | map x[1]"), (["cut", "-f", "k,n"], "select k n"),
    (["cut", "-o", "-f", "n,k"], "select n k"), (["cut", "-x", "-f", "n"], "drop n"), (["rename", "n,m"], "rename n:m"), (["sort", "-f", "k"], "sort .k"),
    (["sort", "-nr", "n"], "sort -.n"), (["sort", "-f", "k", "-nf", "n"], "sort [.k, .n]"), (["filter", "$n > 2"], "filter .n > 2"),
    (["put", "$m = $n * 2"], "map merge(x, {m: .n * 2})"), (["count"], "count | map {count: x}"), (["count-distinct", "-f", "k"], "group_by .k | map {k: .key, count: .value}"),
    (["head", "-n", "1", "-g", "k"], "unique .k"), (["stats1", "-a", "sum", "-f", "n", "-g", "k"], "group_by .k agg=sum of=.n | map {k: .key, n_sum: .value}"),
    (["stats1", "-a", "min", "-f", "n", "-g", "k"], "group_by .k agg=min of=.n | map {k: .key, n_min: .value}"),
    (["stats1", "-a", "mean", "-f", "f", "-g", "k"], "group_by .k agg=mean of=.f | map {k: .key, f_mean: .value}"),
    (["stats1", "-a", "count,max", "-f", "n", "-g", "k"], "group_by .k agg=list of=.n | map {k: .key, n_count: len(.value), n_max: max(.value)}"),
    (["step", "-a", "shift", "-f", "n"], "scan {p: \"\", r: {}} {p: .n, r: merge(x, {n_shift: s.p})} | map .r"),
    (["step", "-a", "rsum", "-f", "n"], "scan {c: 0, r: {}} {c: s.c + .n, r: merge(x, {n_rsum: s.c + .n})} | map .r"),
    (["nothing"], "filter false"), (["sec2gmt", "s"], "map merge(x, {s: fmt_time(.s)})"), (["decimate", "-n", "2"], "shard 2 1"),
    (["put", "$m = $n // 3; $o = ($n + 20) % 7"], "map merge(x, {m: .n // 3, o: (.n + 20) % 7})"),
    (["put", "$m = toupper($k)"], "map merge(x, {m: upper(.k)})"),
    (["put", "$m = strlen($t)"], "map merge(x, {m: len(.t)})"), (["put", "$m = $f ** 2"], "map merge(x, {m: .f ** 2})"),
    (["sort", "-nr", "n", "then", "head", "-n", "2"], "top 2 .n"), (["sec2gmtdate", "s"], "map merge(x, {s: fmt_time(.s, \"%Y-%m-%d\")})"), (["label", "a,b"], "map merge({a: .k, b: .n}, without(x, \"k\", \"n\"))"),
]


@check("mlr")
def tool_mlr(t):
    values = gen.many(t.rng, lambda r: {"k": r.choice(["a", "b", "c d", "x,y"]), "n": r.randint(-9, 9), "f": r.randint(-99, 99) / 4 + 0.125, "t": gen.a_text(r, 4, "ab,é\"") or "-", "s": r.randint(0, 2**31)}, 60, 1)
    data = t.run("stdin msgpack", mp.pack_all(values), ("-t", "csv"))
    path = t.file("a.csv", data)
    for verb, spec in MLR:
        want = json.loads(t.tool(["mlr", "--icsv", "--ojson", "--jlistwrap", *verb, path]))
        got = [json.loads(v) for v in t.run(f"csv {path} | {spec}", args=("-t", "ndjson")).decode().splitlines()]
        t.same(rounded(got), rounded(want), f"mlr {' '.join(verb)}\n  {spec}")
    # CSV there and back
    t.same(t.tool(["mlr", "--icsv", "--ojson", "cat"], data), t.tool(["mlr", "--icsv", "--ojson", "cat"], t.run("csv -", data, ("-t", "csv"))), "mlr --icsv of our csv")


def rounded(rows):
    """Sums of floats are added in another order there."""
    return [{k: round(v, 9) + 0.0 if isinstance(v, (int, float)) and not isinstance(v, bool) else v for k, v in row.items()} for row in rows]

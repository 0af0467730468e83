# SPDX-License-Identifier: MIT
"""Each function of expressions against what Python has for it: rows of an
expression of a, b and c, the same in Python, and where the values come from."""
import base64
import csv
import json
import math
import re
import statistics
import urllib.parse

import gen
import model
import mp
from fns import (
    BLANKS, as_json, basename, char, csv_line, csv_text, dirname, error, exp, find, floats, fmt_time,
    int_range, ints, least, log, mean, moment, numbers, numeral, padded, parse_time, part, path,
    printed, rare_float, record, scalars, seconds, small, sqrt, stem, str_of, text, texts, to_float,
    to_int, tokens, total, uniq, whole, wide_ints)
from harness import ERROR, check
from model import Fault

N = 40  # values for each row

ROWS = [
    ("abs(a)", lambda a: model.fit(abs(a), a > 0) if model.is_int(a) else abs(a), gen.a_number),
    ("floor(a)", whole(math.floor), rare_float), ("ceil(a)", whole(math.ceil), rare_float),
    ("round(a)", lambda a: model.fit(model.round_half_away(a), a > 0), rare_float),
    ("round(a, b)", model.round_half_away, rare_float, lambda r: r.randint(1, 15)),
    ("round(a, 2)", lambda a: model.round_half_away(a, 2), lambda r: r.randint(-10000, 10000) / 1000),
    ("sqrt(a)", sqrt, gen.a_number), ("exp(a)", exp, small), ("log(a)", log, gen.a_number),
    ("log(a, b)", log, gen.a_number, lambda r: r.choice((2, 10, 3, 0.5, 1, -1))),
    ("pow(a, b)", lambda a, b: model.pow_floats(float(a), float(b)), gen.a_number, small),
    ("min(a, b, c)", least, gen.a_number, gen.a_number, gen.a_number), ("min(a)", least, ints),
    ("max(a)", lambda a: least(a, best=max), wide_ints), ("max(a)", lambda a: least(a, best=max), texts),
    ("sum(a)", total, numbers), ("sum(a)", total, wide_ints), ("mean(a)", mean, floats), ("mean(a)", mean, ints),
    ("int(a)", to_int, numeral), ("int(a)", to_int, gen.a_float), ("float(a)", to_float, numeral),
    ("float(a)", float, gen.an_int_or_big), ("str(a)", str_of, gen.a_value), ("to_json(a)", as_json, gen.a_value),
    ("parse_json(a)", json.loads, lambda r: as_json(gen.a_value(r))),
    ("parse_json(a)", json.loads, lambda r: json.dumps(gen.a_value(r))),
    ("len(a)", len, text), ("len(a)", len, ints), ("len(bytes(a))", lambda a: len(a.encode()), text),
    ("len(a)", len, record), ("upper(a)", str.upper, text), ("lower(a)", str.lower, text),
    ("trim(a)", lambda a: a.strip(BLANKS), lambda r: gen.a_text(r, 8, "ab \t\n\r\u00a0")),
    ("trim(a, b)", lambda a, b: a.strip(b) if b else a, gen.a_plain, part),
    ("starts(a, b)", str.startswith, gen.a_plain, part), ("ends(a, b)", str.endswith, gen.a_plain, part),
    ("contains(a, b)", lambda a, b: b in a, gen.a_plain, part),
    ("contains(a, b)", lambda a, b: model.contains(b, a), scalars, gen.a_scalar),
    ("split(a, b)", lambda a, b: a.split(b) if b else error(), gen.a_plain, lambda r: gen.a_plain(r, 2) or "a"),
    ("split(a)", tokens, lambda r: gen.a_text(r, 12, "ab \t\né")),
    ("join(a, b)", lambda a, b: b.join(a), texts, part), ("join(a)", "".join, texts),
    ("join(a, b)", lambda a, b: b.join(map(printed, a)), ints, char),
    ("pad(a, b)", padded, text, small), ("pad(a, b, c)", padded, text, small, char),
    ("pad(a, b, c)", padded, gen.an_int, small, char),
    ("reversed(a)", lambda a: a[::-1], text), ("reversed(a)", lambda a: a[::-1], scalars),
    ("reversed(a)", lambda a: a[::-1], gen.some_bytes),
    ("slice(a, b, c)", lambda a, b, c: a[b:c], text, small, small), ("slice(a, b)", lambda a, b: a[b:], scalars, small),
    ("a[b:c]", lambda a, b, c: a[b:c], gen.some_bytes, small, small), ("a[b]", model.index, text, small),
    ("a[b]", model.index, gen.some_bytes, small), ("a[b]", model.index, scalars, small),
    ("find(a, b)", find, gen.a_plain, part), ("find(a, b)", find, scalars, gen.a_scalar),
    ("replace(a, b, c)", lambda a, b, c: a.replace(b, c) if b else error(), gen.a_plain, lambda r: part(r) or "a", part),
    ("a ++ b", lambda a, b: a + b, text, text), ("a ++ b", lambda a, b: a + b, scalars, scalars),
    ("a ++ b", lambda a, b: a + b, gen.some_bytes, gen.some_bytes),
    ("sorted(a)", lambda a: sorted(a, key=model.key), scalars), ("sorted(a)", sorted, texts),
    ("sorted(a, -it)", lambda a: sorted(a, key=lambda v: -v), numbers), ("sorted(a, len(it))", lambda a: sorted(a, key=len), texts),
    ("uniq(a)", uniq, scalars), ("uniq(a)", uniq, ints), ("zip(a, b)", lambda a, b: [list(p) for p in zip(a, b)], ints, texts),
    ("map(a, it * 2 + b)", lambda a, b: [v * 2 + b for v in a], ints, small),
    ("filter(a, it > b)", lambda a, b: [v for v in a if v > b], ints, small),
    ("any(a, it > b)", lambda a, b: any(v > b for v in a), ints, small), ("all(a, it > b)", lambda a, b: all(v > b for v in a), ints, small),
    ("range(a)", int_range, small), ("range(a, b)", int_range, small, small), ("range(a, b, c)", int_range, small, small, small),
    ("keys(a)", list, record), ("values(a)", lambda a: list(a.values()), record), ("has(a, b)", lambda a, b: b in a, record, lambda r: r.choice("abcé")),
    ("merge(a, b)", lambda a, b: {**a, **b}, record, record),
    ("without(a, b)", lambda a, b: {k: v for k, v in a.items() if k != b}, record, lambda r: r.choice("abc")),
    ("type(a)", lambda a: ["null", "bool", "float" if isinstance(a, float) else "int", "text", "bytes", "list", "record"][model.kind(a)], gen.a_value),
    ("hex(a)", lambda a: f"{a:x}" if a >= 0 else error(), lambda r: abs(gen.an_int(r))), ("hex(a)", bytes.hex, gen.some_bytes),
    ("hex(a)", lambda a: a.encode().hex(), text), ("unhex(a)", bytes.fromhex, lambda r: gen.some_bytes(r).hex()),
    ("base64(a)", lambda a: base64.b64encode(a).decode(), gen.some_bytes),
    ("unbase64(a)", lambda a: base64.b64decode(a), lambda r: base64.b64encode(gen.some_bytes(r)).decode()),
    ("basename(a)", basename, path), ("dirname(a)", dirname, path), ("stem(a)", lambda a: stem(a, 0), path), ("ext(a)", lambda a: stem(a, 1), path),
    ("parse_csv(a, \",\", \"text\")", lambda a: next(csv.reader([a], strict=True)), lambda r: csv_text(csv_line(r))),
    ("parse_time(a)", parse_time, moment), ("fmt_time(a)", fmt_time, seconds), ("fmt_time(parse_time(a))", lambda a: fmt_time(parse_time(a)), moment),
    ("fmt_time(a, b)", fmt_time, seconds, lambda r: r.choice(("%Y-%m-%d", "%d/%b/%Y:%H:%M:%S", "%j %U", "%A"))),
    ("a ?? b", lambda a, b: b if a is None else a, gen.a_scalar, gen.a_scalar),
    ("a == b", model.equal, gen.a_value, gen.a_value), ("a in b", model.contains, gen.a_scalar, scalars),
    ("[a] < [b]", lambda a, b: model.key(a) < model.key(b), gen.a_value, gen.a_value),
]


def expect(f, args):
    try:
        return [f(*args)]
    except (Fault, ValueError, IndexError, OverflowError, ZeroDivisionError, KeyError, statistics.StatisticsError):
        return ERROR


def chunks(rows, n):
    return [rows[i:i + n] for i in range(0, len(rows), n)]


def ask(t, rows, typed):
    """All rows of a chunk in one run: an element has the arguments of each."""
    inputs = [[[g(t.rng) for g in row[2:]] for row in rows] for _ in range(N)]
    exprs = [re.sub(r"\b[abc]\b(?!\()", lambda m, k=k: f"x[{k}][{'abc'.index(m[0])}]", row[0]) for k, row in enumerate(rows)]
    if typed:  # each list is a record's field, of one type throughout
        exprs = [re.sub(r"x\[(\d+)\]\[(\d)\]", r".r\1.v\2", e) for e in exprs]
        records = [{f"r{k}": {f"v{j}": v for j, v in enumerate(args)} for k, args in enumerate(one)} for one in inputs]
        source, stdin = "elements " + gen.literal(records), b""
    else:
        source, stdin = "stdin msgpack", mp.pack_all(inputs)
    got = t.values(source + " | map [" + ", ".join(f"[{e}] ?? null" for e in exprs) + "]", stdin)
    for one, answers in zip(inputs, got):
        for row, args, answer in zip(rows, one, answers):
            t.same([ERROR if answer is None else answer], [expect(row[1], args)], row[0], [args])
    t.same(len(got), N)


@check()
def functions(t):
    for rows in chunks(ROWS, 8):
        ask(t, rows, False)


@check()
def functions_typed(t):
    for row in ROWS:
        if not set(row[2:]) & {gen.a_value, gen.a_scalar, scalars, record}:
            ask(t, [row], True)


@check()
def urls(t):
    """url texts, which Python's urllib reads and writes too."""
    rows = [{gen.a_plain(t.rng, 3) + "k": gen.a_text(t.rng, 8) for _ in range(t.rng.randint(1, 4))} for _ in range(N)]
    text = [urllib.parse.urlencode(row, quote_via=urllib.parse.quote) for row in rows]
    t.same(t.values("stdin msgpack | parse url types=text", mp.pack_all(text)), rows, "parse url")
    back = [dict(urllib.parse.parse_qsl(v, keep_blank_values=True)) for v in t.values("stdin msgpack | format url", mp.pack_all(rows))]
    t.same(back, rows, "format url")

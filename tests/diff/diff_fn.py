# SPDX-License-Identifier: MIT
"""Each function of expressions against what Python has for it: rows of an
expression of a, b and c, the same in Python, and where the values come from."""
import base64
import csv
import datetime
import json
import math
import os
import re
import statistics
import urllib.parse

import gen
import model
import mp
from harness import ERROR, check
from model import Fault

BLANKS = " \t\n\v\f\r"
N = 40  # values for each row


def text(r):
    return gen.a_text(r, 10)


def part(r):
    return gen.a_plain(r, 2)


def char(r):
    return r.choice(gen.LETTERS)


def small(r):
    return r.randint(-8, 8)


def digits(r):
    return r.randint(0, 6)


def ints(r):
    return gen.many(r, small, 6)


def wide_ints(r):
    return gen.many(r, gen.an_int_or_big, 5)


def floats(r):
    return gen.many(r, lambda q: q.randint(-4000, 4000) / 8, 6, 1)


def numbers(r):
    return gen.many(r, lambda q: q.choice((small(q), q.randint(-80, 80) / 16)), 6)


def scalars(r):
    return gen.many(r, gen.a_scalar, 6)


def texts(r):
    return gen.many(r, gen.a_plain, 5)


def record(r):
    return {k: gen.a_scalar(r) for k in r.sample(["a", "b", "c", "d e", "é"], r.randint(0, 4))}


def rare_float(r):
    return r.choice((gen.a_float(r), r.randint(-99999, 99999) / 1000, r.randint(-9999, 9999) * 0.005))


def numeral(r):
    """Texts that are, or are nearly, numbers."""
    return r.choice((lambda: str(gen.an_int(r)), lambda: repr(gen.a_float(r)), lambda: " 12 ", lambda: "0x1F",
                     lambda: "+7", lambda: "1_000", lambda: "1__0", lambda: "", lambda: "-", lambda: "1e5",
                     lambda: "0x", lambda: "١", lambda: str(2**64), lambda: str(2**64 - 1), lambda: "007",
                     lambda: gen.a_text(r, 4, "0123456789-+_.e x"), lambda: "inf", lambda: "-Infinity",
                     lambda: ".5", lambda: "5.", lambda: "1e400", lambda: "1e-400"))()


def path(r):
    return gen.a_text(r, 10, "ab./.é /")


def seconds(r):
    return r.choice((r.randint(-2**31, 2**33), r.randint(0, 2**31) + r.randint(0, 999999) / 1e6, float(r.randint(0, 2**32))))


def moment(r):
    t = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=r.randint(-2**31, 2**33))
    return t.strftime("%Y-%m-%d") + r.choice(
        ("", t.strftime("T%H:%M:%S"), t.strftime(" %H:%M:%S"), t.strftime("T%H:%M:%S.") + str(r.randint(0, 999999)).zfill(6),
         t.strftime("T%H:%M"), t.strftime("T%H:%M:%SZ"), t.strftime("T%H:%M:%S+02:00"), t.strftime("T%H:%M:%S-11:30")))


def to_int(v):
    if isinstance(v, str):
        s = v.strip(BLANKS)
        if re.fullmatch(r"[+-]?0[xX][0-9a-fA-F]+(_[0-9a-fA-F]+)*", s):
            v = int(s, 16)
        elif re.fullmatch(r"[+-]?[0-9]+(_[0-9]+)*", s):
            v = int(s)
        else:
            raise Fault("no int")
    return model.fit(int(v), int(v) > 0)


def to_float(v):
    if isinstance(v, str):
        v = v.strip(BLANKS)
        if not v.isascii() or "_" in v:
            raise Fault("no float")
        f = float(v)
        if math.isinf(f) and "inf" not in v.lower():
            raise Fault("too large")
        return f
    return float(v)


def printed(v):
    """As str() has it: JSON, but for texts."""
    return v if isinstance(v, str) else as_json(v)


def as_json(v):
    if isinstance(v, float) and not math.isfinite(v):
        return "null"
    return json.dumps(v, ensure_ascii=False, separators=(",", ":"))


def str_of(v):
    return "inf" if v == math.inf else "-inf" if v == -math.inf else printed(v)


def total(values):
    """The sum of ints is exact; of floats their own first."""
    whole = [v for v in values if model.is_int(v)]
    if len(whole) == len(values):
        return model.fit(sum(whole), any(v >= 2**63 for v in whole))
    return sum(v for v in values if isinstance(v, float)) + float(sum(whole))


def mean(values):
    return statistics.fmean(values)


def padded(a, n, c=" "):
    a = printed(a)
    return a.rjust(n, c) if n >= 0 else a.ljust(-n, c)


def find(a, b):
    if isinstance(a, list):
        return next((i for i, x in enumerate(a) if model.equal(x, b)), None)
    at = a.find(b)
    return None if at < 0 else at


def uniq(values):
    out = []
    for v in values:
        if not any(model.key(v) == model.key(w) for w in out):
            out.append(v)
    return out


def least(*a, best=min):
    a = a[0] if len(a) == 1 else a
    return best(a) if a else error()


def error():
    raise Fault("so it is")


def stem(p, which):
    base = os.path.basename(p.rstrip("/")) or ("/" if p else "")
    at = base.rfind(".")
    at = at if at > 0 else len(base)
    return base[:at] if which == 0 else base[at:]


def dirname(p):
    """As dirname(1), which leaves one slash of several."""
    d = os.path.dirname(p.rstrip("/") or p[:1])
    return d if d.strip("/") else d[:1] or "."


def basename(p):
    return os.path.basename(p.rstrip("/")) or p[:1]


def parse_time(s):
    day, rest = s[:10], s[11:]
    zone = 0
    m = re.search(r"(Z|[+-]\d\d:\d\d)$", rest)
    if m:
        rest = rest[:m.start()]
        if m[1] != "Z":
            zone = (int(m[1][1:3]) * 3600 + int(m[1][4:]) * 60) * (-1 if m[1][0] == "-" else 1)
    t = datetime.datetime.fromisoformat(day + ("T" + rest if rest else ""))
    whole = int((t.replace(microsecond=0) - datetime.datetime(1970, 1, 1)).total_seconds()) - zone
    fraction = float("0." + rest.split(".")[1]) if "." in rest else 0.0
    return float(whole) + fraction


def fmt_time(v, form=None):
    whole = math.floor(v)
    t = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=whole)
    if form:
        return t.strftime(form)
    micro = round((v - whole) * 1e6)
    if micro == 1000000:
        t, micro = t + datetime.timedelta(seconds=1), 0
    return t.strftime("%Y-%m-%dT%H:%M:%S") + (f".{micro:06}".rstrip("0") if micro else "") + "Z"


def csv_line(r):
    return [gen.a_text(r, 5, 'ab", é\t') for _ in range(r.randint(1, 4))]


def csv_text(fields):
    import io
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(fields)
    return out.getvalue()


def int_range(*a):
    if len(a) == 3 and a[2] == 0:
        error()
    return list(range(*a))


def log(a, b=None):
    if a <= 0 or b is not None and (b <= 0 or b == 1):
        error()
    return math.log(a) if b is None else math.log2(a) if b == 2 else math.log10(a) if b == 10 else math.log(a) / math.log(b)


def sqrt(a):
    return math.sqrt(a) if a >= 0 else error()


def exp(a):
    try:
        return math.exp(a)
    except OverflowError:
        return math.inf


def whole(f):
    """Floor and ceil, of floats, as ints."""
    return lambda a: model.fit(f(a), f(a) > 0)


def tokens(s):
    return [w for w in re.split("[ \t\n\v\f\r]+", s) if w]


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
    ("type(a)", lambda a: ["nil", "bool", "float" if isinstance(a, float) else "int", "text", "bytes", "list", "record"][model.kind(a)], gen.a_value),
    ("hex(a)", lambda a: f"{a:x}" if a >= 0 else error(), lambda r: abs(gen.an_int(r))), ("hex(a)", bytes.hex, gen.some_bytes),
    ("hex(a)", lambda a: a.encode().hex(), text), ("unhex(a)", bytes.fromhex, lambda r: gen.some_bytes(r).hex()),
    ("base64(a)", lambda a: base64.b64encode(a).decode(), gen.some_bytes),
    ("unbase64(a)", lambda a: base64.b64decode(a), lambda r: base64.b64encode(gen.some_bytes(r)).decode()),
    ("basename(a)", basename, path), ("dirname(a)", dirname, path), ("stem(a)", lambda a: stem(a, 0), path), ("ext(a)", lambda a: stem(a, 1), path),
    ("parse_csv(a)", lambda a: next(csv.reader([a], strict=True)), lambda r: csv_text(csv_line(r))),
    ("parse_time(a)", parse_time, moment), ("fmt_time(a)", fmt_time, seconds), ("fmt_time(parse_time(a))", lambda a: fmt_time(parse_time(a)), moment),
    ("fmt_time(a, b)", fmt_time, seconds, lambda r: r.choice(("%Y-%m-%d", "%d/%b/%Y:%H:%M:%S", "%j %U", "%A"))),
    ("a ?? b", lambda a, b: b if a is None else a, gen.a_scalar, gen.a_scalar),
    ("a == b", model.equal, gen.a_value, gen.a_value), ("a in b", model.contains, gen.a_scalar, scalars),
    ("[a] < [b]", lambda a, b: model.key(a) < model.key(b), gen.a_value, gen.a_value),
]
URL = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")


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
    t.same(t.values("stdin msgpack | parse url text=true", mp.pack_all(text)), rows, "parse url")
    back = [dict(urllib.parse.parse_qsl(v, keep_blank_values=True)) for v in t.values("stdin msgpack | format url", mp.pack_all(rows))]
    t.same(back, rows, "format url")

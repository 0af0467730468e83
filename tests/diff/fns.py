# SPDX-License-Identifier: MIT
"""Functions of expressions in Python, and where their arguments come from."""
import csv
import datetime
import io
import json
import math
import os
import re
import statistics

import gen
import model
from model import Fault

BLANKS = " \t\n\v\f\r"


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
    return os.path.splitext(base)[which]


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

# SPDX-License-Identifier: MIT
"""Formats of text, in and out, against Python's csv and json and against jq."""
import csv
import io
import json
import random
import re

import gen
import mp
from harness import check

CELLS = ["", "a", "a,b", 'say "x"', "two\nlines", "é日本", " b ", "\t", "\r", "0", "-0", "007", "1.5", "-2", "1e3", "1E400", "true",
         "false", "null", "TRUE", "+1", ".5", "5.", "9223372036854775807", "18446744073709551615", "18446744073709551616",
         "1e-400", "-", "0x10", "NaN", "'", "#", "\\", "1_0", "1.0", "12345678901234567890.5", "0.1000", "1e22"]


def cell(r):
    return r.choice(CELLS) if r.random() < 0.7 else gen.a_text(r, 6, 'ab",;\n é')


def table(r, cells=cell, most=8):
    names = r.sample(["id", "n", "x y", "é", "q\"q", "c,d", "last"], r.randint(1, 5))
    return names, [[cells(r) for _ in names] for _ in range(r.randint(0, most))]


def write_csv(r, rows, quoting=csv.QUOTE_MINIMAL, **dialect):
    out = io.StringIO(newline="")
    # Python quotes a return only where lines end with one.
    ends = ("\r\n",) if any("\r" in c for row in rows for c in row) else ("\n", "\r\n")
    csv.writer(out, quoting=quoting, lineterminator=r.choice(ends), **dialect).writerows(rows)
    text = out.getvalue()
    return text.rstrip("\r\n") if rows and rows[-1] != [""] and not rows[-1][-1].endswith("\n") and r.random() < 0.2 else text


def typed(text):
    """What an unquoted field is: a number that JSON would read, true, false, null,
    or text where a number would not hold it."""
    if text == "":
        return None
    if text in ("true", "false"):
        return text == "true"
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
        return text
    if text == "-0":  # which no int would print
        return -0.0
    v = float(text) if set(text) & set(".eE") else int(text)
    if isinstance(v, int):
        return v if -2**63 <= v < 2**64 else text
    return text if v in (float("inf"), -float("inf")) else v


@check()
def csv_in_text(t):
    for _ in range(8):
        names, rows = table(t.rng)
        dialect = t.rng.choice(({}, {"quoting": csv.QUOTE_ALL}, {"delimiter": ";"}, {"quotechar": "'"}))
        delim, quote = dialect.get("delimiter", ","), dialect.get("quotechar", '"')
        text = write_csv(t.rng, [names] + rows, **dialect)
        path = t.file("t.csv", text)
        want = [dict(zip(names, row)) for row in rows]
        spec = f"csv {path} types=text delim={gen.byte(delim)} quote={gen.byte(quote)}"
        t.same(t.values(spec), want, spec + "\n" + text)
        t.same(t.values(spec + " header=false"), [names] + rows, spec + " header=false\n" + text)


@check()
def csv_in_typed(t):
    for _ in range(8):
        names, rows = table(t.rng, lambda r: gen.a_text(r, 2, "ab é") if r.random() < .2 else r.choice(CELLS))
        rows = [[c if not set(c) & set('",\n\r') else "plain" for c in row] for row in rows]
        text = write_csv(t.rng, [names] + rows)
        want = [{n: typed(c) for n, c in zip(names, row)} for row in rows]
        t.same(t.values("csv -", text), want, text)
        if rows:
            keep = t.rng.sample(names, t.rng.randint(1, len(names)))
            t.same(t.values(f"csv - columns={gen.literal(keep)}", text), [{n: row[n] for n in keep} for row in want], text)


def as_field(v):
    return "" if v is None else json.dumps(v) if isinstance(v, (bool, float, int)) else v


@check()
def csv_out(t):
    for _ in range(8):
        names, rows = table(t.rng, lambda r: r.choice((cell, gen.a_number, gen.a_bool, lambda _: None))(r))
        records = [dict(zip(names, row)) for row in rows]
        want = [names] + [[as_field(v) for v in row] for row in rows] if rows else []
        out = t.run("stdin msgpack", mp.pack_all(records), ("-t", "csv")).decode()
        if len(names) > 1:  # Python takes an empty line for no row
            t.same(list(csv.reader(io.StringIO(out, newline=""), strict=True)), want, repr(out))
        # and what we write ourselves we read
        t.same(t.values("csv - types=text", out), [dict(zip(names, row)) for row in want[1:]], repr(out))
        fields = [dict(zip(names, map(as_field, row))) for row in rows]
        if len(names) > 1:
            lines = t.run("stdin msgpack | format csv", mp.pack_all(fields)).decode()
            t.same(list(csv.reader(io.StringIO(lines, newline=""))), want[1:], repr(lines))


TSV = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}


@check()
def tsv_both_ways(t):
    for _ in range(6):
        names, rows = table(t.rng, lambda r: gen.a_text(r, 5, 'ab"\t\\\n\ré '))
        text = "".join("\t".join("".join(TSV.get(c, c) for c in f) for f in row) + "\n" for row in [names] + rows)
        records = [dict(zip(names, row)) for row in rows]
        t.same(t.values("tsv - types=text", text), records, repr(text))
        if rows:
            t.same(t.run("stdin msgpack", mp.pack_all(records), ("-t", "tsv")).decode(), text)


def spaced(r, v):
    """JSON with all the freedom that it leaves, on one line."""
    blank = lambda: r.choice(("", "", " ", "\t", "  "))
    if isinstance(v, dict):
        return "{" + blank() + ",".join(blank() + spaced(r, k) + blank() + ":" + spaced(r, x) for k, x in v.items()) + "}"
    if isinstance(v, list):
        return "[" + blank() + ",".join(spaced(r, x) for x in v) + "]" + blank()
    if isinstance(v, str):
        quote = lambda c: r.choice(("\\u%04x", "\\u%04X")) % ord(c) if ord(c) < 0x10000 and r.random() < 0.2 else json.dumps(c, ensure_ascii=r.random() < 0.3)[1:-1]
        return blank() + '"' + "".join(map(quote, v)).replace("/", r.choice(("/", "\\/"))) + '"' + blank()
    text = json.dumps(v)
    if isinstance(v, float) and r.random() < 0.3:
        text = r.choice((f"{v:.20e}", f"{v:E}" if float(f"{v:E}") == v else text, text.replace("e+", "E")))
    return blank() + text + blank()


@check()
def json_in(t):
    values = gen.many(t.rng, gen.a_value, 200, 100)
    text = "".join(spaced(t.rng, v) + t.rng.choice(("\n", "\n", "\n\n", "\r\n")) for v in values)
    want = [json.loads(line) for line in text.split("\n") if line.strip()]
    t.same(t.values("ndjson -", text), want, "ndjson", text.split("\n"))
    t.same(t.values("stdin ndjson", text), want, "stdin ndjson")
    t.same(t.values("lines - | filter trim(x) != \"\" | map parse_json(x)", text), want, "parse_json")


@check()
def json_out(t):
    """To the byte as Python writes it: floats as well, and what is escaped."""
    odd = "".join(map(chr, range(1, 0x30))) + "\x7f\x80\u2028\ufeff\uffff\U0010ffff\0"
    values = gen.many(t.rng, lambda r: gen.a_value(r, 4, lambda q: gen.a_text(q, 4, odd + gen.LETTERS)), 200, 100)
    want = "".join(json.dumps(v, ensure_ascii=False, separators=(",", ":")) + "\n" for v in values)
    got = t.run("stdin msgpack", mp.pack_all(values), ("-t", "ndjson")).decode()
    t.same(got.split("\n"), want.split("\n"), "-t ndjson", values + [None])
    got = t.run("stdin msgpack | format json", mp.pack_all(values)).decode()
    t.same(got.split("\n"), want.split("\n"), "format json")
    t.same(json.loads(t.run("stdin msgpack", mp.pack_all(values), ("-t", "json"))), values, "-t json")


@check()
def json_floats(t):
    """Numbers are read to the nearest float and written as short as it goes."""
    values = [f for f in (random.Random(t.rng.random()).choice((gen.a_float, lambda r: r.random() * 10 ** r.randint(-320, 300)))(t.rng) for _ in range(3000))]
    text = "".join(f"{v!r}\n" for v in values)
    t.same(t.lines("stdin ndjson", text), text.split("\n")[:-1], "shortest")
    long = "".join(f"{v:.{t.rng.randint(17, 40)}e}\n" for v in values)
    t.same(t.values("stdin ndjson", long), [json.loads(s) for s in long.split("\n")[:-1]], "nearest", long.split("\n"))


def mutated(r, text):
    """A text of JSON with a byte or two changed."""
    b = bytearray(text.encode())
    for _ in range(r.randint(1, 2)):
        at = r.randrange(len(b) + 1)
        k = r.random()
        if k < 0.4 and at < len(b):
            del b[at]
        elif k < 0.7:
            b.insert(at, r.choice(b'{}[]",:0123456789.eE+-truefalsn \\u/\t\x01\x80'))
        elif at < len(b):
            b[at] = r.choice(b'{}[]",:0.eE-t \\\x7f\xff')
    return bytes(b).replace(b"\n", b" ").replace(b"\r", b" ")


def refuse(word):
    raise ValueError(word)


def python_json(line):
    """None: no JSON; Python's own additions to it are taken away."""
    try:
        v = json.loads(line.decode(), parse_constant=refuse)
        text = json.dumps(v, ensure_ascii=False, allow_nan=False)
        text.encode()  # no lone surrogate
        if any(isinstance(n, int) and not -2**63 <= n < 2**64 for n in numbers_of(v)):
            return None, True
        return [v], False
    except (ValueError, RecursionError):
        return None, False


def numbers_of(v):
    if isinstance(v, (list, dict)):
        for x in v.values() if isinstance(v, dict) else v:
            yield from numbers_of(x)
    else:
        yield v


@check()
def json_mistakes(t):
    """What is no JSON for Python is none for us."""
    lines = [mutated(t.rng, spaced(t.rng, gen.a_value(t.rng, 3))) for _ in range(400)]
    lines = [b for b in lines if b.strip(b" \t")]
    got = t.values("stdin msgpack | map [parse_json(x)] ?? null", mp.pack_all([b for b in lines]))
    for line, answer in zip(lines, got):
        want, large = python_json(line)
        if not large:  # an int of more than 64 bits becomes a float here
            t.same([answer], [want], "parse_json", [line])
    good = [python_json(b)[0] for b in lines]
    keep = [(b, w) for b, w in zip(lines, good) if w is not None or not python_json(b)[1]]
    out = t.values("stdin ndjson on_error=skip", b"".join(b + b"\n" for b, _ in keep), ("-q",))
    t.same(out, [w[0] for _, w in keep if w is not None], "stdin ndjson on_error=skip")


@check("jq")
def json_jq(t):
    """jq agrees; its numbers are floats of 17 digits, so ints below 2^53 are given to both."""
    def value(r, depth=3):
        k = r.random()
        if depth == 0 or k < 0.6:
            return r.choice((lambda: r.randint(-2**53, 2**53), lambda: r.randint(-999, 999) / 8, lambda: gen.a_text(r), lambda: gen.a_bool(r), lambda: None))()
        return [value(r, depth - 1) for _ in range(3)] if k < 0.8 else {gen.a_text(r, 3): value(r, depth - 1) for _ in range(3)}

    values = [value(t.rng) for _ in range(150)]
    text = "".join(spaced(t.rng, v) + "\n" for v in values)
    want = t.tool(["jq", "-c", "."], text).decode()
    got = t.run("ndjson -", text, ("-t", "ndjson")).decode()
    got = re.sub(r"(?<=[0-9])\.0(?=[,\]}\n])", "", got)  # 1.0 stays a float here
    t.same([json.loads(s) for s in got.split("\n")[:-1]], [json.loads(s) for s in want.split("\n")[:-1]], "jq .")


@check()
def texts_out(t):
    """-t text, raw and nul are the texts themselves."""
    values = gen.many(t.rng, gen.a_text, 100)
    packed = mp.pack_all(values)
    t.same(t.run("stdin msgpack", packed, ("-t", "text")), "".join(v + "\n" for v in values).encode())
    t.same(t.run("stdin msgpack", packed, ("-t", "raw")), "".join(values).encode())
    t.same(t.run("stdin msgpack", packed, ("-0",)), "".join(v + "\0" for v in values).encode())
    t.same(t.values("stdin nul", "".join(v + "\0" for v in values)), values)


@check()
def lines_in(t):
    """Lines as split() has them, with any byte to end them, in plain and packed files."""
    import bz2
    import gzip
    import lzma
    for _ in range(6):
        delim = t.rng.choice(("\n", "\0", ";", "\t"))
        text = gen.a_text(t.rng, 300, "ab é\r" + delim * 3)
        parts = text.split(delim)
        parts = parts[:-1] if parts[-1] == "" else parts
        skip = t.rng.randint(0, 3)
        for name, pack in (("t", bytes), ("t.gz", gzip.compress), ("t.bz2", bz2.compress), ("t.xz", lzma.compress)):
            path = t.file(name, pack(text.encode()))
            spec = f"lines {path} delim={gen.byte(delim)} skip={skip}"
            t.same(t.values(spec), parts[skip:], spec)
            for jobs in ("2", "3"):
                t.same(t.values(spec, args=("-j", jobs)), parts[skip:], spec)
        t.same(t.values(f"whole {path} | map str(x)"), [text])


@check()
def kv_both_ways(t):
    """What format kv writes, parse kv reads."""
    name = lambda r: gen.a_text(r, 3, "abc") or "k"
    rows = [{name(t.rng): t.rng.choice((gen.a_text, gen.an_int, gen.a_bool))(t.rng) for _ in range(3)} for _ in range(60)]
    texts = [{k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in row.items()} for row in rows]
    t.same(t.values("stdin msgpack | format kv | parse kv types=text", mp.pack_all(rows)), texts)

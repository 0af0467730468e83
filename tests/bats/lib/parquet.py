# SPDX-License-Identifier: MIT
# Parquet and Arrow files for the tests, and what is in them as dsvc prints it, both by pyarrow:
#
#	parquet.py make KIND FILE      writes a file: of Arrow if it is called *.arrow, an Arrow stream if *.arrows
#	parquet.py rows FILE [COLUMN]  prints its rows as JSON, one a line
#	parquet.py tests FILE          prints pipelines, two and two of which must give the same: with a filter that is
#	                               pushed down to FILE, a "matrix", and with one that is hidden
#	parquet.py stream              reads an Arrow stream from standard input, and prints its rows
import base64
import datetime as d
import decimal
import json
import random
import sys

import pyarrow as pa
import pyarrow.parquet as pq

EPOCH = d.datetime(1970, 1, 1, tzinfo=d.timezone.utc)


def types():
    utc = d.timezone.utc
    when = d.datetime(2024, 2, 29, 12, 30, 0, 500000, tzinfo=utc)
    dec = decimal.Decimal
    ints = {f"{s}int{b}": (s, b) for s in ("", "u") for b in (8, 16, 32, 64)}
    columns = {
        name: pa.array([0 if s else -(2 ** (b - 1)), 2 ** (b - (not s)) - 1, None], getattr(pa, name)())
        for name, (s, b) in ints.items()
    }
    columns |= {
        "nothing": pa.nulls(3),
        "bool": pa.array([True, None, False]),
        "half": pa.array([1.5, None, -2.0], pa.float16()),
        "float": pa.array([1.5, -0.25, None], pa.float32()),
        "double": pa.array([None, 0.1, 1e300]),
        "text": pa.array(["", None, "grün 😀"]),
        "large": pa.array(["a", "b" * 300, None], pa.large_string()),
        "bytes": pa.array([b"", b"\x00\xff", None]),
        "fixed": pa.array([b"abcd", None, b"efgh"], pa.binary(4)),
        "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
        "nulls_in_dictionary": pa.array(["x", None, "z"]).dictionary_encode(),
        "date": pa.array([d.date(1970, 1, 2), d.date(1969, 12, 31), None]),
        "time": pa.array([d.time(1, 2, 3), None, d.time(23, 59, 59)], pa.time32("s")),
        "time_us": pa.array([d.time(1, 2, 3, 250000), None, d.time(0)], pa.time64("us")),
        "seconds": pa.array([when, None, when], pa.timestamp("s", "UTC")),
        "millis": pa.array([when, None, when], pa.timestamp("ms")),
        "micros": pa.array([when, None, when], pa.timestamp("us", "Europe/Berlin")),
        "span": pa.array([d.timedelta(seconds=1, milliseconds=500), None, d.timedelta(days=-1)], pa.duration("ms")),
        "decimal": pa.array([dec("1.25"), None, dec("-99999.99")], pa.decimal128(7, 2)),
        "wide": pa.array([dec(10) ** 40, dec("-0.5"), None], pa.decimal256(50, 3)),
        "list": pa.array([[1, None], [], None], pa.list_(pa.int16())),
        "lists": pa.array([[["a"], None], [], [[]]], pa.large_list(pa.list_(pa.string()))),
        "four": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "struct": pa.array([{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}]),
        "map": pa.array([[("k", 1), ("l", None)], [], None], pa.map_(pa.string(), pa.int32())),
        "numbered": pa.array([[(1, "a")], None, []], pa.map_(pa.int32(), pa.string())),
        "records": pa.array([[{"x": 1}, {"x": 2}], [], [{"x": None}]]),
    }
    return pa.table(columns)


def numbers(n):
    r = random.Random(7)
    return pa.table({
        "id": pa.array(range(n), pa.int64()),
        "ms": pa.array([None if r.random() < 0.01 else r.random() * 100 for _ in range(n)]),
        "name": pa.array([f"n{r.randrange(1000)}" for _ in range(n)]),
        "group": pa.array([i // (n // 20 or 1) for i in range(n)], pa.int32()),
    })


PART = 25  # rows of a row group of the matrix
NULLS = (None, 0.2, 1.0)  # what of the first groups is null


def matrix():
    """Columns of every type that has an order, whose values grow from row group to row group, and constants."""
    r = random.Random(11)
    dec = decimal.Decimal
    day = EPOCH + d.timedelta(days=19000)
    kinds = {"bool": (pa.bool_(), lambda k: k % 150 > 75)}
    for b in (8, 16, 32, 64):
        kinds[f"int{b}"] = getattr(pa, f"int{b}")(), lambda k, b=b: (k - 75) * (2 ** (b - 1) // 80)
        kinds[f"uint{b}"] = getattr(pa, f"uint{b}")(), lambda k, b=b: k * (2**b // 160)
    kinds |= {
        "half": (pa.float16(), lambda k: k - 70.5),
        "float": (pa.float32(), lambda k: (k - 70) / 3),
        "double": (pa.float64(), lambda k: float("nan") if k % 31 == 7 else (k - 70) / 7),
        "text": (pa.string(), lambda k: chr(97 + k // 10) * (k % 4) + "é"),
        "large": (pa.large_string(), lambda k: "\U0001f600" + chr(0x100 + k)),
        "long": (pa.string(), lambda k: f"{k:04}" * 2000),
        "bytes": (pa.binary(), lambda k: bytes([k + 90, 255])),
        "fixed": (pa.binary(2), lambda k: bytes([k + 90, 0])),
        "words": (pa.dictionary(pa.int8(), pa.string()), lambda k: f"w{k // 5:03}"),
        "date": (pa.date32(), lambda k: (day + d.timedelta(days=k - 19050)).date()),
        "time": (pa.time32("s"), lambda k: d.time(k // 10, k % 60)),
        "seconds": (pa.timestamp("s", "UTC"), lambda k: day + d.timedelta(hours=k)),
        "millis": (pa.timestamp("ms"), lambda k: (day + d.timedelta(minutes=k)).replace(tzinfo=None)),
        "micros": (pa.timestamp("us", "Europe/Berlin"), lambda k: day + d.timedelta(microseconds=k)),
        "nanos": (pa.timestamp("ns"), lambda k: k * 10**16 + 3),
        "span": (pa.duration("ms"), lambda k: d.timedelta(milliseconds=k - 60)),
        "decimal": (pa.decimal128(7, 2), lambda k: dec(k - 70) / 4),
        "wide": (pa.decimal256(50, 3), lambda k: dec(k - 70) * 10**38),
    }
    columns, constants = {"n": pa.array(range(6 * PART))}, {}
    for name, (t, value) in kinds.items():
        values = []
        for k in range(6 * PART):
            some = NULLS[k // PART % 6] if k // PART < len(NULLS) else None
            values.append(None if some and r.random() < some else value(min(149, k + r.randrange(3))))
        columns[name] = pa.array(values, t)
        some = [value(k) for k in (0, 60, 99, 149)]
        constants[name] = [v / 1e9 if name == "nanos" else plain(pa.array([v], t)[0].as_py(), t) for v in some]
        if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
            constants[name] = [f"unbase64({json.dumps(c)})" for c in constants[name]]
        else:
            constants[name] = [json.dumps(c, ensure_ascii=False) for c in constants[name]]
        constants[name] = [c for c in constants[name] if c != "NaN"]
    return pa.table(columns), constants


def source(path):
    return "arrow" if path.endswith((".arrow", ".arrows")) else "parquet"


def write_arrow(table, path, row_group_size=None, compression=None, **_):
    new = pa.ipc.new_file if path.endswith(".arrow") else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=compression if compression in ("zstd", "lz4") else None)
    with new(path, table.schema, options=options) as w:
        w.write_table(table, max_chunksize=row_group_size)


def write(table, path, **options):
    (write_arrow if source(path) == "arrow" else pq.write_table)(table, path, **options)


def tests(path):
    for name, constants in matrix()[1].items():
        some = [f".{name} {op}" for op in ("== null", "!= null", "in [null, 3]", '== [1]')]
        for c in constants:
            some += [f".{name} {op} {c}" for op in ("==", "!=", "<", "<=", ">", ">=")]
            some += [f"{c} >= .{name}", f".{name} in [{c}, {constants[0]}, null]", f".{name} in [{c}]",
                     f".{name} != null and .{name} > {c} and .n < 130", f".n >= 75 and .{name} != {c}"]
        for test in some:
            for t in (test, f"({test}) == true"):
                print(f"({source(path)} {path} | filter {t} nulls=skip | map .n | stats)")


def make(kind, path):
    if kind == "types":
        write(types(), path)
    elif kind in ("matrix", "silent"):
        write(matrix()[0], path, row_group_size=PART, write_statistics=kind == "matrix")
    elif kind == "empty":
        write(numbers(1).slice(0, 0), path)
    elif kind == "unfit":  # the second of three rows cannot be an element
        many = [(str(k), k) for k in range(5000)]
        write(pa.table({"id": [0, 1, 2], "m": pa.array([[("a", 1)], many, []], pa.map_(pa.string(), pa.int32()))}), path)
    elif kind == "none":  # no columns
        write(pa.table({}), path)
    elif kind == "groups":
        write(numbers(40000), path, row_group_size=2000)
    elif kind == "large":
        write(numbers(400000), path, row_group_size=10000, compression="none", use_dictionary=False)
    else:  # a codec, pages of both versions
        version = "2.0" if kind.endswith("2") else "1.0"
        write(numbers(5000), path, compression=kind.rstrip("2"), row_group_size=1000,
                       data_page_version=version, data_page_size=4096)


def plain(v, t):
    if v is None:
        return None
    if pa.types.is_dictionary(t):
        return plain(v, t.value_type)
    if pa.types.is_timestamp(t):
        v = v if v.tzinfo else v.replace(tzinfo=d.timezone.utc)
        return (v - EPOCH) / d.timedelta(seconds=1)
    if pa.types.is_date(t):
        return float((v - EPOCH.date()).days * 86400)
    if pa.types.is_time(t):
        return v.hour * 3600 + v.minute * 60 + v.second + v.microsecond / 1e6
    if pa.types.is_duration(t):
        return v / d.timedelta(seconds=1)
    if pa.types.is_decimal(t):
        return float(v)
    if isinstance(v, bytes):
        return base64.b64encode(v).decode()
    if pa.types.is_map(t):
        if pa.types.is_string(t.key_type):
            return {k: plain(x, t.item_type) for k, x in v}
        return [{"key": plain(k, t.key_type), "value": plain(x, t.item_type)} for k, x in v]
    if pa.types.is_struct(t):
        return {f.name: plain(v[f.name], f.type) for f in t}
    if isinstance(v, list):
        return [plain(x, t.value_type) for x in v]
    return v


def show(table):
    for row in table.to_pylist():
        print(json.dumps({f.name: plain(row[f.name], f.type) for f in table.schema}, ensure_ascii=False))


if sys.argv[1] == "make":
    make(*sys.argv[2:])
elif sys.argv[1] == "tests":
    tests(sys.argv[2])
elif sys.argv[1] == "rows" and source(sys.argv[2]) == "arrow":
    read = pa.ipc.open_file if sys.argv[2].endswith(".arrow") else pa.ipc.open_stream
    show(read(sys.argv[2]).read_all())
elif sys.argv[1] == "rows":
    show(pq.read_table(sys.argv[2], columns=sys.argv[3:] or None))
elif sys.argv[1] == "stream":
    show(pa.ipc.open_stream(sys.stdin.buffer).read_all())

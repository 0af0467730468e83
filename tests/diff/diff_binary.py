# SPDX-License-Identifier: MIT
"""Formats of bytes, in and out: what Python's tarfile, sqlite3 and numpy read and
write, and MessagePack and TFRecord in all the ways that they may be written."""
import gzip
import io
import json
import sqlite3
import struct
import tarfile

import gen
import mp
from arrays import an_array, same_arrays
from harness import check


@check()
def msgpack_wide(t):
    """Values whose heads are longer than they need be are the same values."""
    def wide(v):
        r = t.rng
        if isinstance(v, bool) or v is None:
            return mp.pack(v)
        if isinstance(v, int):
            forms = [f for f in mp.FIXED if f not in (0xCA, 0xCB)]
            for code in r.sample(forms, len(forms)):
                try:
                    return bytes([code]) + struct.pack(mp.FIXED[code], v)
                except struct.error:
                    continue
        if isinstance(v, float):
            return mp.pack(v)
        if isinstance(v, str):
            b = v.encode()
            return r.choice((struct.pack(">BB", 0xD9, len(b)), struct.pack(">BH", 0xDA, len(b)), struct.pack(">BI", 0xDB, len(b)))) + b
        items = [x for kv in v.items() for x in kv] if isinstance(v, dict) else v
        codes = (0xDE, 0xDF) if isinstance(v, dict) else (0xDC, 0xDD)
        k = r.randint(0, 1)
        return struct.pack(">BI" if k else ">BH", codes[k], len(v)) + b"".join(map(wide, items))

    values = gen.many(t.rng, gen.a_value, 150, 50)
    packed = b"".join(map(wide, values))
    t.same(t.values("stdin msgpack", packed), values, "as they are")
    t.same(t.values("msgpack - | map [x] | map x[0]", packed), values, "through map")
    want = [json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in values]
    t.same(t.run("stdin msgpack", packed, ("-t", "ndjson")).decode().split("\n")[:-1], want, "ndjson")
    keys = [repr(v) for v in t.values("stdin msgpack | map hash(x)", packed)]
    t.same(keys, [repr(v) for v in t.values("stdin msgpack | map hash(x)", mp.pack_all(values))], "hash")


def crc32c(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def tfrecord(records):
    out = b""
    for r in records:
        head = struct.pack("<Q", len(r))
        out += head + masked(head) + r + masked(r)
    return out


@check()
def tfrecord_both_ways(t):
    records = [gen.some_bytes(t.rng, 60) for _ in range(t.rng.randint(0, 20))]
    data = tfrecord(records)
    path = t.file("a.tfrecord", data)
    t.same(t.values(f"tfrecord {path}"), records)
    t.same(t.values("stdin tfrecord", gzip.compress(data)), records)
    t.same(t.run("stdin msgpack", mp.pack_all(records), ("-t", "tfrecord")), data)


@check()
def tfrecord_example(t):
    """A record that was written as a tf.train.Example is the same when read."""
    def feature(r):
        kind = r.choice((gen.an_int, lambda q: q.randint(-99, 99) / 8, lambda q: gen.a_text(q).replace("\t", "")))
        return [kind(r) for _ in range(r.randint(1, 4))]

    rows = [{k: feature(t.rng) for k in t.rng.sample("abcdefgh", 3)} for _ in range(20)]
    data = t.run("stdin msgpack", mp.pack_all(rows), ("-t", "tfrecord"))
    got = t.values("stdin tfrecord | count", data)
    t.same(got, [20])
    path = t.file("b.tfrecord", data)
    back = t.values(f"tfrecord {path} as=example lists=true")
    t.same([dict(sorted(v.items())) for v in back], [dict(sorted(v.items())) for v in rows])


@check()
def bytes_in(t):
    data = gen.some_bytes(t.rng, 400)
    for _ in range(5):
        n, head, foot = t.rng.randint(1, 9), t.rng.randint(0, 5), t.rng.randint(0, 5)
        body = data[head:len(data) - foot] if len(data) >= head + foot else b""
        path = t.file("b.bin", data)
        want = [body[i:i + n] for i in range(0, len(body) - n + 1, n)]
        spec = f"bytes {n} {path} header_bytes={head} footer_bytes={foot} on_error=skip"
        if len(data) >= head + foot:
            t.same(t.values(spec, args=("-q",)), want, spec)
            t.same(t.values(spec, args=("-q", "-j", "2")), want, spec)


@check()
def tar_both_ways(t):
    names = {}
    for k in range(t.rng.randint(0, 12)):
        for ext in t.rng.sample(["cls", "txt", "json", "bin", "x.y"], t.rng.randint(1, 3)):
            names[f"d{k % 3}/{'n' * (k * 9)}{k}.{ext}"] = gen.some_bytes(t.rng, 700)
    out = io.BytesIO()
    form = t.rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    try:
        with tarfile.open(fileobj=out, mode="w", format=form) as tar:
            for name, data in names.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    except ValueError:  # a name too long for ustar
        return
    path = t.file("a.tar", out.getvalue())
    t.same(t.values(f"tar {path} group=false"), [{"name": n, "data": d} for n, d in names.items()], "group=false")
    want = {}
    for name, data in names.items():
        folder, base = name.rsplit("/", 1)
        key, ext = base.split(".", 1)
        want.setdefault(f"{folder}/{key}", {"__key__": f"{folder}/{key}"})[ext] = data
    got = t.values(f"tar {path}")
    t.same(got, list(want.values()), "groups")
    back = t.run("stdin msgpack", mp.pack_all(got), ("-t", "tar"))
    with tarfile.open(fileobj=io.BytesIO(back)) as tar:
        t.same({m.name: tar.extractfile(m).read() for m in tar}, names, "-t tar")


@check()
def sqlite_in(t):
    path = t.path("a.db")
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c REAL)")
    any_value = lambda: t.rng.choice((gen.an_int, gen.a_float, gen.a_text, gen.some_bytes, lambda _: None))(t.rng)
    for _ in range(t.rng.randint(0, 60)):
        db.execute("INSERT INTO t (a, b, c) VALUES (?, ?, ?)", (any_value(), gen.a_text(t.rng), gen.a_float(t.rng)))
    db.commit()
    for query in ("SELECT * FROM t ORDER BY id", "SELECT a, c AS \"d e\" FROM t ORDER BY id DESC LIMIT 20",
                  "SELECT typeof(a) AS k, count(*) AS n FROM t GROUP BY k ORDER BY k"):
        cursor = db.execute(query)
        names = [d[0] for d in cursor.description]
        t.same(t.values(f"sqlite {path} '{query}'"), [dict(zip(names, row)) for row in cursor], query)
    db.close()


@check("numpy")
def npy_in(t):
    import numpy as np
    for _ in range(12):
        a = an_array(t.rng, np)
        if t.rng.random() < 0.2:
            a = np.asfortranarray(a[..., :0])
        path = t.path("a.npy")
        np.save(path, a)
        got = t.values(f"npy {path}")
        want = a.astype(a.dtype.newbyteorder("<"))
        if a.ndim == 1:
            t.same([float(v) if a.dtype.kind == "f" else v for v in got], want.tolist(), f"{a.dtype} {a.shape}")
        else:
            same_arrays(t, np, got, list(want), f"{a.dtype} {a.shape}")
        if len(a) and a.ndim > 1:  # of one axis: numbers, which have no dtype
            out = t.path("b.npy")
            t.run(f"npy {path}", args=("-t", "npy", "-o", out))
            same_arrays(t, np, [np.load(out)], [want], "-t npy")

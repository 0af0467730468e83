# SPDX-License-Identifier: MIT
"""Printing and parsing, saving and loading, batching and taking apart again."""
import exprs
import gen
import mp
import pipes
from harness import BIN, check

TYPES = {".a": "int", ".f": "float", ".t": "text", ".l": "list", ".o": "bool"}


def printed(t, spec, what="canonical"):
    return t.run(spec, args=("--print=" + what,)).decode().rstrip("\n")


def loose(r, text):
    """The same pipeline in another layout, with comments."""
    parts = text.split(" | ")
    return parts[0] + "".join(r.choice((" | ", "|", "\n  | ", " # note\n  | ", "  |   ")) + p for p in parts[1:])


@check()
def print_pipelines(t):
    """The canonical form is its own canonical form, and gives the same."""
    of = pipes.sources(t)
    for _ in range(6):
        pipe = str(pipes.pipeline(t, 5, of=of))
        spec = loose(t.rng, pipe)
        once = printed(t, spec)
        t.same(printed(t, once), once, spec)
        t.same(printed(t, pipe), once, spec)
        laid = t.tool([BIN + "/dsvc-run", "--fmt", "-e", spec]).decode()
        t.same(t.tool([BIN + "/dsvc-run", "--fmt", "-e", laid]).decode(), laid, f"--fmt of {spec!r}")
        t.same(printed(t, laid), once, f"canonical of --fmt of {spec!r}")
        args = ("-q", "--seed", "3", "-t", "ndjson")
        t.same(t.run(once, args=args), t.run(spec, args=args), once)


@check()
def print_expressions(t):
    """Brackets and all: an expression printed and read again has the same value."""
    maker = exprs.Maker(t.rng, TYPES)
    kinds = ("int", "float", "bool", "text", "list")
    envs = [{"a": gen.an_int(t.rng), "f": gen.a_float(t.rng), "t": gen.a_plain(t.rng), "l": [1, 2], "o": gen.a_bool(t.rng)} for _ in range(8)]
    for _ in range(8):
        texts = [maker.make(t.rng.choice(kinds), t.rng.randint(1, 5)).print(t.rng) for _ in range(20)]
        spec = "stdin msgpack | map [" + ", ".join(f"[{x}] ?? null" for x in texts) + "]"
        once = printed(t, spec)
        t.same(printed(t, once), once, spec)
        t.same(t.values(once, mp.pack_all(envs)), t.values(spec, mp.pack_all(envs)), once)


@check()
def batch_unbatch(t):
    for _ in range(6):
        values = gen.many(t.rng, lambda r: gen.a_value(r, 2), 60)
        lists = [v for v in values if not isinstance(v, dict)]
        n, m = t.rng.randint(1, 9), t.rng.randint(1, 9)
        t.same(t.values(f"stdin msgpack | batch {n} | unbatch", mp.pack_all(lists)), lists, f"batch {n}")
        t.same(t.values(f"stdin msgpack | window {n} | flat_map x", mp.pack_all(values)), values, f"window {n}")
        t.same(t.values(f"stdin msgpack | batch {n} | rebatch {m} | unbatch", mp.pack_all(lists)), lists, f"rebatch {m}")
        rows = [{"a": gen.a_value(t.rng, 1), "b": gen.a_value(t.rng, 1)} for _ in range(t.rng.randint(0, 30))]
        t.same(t.values(f"stdin msgpack | batch {n} | rebatch {m} | unbatch", mp.pack_all(rows)), rows, f"batch {n}, of records")
        t.same(t.values(f"stdin msgpack | padded_batch {n} | unbatch | map x[:1]", mp.pack_all([[i] * (1 + i % 3) for i in range(9)])), [[i] for i in range(9)])


@check()
def save_load(t):
    """In each format that can hold the elements, whole or in shards."""
    for k, (form, of) in enumerate((("msgpack", gen.a_value), ("msgpack", gen.some_bytes), ("ndjson", gen.a_value), ("text", lambda r: gen.a_text(r, 8)))):
        values = gen.many(t.rng, of, 80)
        folder, shards = t.path(f"saved{k}"), t.rng.choice((1, 1, 3))
        size = t.rng.choice(("256M", "200"))
        written = t.values(f"stdin msgpack | save {folder} format={form} shards={shards} file_size={size}", mp.pack_all(values))
        t.same(sum(v["elements"] for v in written), len(values), "records of save")
        same = t.same if shards == 1 else t.same_set
        if values:
            same(t.values(f"load {folder}"), values, f"save format={form} shards={shards} file_size={size}")
        kept = t.path(f"kept{k}")
        feed = t.file(f"feed{k}.mp", mp.pack_all(values))
        for _ in range(2):
            t.same(t.values(f"msgpack {feed} | snapshot {kept} file_size={size}"), values, "snapshot")


@check()
def formats_there_and_back(t):
    """What -t writes, the source of that name reads."""
    rows = [{"a": gen.an_int(t.rng), "b": gen.a_text(t.rng), "c": gen.a_float(t.rng), "d": gen.a_bool(t.rng)} for _ in range(60)]
    texts = {form: [{k: v for k, v in r.items() if k != "b"} for r in rows] if form in ("csv", "tsv") else rows for form in ("csv", "tsv", "ndjson", "msgpack")}
    for form, values in texts.items():
        data = t.run("stdin msgpack", mp.pack_all(values), ("-t", form))
        t.same(t.values(f"stdin {form}", data), values, form)
        path = t.file("back." + form, data)
        t.same(t.values(f"{form} {path}"), values, form)
        t.same(t.values(f"{form} {path}", args=("-j", "3")), values, form + " -j 3")

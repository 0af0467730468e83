# SPDX-License-Identifier: MIT
"""Each form of an argument that an operator documents, in every spelling that there is:
in one operand, in a file, as words with `then`, in quotes, and as a parameter's value.
They must be read as the same pipeline. The operators, their arguments and their
examples come from the help, so a new one is tried as soon as it is there."""
import itertools
import re
import shutil
import subprocess

import mp
from harness import BIN, Failed, check

# bytes, and how they may be written anywhere
BYTES = {"\t": ("\\t", "\\x09", "\\u{9}"), ";": ("\\x3b",), "t": ("t", "\\x74"), "\0": ("\\0", "\\x00"), "%": ("%",)}
# what is tried for each word of a usage line; choices are their own
SAMPLES = {"N": ("3", "12", "4k", "1_000"), "X": ("0.5", "2", "1e3"), "SIZE": ("64k", "1M", "3000"), "DURATION": ("2s", "1.5ms", "3m"),
           "WORD": ("abc", "a-b.c", "näh"), "FILE": ("fruit.csv", "a.b"), "inf": ("inf",), "auto": ("auto",), "all": ("all",),
           "EXPR": ("1 + 2", "\"a b\"", "[1, \"it's\", {a: 2}]", "-1", "x == x", "1 < 2 and true"),
           "VALUE": ("[1, 2]", "\"a b\"", "3", "null", "{a: 1}", "[\"a\", \"it's\"]", "[\"a\", \"b\"]")}
# parameters that are one byte: what shows which one it is, and what comes of it
BYTE_ROWS = {("csv", "delim"): ("csv -", "a{0}b\n1{0}2\n", [{"a": 1, "b": 2}]),
             ("csv", "quote"): ("csv -", "{0}a,x{0},b\n1,2\n", [{"a,x": 1, "b": 2}]),
             ("lines", "delim"): ("lines -", "1{0}2{0}", ["1", "2"])}


def ask(t, args):
    """The canonical text, or None and why."""
    p = subprocess.run([BIN + "/dsvc-run", "--print=canonical", *args], capture_output=True, cwd=t.path("docs"), check=False, timeout=60)
    if p.returncode not in (0, 64, 65):
        raise Failed(f"{args}: exit {p.returncode}: {p.stderr.decode(errors='replace')[:1000]}")
    # what stands in a file begins in the file's folder
    return (p.stdout.decode().replace(t.path("docs") + "/", ""), "") if p.returncode == 0 else (None, p.stderr.decode())


def pieces(text, at):
    """Cuts at the separators that `at` finds outside quotes and brackets."""
    out, depth, quote, i = [""], 0, "", 0
    while i < len(text):
        c = text[i]
        m = not quote and depth == 0 and at.match(text, i)
        if m:
            out.append("")
            i = m.end()
            continue
        if quote:
            if c == "\\" and quote == '"':
                out[-1] += c
                i += 1
                c = text[i]
            elif c == quote:
                quote = ""
        elif c in "'\"":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        out[-1] += c
        i += 1
    return [p for p in out if p]


def operators():
    text = subprocess.run([BIN + "/dsvc-run", "--ops"], capture_output=True, check=True).stdout.decode()
    return re.findall(r"^  ([a-z_]+)  ", text, re.M)


def helped(name):
    """The keys with the words for their values, and the stages of the example."""
    text = subprocess.run([BIN + "/dsvc-run", "--help-op", name], capture_output=True, check=True).stdout.decode()
    usage = re.search(r"\n\n((?:    .*\n)+)\n", text).group(1)
    keys = re.findall(r"\b([a-z_]+)=([^\s\]]+)", usage.split(" -- ")[0])
    spec = re.search(r"^ +dsvc-run '((?:[^']|'\\'')+)'", text, re.M)
    return keys, pieces(spec.group(1).replace("'\\''", "'"), re.compile(r"\s+\|\s+")) if spec else None


def words(stages):
    """As a shell would hand them over: a word in quotes without them."""
    out = []
    for stage in stages:
        out += ["then"] if out else []
        out += pieces(stage, re.compile(r"\s+"))
    return out


def bare(word):
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def spellings(t, stages, k, key, plain, args, quoted, forms):
    """(how, arguments) for the pipeline with key=... at the end of stage k. `forms`: how the
    value may be written without quotes."""
    for form in forms:
        spec = [s + (f" {key}={form}" if i == k else "") for i, s in enumerate(stages)]
        text = " | ".join(spec)
        yield "one operand", [text]
        path = t.file("docs/spec.dsvc", "\n  | ".join(spec) + "\n")
        yield "-f", ["-f", path]
    for form in args:
        argv = words(stages[:k + 1]) + [f"{key}={form}"] + [w for s in stages[k + 1:] for w in ["then"] + words([s])]
        yield "words", argv
    for form in quoted:
        text = " | ".join(s + (f" {key}={form}" if i == k else "") for i, s in enumerate(stages))
        yield "in quotes", [text]
    spec = " | ".join(s + (f" {key}=@p" if i == k else "") for i, s in enumerate(stages))
    if plain is not None:
        yield "--set", ["--set", f"p={plain}", spec]


def compare(t, name, key, value, asked):
    """All give one canonical text, or all are refused."""
    first = None
    for how, args in asked:
        got, why = ask(t, args)
        if first is None:
            first = (got, why, how, args)
            continue
        same = got == first[0]
        t.same(same, True, f"{name} {key}={value!r}: {how} {args}: {got or why}\nnot as {first[2]} {first[3]}: {first[0] or first[1]}")
    return first is not None and first[0] is not None


def try_key(t, name, stages, k, key, kind):
    read = 0
    for value in itertools.chain.from_iterable(SAMPLES.get(w, (w,)) for w in kind.split("|")):
        if kind in ("EXPR", "VALUE"):
            # a quoted thing is a text there, which another spelling is not; a parameter is a value
            asked = spellings(t, stages, k, key, None, (value,), (), (value, f"({value})") if kind == "EXPR" else (value,))
        else:
            asked = spellings(t, stages, k, key, value, (value,), (f"'{value}'", f'"{value}"'), (value,))
        read += compare(t, name, key, value, asked)
    return read


def try_byte(t, name, key):
    """A byte however it is written is that byte."""
    stage, text, want = BYTE_ROWS[name, key]
    for byte, forms in BYTES.items():
        for form in forms:
            for how, args in spellings(t, [stage], 0, key, form, (form,), (f"'{form}'", f'"{form}"'), (form,)):
                got = t.tool([BIN + "/dsvc-run", "-t", "msgpack", *args], text.format(byte))
                t.same(list(mp.unpack_all(got)), want, f"{how}: {args}")


@check()
def spellings_of_arguments(t):
    """Every key of every operator."""
    shutil.copytree("tests/docs", t.path("docs"))
    read = 0
    for name in operators():
        keys, stages = helped(name)
        at = [i for i, s in enumerate(stages or ()) if re.match(rf"{name}\b", s)]
        if not at or " -- " in stages[at[-1]]:
            continue
        base, why = ask(t, [" | ".join(stages)])
        argv = words(stages)
        if ask(t, argv)[0] != base:  # words of its own in quotes: only as a whole
            argv = [bare(w) for w in argv]
            t.same(ask(t, argv)[0], base, f"{name}: {argv}: {ask(t, argv)[1]} {why}")
            continue
        for key, kind in keys:
            if (name, key) in BYTE_ROWS:
                try_byte(t, name, key)
            elif not re.search(rf"\b{key}=", stages[at[-1]]):
                read += try_key(t, name, stages, at[-1], key, kind)
    t.same(read > 150, True, f"only {read} forms were read")

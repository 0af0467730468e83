# SPDX-License-Identifier: MIT
"""Every operator, by its example and some pipelines made of it, in every order through a
service: `source` gives what dsvc-run gives or is refused; the others give the same elements
where each is made of one element alone."""
import functools
import os
import re
import shlex
import subprocess

from harness import BIN, LIMIT, Failed, check
from service import service

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
SHARDS = 4     # checks that share the operators among them
BEHIND = ("map [x, i]", "filter true", "batch 2", "prefetch", "repeat 2", "shuffle all seed=3",
          "sample_rate 0.7 seed=3", "window 2", "scan 0 s + 1", "take 3", "shuffle 3 seed=1",
          "interleave (elements [1, 2] | map [xx, x])", "interleave (elements [1, 2] | map [xx, x]) cycle=1",
          "enumerate", "tee (| take 1)", "count", "map rand(100)", "dedup", "cache | repeat 2")
REFUSED = 65
SCOPE = re.compile(r"^ *\d+ +.*? (element|stream|global|source) +\S", re.M)


def run(argv, stdin=b""):
    p = subprocess.run(argv, input=stdin, capture_output=True, timeout=LIMIT, check=False, cwd=DOCS)
    return p.returncode, p.stdout, p.stderr.decode(errors="replace")


@functools.lru_cache(None)
def operators():
    text = run([BIN + "/dsvc-run", "--ops"])[1].decode()
    return re.findall(r"^  ([a-z_0-9]+)", text, re.M)


def example(t, name):
    """The example's spec, and options; what it reads from a pipe it reads from a file."""
    text = run([BIN + "/dsvc-run", "--help-op", name])[1].decode()
    found = re.search(r"^Example:\n    (.*)$", text.split("In expressions it is a function:")[0], re.M)
    if not found:
        return None
    feed, _, line = found.group(1).rpartition("dsvc-run ")
    words = shlex.split(line)
    spec = words[-1]
    if feed:
        data = subprocess.run(["sh", "-c", feed.rstrip("| ")], capture_output=True, check=True, cwd=DOCS).stdout
        spec = re.sub(r"(?<= )-(?= |$)", t.file(name + ".in", data), spec, count=1)
    return spec


def items(text):
    """The items of a list, as they are written."""
    out, depth, quoted, start = [], 0, False, 0
    for k, c in enumerate(text):
        quoted ^= c == '"' and text[k - 1:k] != "\\"
        if quoted:
            continue
        depth += (c in "[{(") - (c in "]})")
        if c == "," and depth == 0:
            out.append(text[start:k].strip())
            start = k + 1
    return [i for i in [*out, text[start:].strip()] if i]


def divided(spec):
    """The same elements from a source of several units: one stream is not enough then."""
    m = re.match(r"range (\d+)(?= \||$)", spec)
    if m and int(m.group(1)) > 2:
        n = int(m.group(1))
        return f"concat (range 0 {n // 3}) (range {n // 3} {n // 2}) (range {n // 2} {n})" + spec[m.end():]
    m = re.match(r"elements \[(.*?)\](?= \||$)", spec)
    parts = items(m.group(1)) if m else []
    if len(parts) > 1 and m.group(1).count("[") == m.group(1).count("]"):
        return "concat " + " ".join(f"(elements [{p}])" for p in parts) + spec[m.end():]
    return None


def pipelines(t, name):
    spec = example(t, name)
    if spec is None or spec.startswith("stdin"):
        return []
    many = divided(spec)
    pipes = [spec] + ([many] if many else [])
    return pipes + [f"{pipes[-1]} | {b}" for b in t.rng.sample(BEHIND, 2)]


def alike(spec):
    """Whether each element is made of one alone, and by no chance."""
    code, plan, _ = run([BIN + "/dsvc-run", "--explain", "--", spec])
    scopes = SCOPE.findall(plan.decode())
    return (code == 0 and b"random numbers" not in plan and " i]" not in spec and "rand(" not in spec
            and all(s in ("element", "source") for s in scopes))


def compare(t, spec):
    code, want, _ = run([BIN + "/dsvc-run", "-q", "-t", "ndjson", "--seed", "5", "--", spec])
    if code:
        return  # what is put behind does not fit
    same = alike(spec)
    for sharding in ("dynamic", "off"):
        for order in ("source", "stable", "any"):
            argv = [BIN + "/dsvc-read", "-q", "-d", service(2), "--wait-workers", "2", "-t", "ndjson", "--seed", "5",
                    "--order", order, "--sharding", sharding, "-e", spec]
            got, out, why = run(argv)
            what = f"--order {order} --sharding {sharding} -e {shlex.quote(spec)}"
            t.said = what
            if got == REFUSED:
                continue
            if got:
                raise Failed(f"{what}\nexit {got}: {why[:2000]}")
            if order == "source":
                t.same(out.split(b"\n"), want.split(b"\n"), what)
            elif same and sharding == "dynamic":
                t.same_set(out.split(b"\n"), want.split(b"\n"), what)


def share(t, k):
    for name in operators()[k::SHARDS]:
        for spec in pipelines(t, name):
            compare(t, spec)


@check()
def order_of_operators_0(t):
    """The first quarter of the table."""
    share(t, 0)


@check()
def order_of_operators_1(t):
    """The second."""
    share(t, 1)


@check()
def order_of_operators_2(t):
    """The third."""
    share(t, 2)


@check()
def order_of_operators_3(t):
    """The last."""
    share(t, 3)

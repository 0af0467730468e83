# SPDX-License-Identifier: MIT
"""What every check is written with: a seeded generator, dsvc-run, other
programs, and a comparison that says what differs and how to see it again."""
import functools
import importlib.util
import os
import random
import shutil
import subprocess
import tempfile

import mp

CHECKS = {}  # name: (function, programs it needs)
ENDS = []    # called when all is over
BIN = os.path.join(os.path.abspath(os.environ.get("B", "build")), "bin")
LIMIT = 120  # seconds that a program may take, on a machine that is busy


class Differ(Exception):
    """Two answers that should be the same are not."""


class Failed(Exception):
    """A program ended otherwise than it should."""


class Error:
    """Stands for an answer that is an error, whatever it says."""

    def __repr__(self):
        return "<error>"


ERROR = Error()


def check(*needs):
    """Makes a check of a function of a T; needs names programs or modules."""

    def enter(f):
        assert f.__name__ not in CHECKS, f.__name__
        CHECKS[f.__name__] = (f, needs)
        return f

    return enter


@functools.lru_cache(None)
def have(name):
    if name in ("numpy", "PIL"):
        return importlib.util.find_spec(name) is not None
    return shutil.which(name) is not None


def exact(v):
    """A text that is equal for equal values of equal kinds: 1, 1.0, -0.0 and
    true are four things."""
    if isinstance(v, dict):
        return "{" + ",".join(f"{k!r}:{exact(x)}" for k, x in v.items()) + "}"
    if isinstance(v, (list, tuple)):
        return "[" + ",".join(exact(x) for x in v) + "]"
    return repr(v)


class T:
    """One run of one check."""

    def __init__(self, name, seed):
        self.name, self.seed = name, seed
        self.rng = random.Random(seed)
        self.compared = 0
        self.dir = tempfile.mkdtemp(prefix="dsvc-diff-")
        self.said = ""  # the last command, for reports

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def file(self, name, data):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        return path

    def path(self, name):
        return os.path.join(self.dir, name)

    def tool(self, argv, stdin=b"", code=0, env=None):
        """What a program writes, for what it reads."""
        if isinstance(stdin, str):
            stdin = stdin.encode()
        p = subprocess.run(argv, input=stdin, capture_output=True, timeout=LIMIT, check=False,
                           env={**os.environ, **(env or {})})
        self.said = " ".join(a if a.isalnum() else repr(a) for a in argv)
        if p.returncode != code:
            raise Failed(f"{self.said}\nexit {p.returncode}, not {code}: "
                         f"{p.stderr.decode(errors='replace')[:2000]}")
        return p.stdout

    def run(self, spec, stdin=b"", args=(), code=0):
        """What dsvc-run writes."""
        if len(spec) > 60000:  # more than an argument may be
            return self.tool([BIN + "/dsvc-run", *args, "-f", self.file("spec", spec)], stdin, code)
        return self.tool([BIN + "/dsvc-run", *args, "--", spec], stdin, code)

    def values(self, spec, stdin=b"", args=()):
        """The elements that dsvc-run gives, as values."""
        return list(mp.unpack_all(self.run(spec, stdin, ("-t", "msgpack", *args))))

    def lines(self, spec, stdin=b"", args=()):
        return self.run(spec, stdin, args).decode().split("\n")[:-1]

    def same(self, got, want, what="", inputs=None):
        """Fails unless both are the same; lists are compared item by item."""
        if not isinstance(got, (list, tuple)) or not isinstance(want, (list, tuple)):
            got, want = [got], [want]
        for i, (g, w) in enumerate(zip(got, want)):
            if exact(g) != exact(w):
                given = f"\n  for  {exact(inputs[i])[:500]}" if inputs else ""
                raise Differ(f"{what}{given}\n  got  {exact(g)[:1500]}\n  want {exact(w)[:1500]} (item {i})")
        if len(got) != len(want):
            raise Differ(f"{what}\n  got {len(got)} items, want {len(want)}:"
                         f" {exact(got[len(want):] or want[len(got):])[:500]}")
        self.compared += max(len(got), 1)

    def same_set(self, got, want, what=""):
        """The same elements in any order."""
        self.same(sorted(map(exact, got)), sorted(map(exact, want)), what)

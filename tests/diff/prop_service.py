# SPDX-License-Identifier: MIT
"""A pipeline gives the same in this process, on threads and through workers."""
import pipes
from harness import BIN, check
from service import service

N = 6


def read(t, workers, pipe, *args):
    return t.tool([BIN + "/dsvc-read", "-q", "-d", service(workers), "--wait-workers", str(workers), "-t", "ndjson", *args, "-e", str(pipe)])


def seed(t):
    return ("--seed", str(t.rng.randrange(10**6)))


def alone(t, pipe, *args):
    return t.run(str(pipe), args=("-q", "-t", "ndjson", *args))


def same_lines(t, got, want, what):
    t.same(got.split(b"\n"), want.split(b"\n"), what)


@check()
def service_order_source(t):
    """What dsvc-run gives, to the byte. Operators with memory work on each stream."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        same_lines(t, read(t, 2, pipe, "--order", "source", *s), alone(t, pipe, *s), pipe)


@check()
def service_order_any(t):
    """The same elements, each once, in whatever order."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        want = alone(t, pipe, *s).split(b"\n")
        t.same_set(read(t, 2, pipe, *s).split(b"\n"), want, str(pipe))


@check()
def service_order_stable(t):
    """The same order, however many workers there are."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, per_stream=True, of=of), seed(t)
        args = ("--order", "stable", "--shards", str(t.rng.randint(1, 4)), *s)
        got = read(t, 2, pipe, *args)
        same_lines(t, read(t, 1, pipe, *args), got, pipe)
        if pipe.scope == pipes.ELEMENT:
            t.same_set(got.split(b"\n"), alone(t, pipe, *s).split(b"\n"), str(pipe))


@check()
def service_behind_distribute(t):
    """What stands behind distribute runs where the reader is, over all elements."""
    of = pipes.sources(t)
    for _ in range(N):
        front, s = pipes.pipeline(t, 2, widest=pipes.ELEMENT, of=of), seed(t)
        rest = pipes.pipeline(t, 3, of=[("", front.kind)], drawn=False)
        behind = "".join(" | " + stage for stage in rest.stages[1:])
        got = t.run(f"{front} | distribute order=source seed={s[1]}{behind}", args=("-q", "-t", "ndjson", "-d", service(2), *s))
        same_lines(t, got, alone(t, f"{front}{behind}", *s), f"{front} | distribute{behind}")


@check()
def threads_are_one(t):
    """dsvc-run -j N gives what dsvc-run gives."""
    of = pipes.sources(t)
    for _ in range(N):
        pipe, s = pipes.pipeline(t, 5, of=of), seed(t)
        same_lines(t, alone(t, pipe, "-j", str(t.rng.randint(2, 4)), *s), alone(t, pipe, *s), pipe)


@check()
def sharding_off(t):
    """One worker gives what dsvc-run gives, with operators of any scope; each of two
    gives all of it."""
    of = pipes.sources(t)
    for _ in range(3):
        pipe, s = pipes.pipeline(t, per_stream=True, of=of), seed(t)
        same_lines(t, read(t, 1, pipe, "--sharding", "off", *s), alone(t, pipe, *s), pipe)
    for _ in range(2):
        pipe, s = pipes.pipeline(t, widest=pipes.ELEMENT, of=of), seed(t)
        if "random" in str(pipe):
            continue
        got = read(t, 2, pipe, "--sharding", "off", *s).split(b"\n")
        t.same_set(got[:-1], alone(t, pipe, *s).split(b"\n")[:-1] * 2, str(pipe))

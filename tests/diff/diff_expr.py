# SPDX-License-Identifier: MIT
"""Random expressions against Python: of fields whose types are not known, of
the same with types, of constants, and of numbers alone, which are reckoned by
columns."""
import exprs
import gen
import mp
from harness import ERROR, check
from model import Fault

TYPES = {".a": "int", ".b": "int", ".f": "float", ".g": "float", ".t": "text", ".u": "text", ".l": "list", ".o": "bool"}
MAKE = {"int": gen.an_int_or_big, "float": gen.a_float, "text": gen.a_plain, "list": gen.a_list(gen.an_int, 4),
        "bool": gen.a_bool}
N = 12  # elements that each expression sees


def some(r, most):
    """Expressions of all types."""
    maker = exprs.Maker(r, TYPES)
    kinds = ("int", "float", "bool", "text", "list")
    return [maker.make(r.choice(kinds), r.randint(1, 4)) for _ in range(most)]


def rows(r):
    return [{n: MAKE[t](r) for n, t in TYPES.items()} for _ in range(N)]


def answers(nodes, env):
    out = []
    for n in nodes:
        try:
            out.append([n.value(env)])
        except Fault:
            out.append(ERROR)
    return out


def caught(values):
    """Errors are caught as null, and answers stand in a list each."""
    return [[ERROR if v is None else v for v in row] for row in values]


def ask(t, nodes, source, stdin, envs):
    texts = [n.print(t.rng) for n in nodes]
    spec = source + " | map [" + ", ".join(f"[{x}] ?? null" for x in texts) + "]"
    got = caught(t.values(spec, stdin))
    for env, row in zip(envs, got):
        for text, g, w in zip(texts, row, answers(nodes, env)):
            t.same([g], [w], text, [env])
    t.same(len(got), len(envs))


@check()
def expr_any(t):
    """Types are only seen as elements come."""
    for _ in range(4):
        envs = rows(t.rng)
        plain = [{k[1:]: v for k, v in e.items()} for e in envs]
        ask(t, some(t.rng, 40), "stdin msgpack", mp.pack_all(plain), envs)


@check()
def expr_typed(t):
    """Types are known before."""
    for _ in range(4):
        envs = rows(t.rng)
        plain = [{k[1:]: v for k, v in e.items()} for e in envs]
        ask(t, some(t.rng, 40), "elements " + gen.literal(plain), b"", envs)


@check()
def expr_constant(t):
    """What is known before the run is worked out before it."""
    maker = exprs.Maker(t.rng, {})
    nodes = [maker.make(t.rng.choice(("int", "float", "bool", "text", "list")), 3) for _ in range(100)]
    ask(t, nodes, "range 1", b"", [{}])


def columns(t, kind, of, spec_of):
    """One expression of x alone a run, on several thousand elements."""
    for _ in range(12):
        maker = exprs.Maker(t.rng, {"x": kind})
        node = maker.make(t.rng.choice((kind, "bool", kind)), t.rng.randint(1, 4))
        text = node.print(t.rng)
        values = [of(t.rng) for _ in range(300)]
        pairs = [(v, a[0]) for v in values for a in answers([node], {"x": v}) if a is not ERROR]
        seen, want = [p[0] for p in pairs], [p[1] for p in pairs]
        spec, stdin = spec_of(values)
        t.same(t.values(f"{spec} | map {text} on_error=skip", stdin, ("-q",)), want, text, seen)


@check()
def expr_column_int(t):
    columns(t, "int", gen.an_int_or_big, lambda v: ("elements " + gen.literal(v), b""))


@check()
def expr_column_float(t):
    columns(t, "float", gen.a_float, lambda v: ("elements " + gen.literal(v), b""))


@check()
def expr_filter(t):
    """A test in filter is another machine than one in map."""
    for _ in range(12):
        envs = rows(t.rng) + rows(t.rng)
        plain = [{k[1:]: v for k, v in e.items()} for e in envs]
        node = exprs.Maker(t.rng, TYPES).make("bool", t.rng.randint(1, 4))
        text = node.print(t.rng)
        source, stdin = t.rng.choice((("elements " + gen.literal(plain), b""), ("stdin msgpack", mp.pack_all(plain))))
        want = [p for p, e in zip(plain, envs) if answers([node], e) == [[True]]]
        t.same(t.values(f"{source} | filter {text} on_error=skip", stdin, ("-q",)), want, text)

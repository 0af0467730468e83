# SPDX-License-Identifier: MIT
"""Random expressions: their text, with no more brackets than it takes (or
some more), and what Python says that they give."""
import gen
import model
from model import Fault

# How tight an operator binds; the grammar of dsvc-pipeline(5) has them in this order.
TIGHT = {"??": 0, "?": 1, "or": 2, "and": 3, "not": 4, "==": 5, "!=": 5, "<": 5, "<=": 5, ">": 5, ">=": 5, "in": 5,
         "++": 6, "+": 7, "-": 7, "*": 8, "/": 8, "//": 8, "%": 8, "neg": 9, "**": 10, "[": 11, "atom": 12}
WORDS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "or": "||", "and": "&&"}


class Node:
    """op, operands; text and value are worked out from them."""

    def __init__(self, op, *args, text=None, call=None):
        self.op, self.args, self.text, self.call = op, args, text, call

    def print(self, r):
        """Random where the language leaves a choice."""
        if self.text is not None:
            return self.text
        op, args, tight = self.op, self.args, TIGHT.get(self.op, 12)
        if self.call:
            return f"{op}({', '.join(a.print(r) for a in args)})"

        def inner(a, least):
            bare = TIGHT.get(a.op, 12) if a.text is None and not a.call else 12
            if a.text is not None and a.text.startswith("-"):
                bare = TIGHT["neg"]
            text = a.print(r)
            return text if bare >= least and r.random() < 0.9 else f"({text})"

        sign = WORDS[op] if op in WORDS and r.random() < 0.3 else op
        if op == "?":
            return f"{inner(args[0], 2)} ? {inner(args[1], 0)} : {inner(args[2], 0)}"
        if op == "??":
            return f"{inner(args[0], 2)} ?? {inner(args[1], 0)}"
        if op == "not":
            return r.choice((f"not {inner(args[0], 4)}", f"!{inner(args[0], 11)}"))
        if op == "neg":
            return f"-{inner(args[0], 9)}"
        if op == "**":
            return f"{inner(args[0], 11)} ** {inner(args[1], 9)}"
        if op == "[":
            at = [a and inner(a, 0) for a in args[1:]]
            return inner(args[0], 11) + (f"[{at[0]}]" if len(at) == 1 else f"[{at[0] or ''}:{at[1] or ''}]")
        if tight == 5:  # these do not chain
            return f"{inner(args[0], 6)} {sign} {inner(args[1], 6)}"
        return f"{inner(args[0], tight)} {sign} {inner(args[1], tight + 1)}"

    def value(self, env):
        op, args = self.op, self.args
        if op == "const":
            return args[0]
        if op == "var":
            return env[args[0]]
        if op == "list":
            return [a.value(env) for a in args]
        if op == "??":
            try:
                v = args[0].value(env)
            except Fault:
                v = None
            return args[1].value(env) if v is None else v
        if op == "?":
            return args[1 if model.test(args[0].value(env)) else 2].value(env)
        if op in ("and", "or"):
            v = model.test(args[0].value(env))
            return v if v == (op == "or") else model.test(args[1].value(env))
        if op == "not":
            return not model.test(args[0].value(env))
        got = [a.value(env) if a else None for a in args]
        if self.call:
            return self.call(*got)
        if op == "neg":
            return model.negate(*got)
        if op == "[":
            return model.index(*got) if len(got) == 2 else model.part(*got)
        return model.BINARY[op](*got)


def const(v):
    return Node("const", v, text=gen.literal(v))


class Maker:
    """Makes expressions of a type, of variables whose types are known."""

    def __init__(self, r, types, odd=0.05):
        self.r, self.types, self.odd = r, types, odd

    def var(self, t):
        names = [n for n, u in self.types.items() if u == t]
        if not names or self.r.random() < 0.35:
            return const(self.constant(t))
        name = self.r.choice(names)
        return Node("var", name, text=name)

    def constant(self, t):
        r = self.r
        if t == "list":
            return gen.many(r, gen.an_int, 4)
        return {"int": gen.an_int, "float": gen.a_float, "bool": gen.a_bool, "text": gen.a_plain}[t](r)

    def make(self, t, depth):
        r = self.r
        if depth == 0 or r.random() < 0.1:
            return self.var(t)
        if r.random() < 0.06:
            return Node("?", self.make("bool", depth - 1), self.make(t, depth - 1), self.make(t, depth - 1))
        if r.random() < 0.06:
            return Node("??", self.make(t, depth - 1), self.make(t, depth - 1))
        return getattr(self, "make_" + t)(lambda u: self.make(u, depth - 1))

    def make_int(self, sub):
        r = self.r
        k = r.random()
        if k < 0.65:
            return Node(r.choice(["+", "-", "*", "//", "%", "+", "-", "*", "**"]), sub("int"), sub("int"))
        if k < 0.75:
            return Node("neg", sub("int"))
        if k < 0.85:
            return Node("[", sub("list"), sub("int"))
        return r.choice((lambda: Node("len", sub(r.choice(("text", "list"))), call=len),
                         lambda: Node("abs", sub("int"), call=lambda a: model.fit(abs(a), a > 0)),
                         lambda: Node("max", sub("int"), sub("int"), call=max),
                         lambda: Node("min", sub("int"), sub("int"), call=min)))()

    def make_float(self, sub):
        r = self.r
        k = r.random()
        if k < 0.2:
            return Node("/", sub(r.choice(("int", "float"))), sub(r.choice(("int", "float"))))
        if k < 0.85:
            kinds = r.choice((("float", "float"), ("int", "float"), ("float", "int")))
            return Node(r.choice(["+", "-", "*", "//", "%", "+", "-", "*", "**"]), *map(sub, kinds))
        if k < 0.95:
            return Node("neg", sub("float"))
        return Node("abs", sub("float"), call=abs)

    def make_bool(self, sub):
        r = self.r
        k = r.random()
        if k < 0.5:
            number = ("int", "float")
            kinds = r.choice(((r.choice(number), r.choice(number)), ("text", "text"), ("list", "list")))
            return Node(r.choice(("==", "!=", "<", "<=", ">", ">=")), *map(sub, kinds))
        if k < 0.6:
            return Node("in", *map(sub, r.choice((("text", "text"), ("int", "list")))))
        if k < 0.75:
            return Node("not", sub("bool"))
        return Node(r.choice(("and", "or")), sub("bool"), sub("bool"))

    def make_text(self, sub):
        k = self.r.random()
        if k < 0.5:
            return Node("++", sub("text"), sub("text"))
        if k < 0.7:
            return Node("[", sub("text"), sub("int"))
        return Node("[", sub("text"), *(self.r.random() < 0.7 and sub("int") or None for _ in range(2)))

    def make_list(self, sub):
        k = self.r.random()
        if k < 0.4:
            return Node("++", sub("list"), sub("list"))
        if k < 0.7:
            parts = [sub("int") for _ in range(self.r.randint(0, 3))]
            return ListNode(parts)
        return Node("[", sub("list"), *(self.r.random() < 0.7 and sub("int") or None for _ in range(2)))


class ListNode(Node):
    def __init__(self, parts):
        super().__init__("list", *parts)

    def print(self, r):
        return "[" + ", ".join(a.print(r) for a in self.args) + "]"

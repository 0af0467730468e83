# SPDX-License-Identifier: MIT
"""Regular expressions of the sort that is the same everywhere, against Python's re."""
import re

import gen
import mp
from harness import check

FLAGS = {"": 0, "a": re.A, "i": re.I, "m": re.M, "s": re.S}  # of both, a is for classes alone here
ATOMS = ["a", "b", "é", "A", " ", "\\.", ".", "[ab]", "[^a]", "[a-c]", "x", "ab", "1", "Ж", "k", "s"]
CLASSES = ["\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[\\d.]", "[^\\w]", "[\\W\\d]", "[^\\s1]"]
# not: what Unicode folds in two ways (ß), and U+001C to U+001F, which are blanks to Python alone
LETTERS = "aaabbckABSx__ 1.-\n\t" + "éÉЖж٣１\u00a0\u2003中²_ſ\u212a😀"


def pattern(r, depth=3):
    """As text; names of groups are not made, as the two differ in them."""
    k = r.random()
    if depth == 0 or k < 0.35:
        return r.choice(ATOMS if r.random() < 0.6 else CLASSES)
    if k < 0.55:
        return pattern(r, depth - 1) + pattern(r, depth - 1)
    if k < 0.65:
        return pattern(r, depth - 1) + "|" + pattern(r, depth - 1)
    inner = pattern(r, depth - 1)
    if k < 0.8:
        return f"(?:{inner}){r.choice(['*', '+', '?', '{2}', '{1,2}', '*?', '+?'])}"
    if k < 0.9:
        return f"({inner})"
    return r.choice((f"^{inner}", f"{inner}$", f"\\b{inner}", f"{inner}\\b", f"\\B{inner}", f"(?<!\\w){inner}", f"(?={inner})", f"(?!{inner})."))


def usable(text, flags):
    """Those that Python has a word against, or that match nothing in odd ways, are left out."""
    try:
        return re.compile(text, flags)
    except re.error:
        return None


@check()
def regex(t):
    for _ in range(12):
        rows = []
        while len(rows) < 12:
            text, flag = pattern(t.rng), t.rng.choice(["", "", *FLAGS])
            p = usable(text, FLAGS[flag])
            if p and not p.match(""):
                rows.append((text, flag, p))
        # never empty: Python says that \B is not in an empty text
        values = [t.rng.choice(LETTERS) + gen.a_text(t.rng, 9, LETTERS if t.rng.random() < 0.7 else LETTERS[:21]) for _ in range(20)]
        exprs = []
        for text, flag, p in rows:
            re_text = f"/{text}/{flag}"
            exprs += [f"x ~ {re_text}", f"match(x, {re_text})", f"find(x, {re_text})", f"captures(x, {re_text})", f"replace(x, {re_text}, \"<$0>\")", f"split(x, {re_text})"]
        got = t.values("stdin msgpack | map [" + ", ".join(exprs) + "]", mp.pack_all(values))
        for value, answers in zip(values, got):
            for k, (text, flag, p) in enumerate(rows):
                one(t, p, value, f"/{text}/{flag} of {value!r}", answers[6 * k:6 * k + 6])


def one(t, p, value, what, got):
    m = p.search(value)
    t.same(got[0], m is not None, what)
    t.same([got[1]], [m and m[0]], what + " match")
    t.same([got[2]], [m.start() if m else None], what + " find")
    t.same([got[3]], [list(m.groups()) if m else None], what + " captures")
    # behind an empty match the two go on at other places
    if all(m[0] for m in p.finditer(value)):
        t.same(got[4], p.sub(lambda m: f"<{m[0]}>", value), what + " replace")
        parts, at = [], 0
        for m in p.finditer(value):
            parts.append(value[at:m.start()])
            at = m.end()
        t.same(got[5], parts + [value[at:]], what + " split")

# SPDX-License-Identifier: MIT
"""The expression language as Python sees it: ints of 64 bits on Python's own,
and everything else where the two agree by intention."""
import decimal
import math


class Fault(Exception):
    """What is an error of the element."""


def is_int(v):
    return isinstance(v, int) and not isinstance(v, bool)


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def numbers(*values):
    if not all(map(is_number, values)):
        raise Fault("no numbers")


def fit(v, large=False):
    """An int that has 64 bits: signed ones, unless an operand was unsigned."""
    if not -2**63 <= v < (2**64 if large else 2**63):
        raise Fault("overflow")
    return v


def fit_pair(v, a, b):
    return fit(v, max(a, b) >= 2**63)


def as_floats(a, b):
    return float(a), float(b)


def arith(ints, floats):
    def op(a, b):
        numbers(a, b)
        if is_int(a) and is_int(b):
            return fit_pair(ints(a, b), a, b)
        return floats(*as_floats(a, b))

    return op


def over(f):
    """Dividing by zero is an error, as in Python."""

    def op(a, b):
        if b == 0:
            raise Fault("zero")
        return f(a, b)

    return op


def div(a, b):
    numbers(a, b)
    if b == 0:
        raise Fault("zero")
    if is_int(a) and is_int(b):
        return a / b
    a, b = as_floats(a, b)
    try:
        return a / b
    except OverflowError:
        return math.copysign(math.inf, a) * math.copysign(1, b)


def mul_floats(a, b):
    return a * b


def pow_ints(a, b):
    if b < 0:
        raise Fault("negative power")
    if abs(a) > 1 and b > 64:
        raise Fault("overflow")
    return a ** b if abs(a) > 1 else (a if b % 2 or a >= 0 and b else 1)


def pow_floats(a, b):
    if a < 0 and math.isfinite(a) and math.isfinite(b) and b % 1:
        raise Fault("complex")
    try:
        v = a ** b
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ZeroDivisionError:
        raise Fault("zero") from None
    return v


add = arith(lambda a, b: a + b, lambda a, b: a + b)
sub = arith(lambda a, b: a - b, lambda a, b: a - b)
mul = arith(lambda a, b: a * b, mul_floats)
floor_div = arith(over(lambda a, b: a // b), over(lambda a, b: a // b))
mod = arith(over(lambda a, b: a % b), over(lambda a, b: a % b))
power = arith(pow_ints, pow_floats)


def negate(a):
    numbers(a)
    return fit(-a) if is_int(a) else -a


KINDS = ((type(None), 0), (bool, 1), (int, 2), (float, 2), (str, 3), (bytes, 4), ((list, tuple), 5), (dict, 6))


def kind(v):
    return next(k for t, k in KINDS if isinstance(v, t))


def key(v):
    """What sort compares: null, false, true, numbers, texts by their bytes,
    bytes, lists item by item, records by their sorted names and then values."""
    k = kind(v)
    if k == 0:
        return (0,)
    if k == 2:
        return (2, math.isnan(v), 0 if math.isnan(v) else v)
    if k == 3:
        return (3, v.encode())
    if k == 5:
        return (5, [key(x) for x in v])
    if k == 6:
        names = sorted(v)
        return (6, [key(n) for n in names], [key(v[n]) for n in names])
    return (k, v)


def equal(a, b):
    """nan is not itself, as everywhere, but within a list."""
    return a == b if is_number(a) and is_number(b) else key(a) == key(b)


def compare(test):
    def op(a, b):
        if kind(a) != kind(b) or kind(a) in (0, 6):
            raise Fault("no order")
        return test(a, b) if is_number(a) else test(key(a), key(b))

    return op


def cat(a, b):
    if kind(a) != kind(b) or kind(a) not in (3, 4, 5):
        raise Fault("no join")
    return a + b


def contains(a, b):
    if isinstance(b, list):
        return any(equal(a, x) for x in b)
    if isinstance(b, (str, dict)) and isinstance(a, str) or isinstance(b, bytes) and isinstance(a, bytes):
        return a in b
    raise Fault("in what")


def index(a, i):
    if a is None:
        return None
    if isinstance(a, dict):
        if not isinstance(i, str):
            raise Fault("name")
        return a.get(i)
    if not isinstance(a, (list, str, bytes)) or not is_int(i):
        raise Fault("index")
    if not -len(a) <= i < len(a):
        raise Fault("range")
    return a[i]


def part(a, i, j):
    if not isinstance(a, (list, str, bytes)):
        raise Fault("slice")
    return a[i:j]


def test(v):
    if not isinstance(v, bool):
        raise Fault("test")
    return v


def round_half_away(v, digits=0):
    """Exactly, of the number that a float is."""
    if is_int(v) and not digits:
        return v
    d = decimal.Decimal(v).quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP,
                                    decimal.Context(prec=1100, Emin=-2000, Emax=2000))
    return float(d) if digits else int(d)


BINARY = {"+": add, "-": sub, "*": mul, "/": div, "//": floor_div, "%": mod, "**": power, "++": cat, "in": contains,
          "==": equal, "!=": lambda a, b: not equal(a, b), "<": compare(lambda a, b: a < b),
          "<=": compare(lambda a, b: a <= b), ">": compare(lambda a, b: a > b), ">=": compare(lambda a, b: a >= b)}

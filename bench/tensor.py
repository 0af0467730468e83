# SPDX-License-Identifier: MIT
# The yardstick of the tensor rows: numpy, element by element of an .npy file, which it
# reads as often as we do; its start and import are not counted.
# usage: tensor.py make FILE COUNT | tensor.py TIMES FILE EXPRESSION; prints its seconds.
import sys
import time

import numpy as np


def make(path, count):
    rng = np.random.default_rng(1)
    np.save(path, rng.integers(0, 256, (count, 224, 224, 3), dtype=np.uint8))


def main():
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
        return
    times, code = int(sys.argv[1]), compile(sys.argv[3], "expression", "eval")
    start = time.perf_counter()
    for _ in range(times):
        for x in np.load(sys.argv[2]):
            eval(code, {"np": np, "x": x})
    print(time.perf_counter() - start)


main()

# SPDX-License-Identifier: MIT
"""Runs the checks of all modules diff_*.py and prop_*.py of this folder."""
import concurrent.futures
import glob
import importlib
import os
import sys
import threading
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402

SEED = os.environ.get("SEED") or "1"
RUNS = int(os.environ.get("RUNS") or 1)
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 1)
if SEED == "new":
    SEED = str(time.time_ns() % 1000000007)
say = threading.Lock()


def one(name, k):
    """The k-th run of a check: how much it compared, and what was wrong."""
    f, _ = harness.CHECKS[name]
    t = harness.T(name, f"{SEED}/{name}/{k}")
    try:
        f(t)
        return t.compared, None
    except (harness.Differ, harness.Failed) as e:
        why = str(e)
    except Exception:  # a program's answer that the check cannot even read
        why = traceback.format_exc()
    finally:
        t.close()
    with say:
        print(f"not ok {name}, run {k}: SEED={SEED} RUNS={k + 1} tests/diff/run {name}")
        print("  " + (why + (f"\n$ {t.said[:2000]}" if t.said not in why else ""))[:6000].replace("\n", "\n  "),
              flush=True)
    return t.compared, why


def wanted(parts):
    """Names of the checks to run, and how many cannot for want of a program."""
    names, lacking = [], 0
    for name, (_, needs) in harness.CHECKS.items():
        if parts and not any(p in name for p in parts):
            continue
        missing = [n for n in needs if not harness.have(n)]
        if missing:
            lacking += 1
            print(f"skip {name}: {', '.join(missing)} is not installed")
        else:
            names.append(name)
    return names, lacking


def main():
    for path in sorted(glob.glob(os.path.join(os.path.dirname(__file__), "*_*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    start = time.monotonic()
    names, lacking = wanted(sys.argv[2:])
    passed = compared = 0
    # Where nobody looks, a program that is not there is a mistake.
    failed = lacking if os.environ.get("CI") else 0
    print(f"diff: SEED={SEED} RUNS={RUNS}, {len(names)} checks", flush=True)
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for n, why in pool.map(lambda a: one(*a), [(name, k) for k in range(RUNS) for name in names]):
            compared += n
            passed, failed = passed + (not why), failed + bool(why)
    print(f"diff: {compared} answers compared in {time.monotonic() - start:.1f} s")
    for end in harness.ENDS:
        end()
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write(f"{passed} {failed}\n")


main()

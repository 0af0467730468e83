#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trace.py FILE...: checks traces, and prints what is in them.

Each is an array of events, whose closing bracket may be missing; spans of a thread lie in each other or beside each other;
a task that ends has begun; each thread has one name. Prints, sorted, a line for each kind of event: phase, category, name
and, of spans and tasks, the sum of `elements`.
"""
import collections
import json
import sys


def load(path):
    text = open(path, encoding="utf-8").read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(text + "]")


def nests(spans):
    spans.sort(key=lambda e: (e["ts"], -e["dur"]))
    around = []
    for e in spans:
        end = e["ts"] + e["dur"]
        while around and around[-1] <= e["ts"]:
            around.pop()
        if around and end > around[-1]:
            sys.exit(f"does not lie in the span around it: {e}")
        around.append(end)


def main():
    seen = collections.defaultdict(int)
    for path in sys.argv[1:]:
        threads, names, tasks = collections.defaultdict(list), {}, {}
        for e in load(path):
            where = (e["pid"], e.get("tid"))
            if e["ph"] == "X":
                threads[where].append(e)
            elif e["ph"] == "M" and e["name"] == "thread_name":
                if where in names:
                    sys.exit(f"named twice: {e}")
                names[where] = e["args"]["name"]
            elif e["ph"] == "b":
                tasks[e["cat"], e["id"], e["name"]] = e["ts"]
            elif e["ph"] == "e":
                if tasks.pop((e["cat"], e["id"], e["name"]), e["ts"] + 1) > e["ts"]:
                    sys.exit(f"ends without having begun: {e}")
            seen[e["ph"], e.get("cat", ""), e["name"]] += e.get("args", {}).get("elements", 0)
        for where, spans in threads.items():
            if where not in names:
                sys.exit(f"a thread without a name: {where}")
            nests(spans)
        for name in names.values():
            seen["thread", "", name] += 0
    for (phase, category, name), elements in sorted(seen.items()):
        print(phase, category, name, elements, sep="\t")


main()

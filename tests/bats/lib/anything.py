#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that say what they like, in messages that are well formed (by way of examples/reader.py).

    anything.py fuzz ENDPOINT ROLE SEED N      N messages with any values, as a worker (1), reader (2), tool (3),
                                               or to a worker's own address (0); prints how many it could say
    anything.py claim DISPATCHER ITERATION SEAT
                                               acts as the reader of a seat that is another's; prints the answers
"""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples"))
import reader  # noqa: E402

NUMBERS = [0, 1, 2, 3, 255, 256, 2**31, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1]
TEXTS = ["", "a", "job", "range 10", "int", "tcp://127.0.0.1:1", "tcp://[::1]:99999", "ipc:///nowhere", "\x1b]0;x\x07",
         "é" * 20, "x" * 256, "x" * 257, "x" * 70000, "lines /etc/passwd", "exec -- id"]


class Anything:
    def __init__(self, seed):
        self.r, self.known = random.Random(seed), [0, 1, 2]

    def number(self):
        p = self.r.random()
        return self.r.choice(self.known if p < 0.5 else NUMBERS) if p < 0.8 else self.r.randrange(6)

    def ranges(self):
        return [1 + self.r.choice([0, 1, 9, 2**20, 2**61]) for _ in range(2 * self.r.choice([0, 1, 2, 50]))]

    def value(self, kind):
        if kind == "number":
            return self.number()
        if kind == "text":
            return self.r.choice(TEXTS)
        if kind == "bytes":
            return self.r.randbytes(self.r.choice([0, 1, 8, 300]))
        if kind == "bool":
            return self.r.random() < 0.5
        if kind == "ranges":
            return self.ranges()
        if kind == "list of texts":
            return [self.r.choice(TEXTS) for _ in range(self.r.choice([0, 1, 3]))]
        if kind == "list of splits":
            return [[self.r.randrange(3), self.number(), self.value("bool"), self.value("bool"), self.r.choice([None, "/etc/passwd"]),
                     *(self.number() for _ in range(5))] for _ in range(self.r.choice([0, 1, 3]))]
        return []

    def message(self):
        name = self.r.choice(list(reader.MESSAGES))
        values = {}
        for field, kind, inner in reader.MESSAGES[name][1]:
            if inner:
                values[field] = [[self.value(self.r.choice(["number", "number", "text", "bool", "ranges"])) for _ in inner]
                                 for _ in range(self.r.choice([0, 1, 2]))]
            else:
                values[field] = self.value(kind)
        return name, values


def drain(c, anything):
    c.socket.settimeout(0.001)
    for _, _, fields, _ in c.receive() or ():
        anything.known = (anything.known + [v for v in fields.values() if isinstance(v, int)])[-30:]
    c.socket.settimeout(5)


def fuzz(endpoint, role, seed, n):
    anything, said, connections = Anything(int(seed)), 0, 0
    while said < int(n) and connections < 200:  # a connection may be refused, or cut
        connections += 1
        try:
            peer = anything.r.randrange(1 << 56, 1 << 64)
            c = reader.Connection(endpoint, peer)
            if int(role):
                c.send("HELLO", version=2, role=int(role), peer=peer, name="any", host="none", slots=1,
                       endpoint="tcp://127.0.0.1:1")
            for _ in range(50):
                name, values = anything.message()
                if name in ("HELLO", "BYE") and anything.r.random() < 0.9:
                    continue
                if name == "END":  # without keys everybody may end the service
                    continue
                c.send(name, **values)
                said += 1
                if said % 10 == 0:
                    drain(c, anything)
            c.socket.close()
        except OSError:
            continue
    print("said", said)


def claim(dispatcher, iteration, seat):
    peer = reader.new_id()
    c = reader.Connection(dispatcher, peer)
    c.send("HELLO", version=2, role=2, peer=peer, name="thief", host="none")
    its = {"iteration": int(iteration, 16), "seat": int(seat)}
    everything = [[k, [0, 10**7]] for k in range(8)]
    c.send("ACK", seq=10**6, list=everything, **its)
    c.send("HELD", stream=0, gen=1, ranges=[0, 10**7], **its)
    c.send("CLOSE", seq=10**6, list=everything, **its)
    c.send("OPEN", spec="range 1000000", epoch=1, sharding=1, **its)
    answers, end = [], time.monotonic() + 20
    while len(answers) < 4 and time.monotonic() < end:
        answers += [name for name, _, _, _ in c.receive() or sys.exit("cut") if name not in ("WELCOME", "BEAT")]
    print(*answers)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

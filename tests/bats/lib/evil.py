#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A worker that lies, made from doc/protocol.md (by way of examples/reader.py).

    evil.py DISPATCHER MODE     registers as a worker, prints `ready`, then lies as MODE says until stdin ends

MODE names what it lies about: a chunk (chunk-...), the units of a source (units-...), the end of a
stream (end-...), or its restart points (restart-...).
"""
import os
import selectors
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../examples"))
import reader  # noqa: E402

ESCAPES = "\x1b[2J\x1b]0;x\x07\rlies"
LAST = 2**64 - 1


def wire(name, request=0, payload=None, **values):
    """A message as frames, as a ROUTER sends it to a DEALER or another ROUTER."""
    number, fields = reader.MESSAGES[name]
    head = reader.pack([number, request] + [values.pop(f, reader.ZERO.get(kind, [])) for f, kind, _ in fields])
    assert not values, values
    frames = [head] + ([payload] if payload is not None else [])
    return b"".join(struct.pack(">BQ", 2 | (k + 1 < len(frames)), len(f)) + f for k, f in enumerate(frames))


class Door(reader.Connection):
    """The other end of a connection: what a reader has opened."""

    def __init__(self, s):
        self.socket, self.input, self.frames, self.request = s, bytearray(), [], 0
        s.settimeout(60)
        s.sendall(b"\xff" + b"\0" * 7 + b"\x01\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" * 32)
        self.exactly(64)
        body = b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"ROUTER" + b"\x08Identity" + struct.pack(">I", 0)
        s.sendall(b"\x04" + bytes([len(body)]) + body)
        flags, n = self.exactly(2)
        self.exactly(n)

    def message(self):
        frames, self.frames = self.frames, []
        self.frames = [f for f in frames if f]  # a ROUTER may put an empty frame in front
        return super().message()


GOOD = b"".join(map(reader.pack, range(10)))

CHUNKS = {
    "ok": {}, "count-more": {"count": 1000}, "count-less": {"count": 3}, "count-zero": {"count": 0, "payload": b""},
    "garbage": {"payload": os.urandom(1000)}, "never": {"count": 1, "payload": b"\xc1"},
    "deep": {"count": 1, "payload": b"\x91" * 100000 + b"\x01"},
    "long-list": {"count": 1, "payload": b"\xdd\xff\xff\xff\xff"}, "cut": {"payload": GOOD[:5]},
    "tensor": {"count": 1, "payload": b"\xc8\x00\x14\x01\x01\x08\x02\x00" + b"\xff" * 16},
    "bomb": {"count": 1, "codec": 1, "payload": b"\xff\xff\xff\xff\x0f" + b"x" * 10, "raw_len": 2**32 - 1},
    "snappy": {"codec": 1, "payload": b"\x80\x80\x40" + b"x" * 10, "raw_len": 10}, "raw-huge": {"raw_len": LAST},
    "raw-small": {"raw_len": 5}, "offset-last": {"offset": LAST - 5}, "offset-half": {"offset": 2**63 - 5},
    "skip-more": {"skip": 20}, "skip-last": {"skip": 2**32 - 1}, "gen": {"gen": 99}, "seat": {"seat": 99},
    "session": {"session": 99}, "beyond": {"offset": 10**9}, "lease": {"lease": 7, "arena": 3, "at": LAST},
    "escapes": {"count": 1, "payload": reader.pack(ESCAPES)},
}

ENDS = {
    "huge": {"length": LAST}, "error": {"code": 65, "text": ESCAPES, "help": ESCAPES},
    "code": {"code": 137, "text": "no"}, "answer": {"code": 2, "text": "no"},
}


class Evil:
    def __init__(self, dispatcher, mode):
        self.mode, self.peer = mode, reader.new_id()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.poll = selectors.DefaultSelector()
        self.dispatcher = reader.Connection(dispatcher, self.peer)
        self.poll.register(self.dispatcher.socket, selectors.EVENT_READ, self.told)
        self.poll.register(self.listener, selectors.EVENT_READ, self.opened)
        self.poll.register(sys.stdin, selectors.EVENT_READ, sys.exit)
        self.key, self.done = None, set()
        self.dispatcher.send("HELLO", version=2, role=1, peer=self.peer, name="evil\x1b[2J", host="none", slots=8,
                             endpoint="tcp://127.0.0.1:%d" % self.listener.getsockname()[1])

    def opened(self):
        door = Door(self.listener.accept()[0])
        self.poll.register(door.socket, selectors.EVENT_READ, lambda: self.asked(door))

    def units(self):
        whole = [1, 0, True, True, None, 0, 1000, 1, 1000, 0]
        return {"units-path": [[2, 0, True, True, "/etc/passwd", 0, 0, 1, 100, 0]],
                "units-many": [[1, 0, True, True, None, 0, 2**63 - 1, 2**63 - 1, LAST, 0]] * 4000,
                "units-zero": [[1, 0, False, True, None, 0, 0, 0, 0, 0]]}.get(self.mode, [whole])

    def told(self):
        for name, request, m, _ in self.dispatcher.receive() or sys.exit():
            if name == "WELCOME":
                print("ready", flush=True)
            elif name == "BEAT":
                continue
            elif name == "LIST":
                code = {"units-error": 65, "units-code": 255}.get(self.mode, 0)
                text = ESCAPES if code else ""
                self.dispatcher.send("UNITS", request=request, code=code, text=text, help=text, times=1, last=True,
                                     units=[] if code else self.units())
            elif name == "ASSIGN":
                self.assigned(request, m)
            elif name == "REVOKE":
                self.dispatcher.send("REVOKED", request=request, **self.of(m))

    @staticmethod
    def of(m):
        return {k: m[k] for k in ("iteration", "stream", "gen")}

    def assigned(self, request, m):
        self.key = self.of(m)
        self.dispatcher.send("ASSIGNED", request=request, **self.key)
        kind, _, how = self.mode.partition("-")
        if kind == "end":
            self.dispatcher.send("STREAM_END", **self.key, **ENDS[how])
        elif kind == "restart" and "restart" not in self.done:
            # A state that is none, and then it leaves: another worker is handed the state.
            self.done.add("restart")
            fields = [f for f, kind, _ in reader.MESSAGES["RESTART"][1] if kind == "bytes"]
            self.dispatcher.send("RESTART", request=0, **self.key, **{f: os.urandom(300) for f in fields})
            self.dispatcher.send("BYE")
            sys.exit()

    def asked(self, door):
        came = door.receive()
        if came is None:
            self.poll.unregister(door.socket)
            return
        for name, _, m, _ in came:
            if name != "CREDIT" or "chunk" in self.done or not self.mode.startswith("chunk-"):
                continue
            self.done.add("chunk")
            chunk = {"offset": 0, "count": 10, "payload": GOOD, **self.of(m),
                     "seat": m["seat"], "session": m["session"]}
            chunk.update(CHUNKS[self.mode[len("chunk-"):]])
            chunk.setdefault("raw_len", len(chunk["payload"]))
            door.socket.sendall(wire("CHUNK", **chunk))
            self.dispatcher.send("STREAM_END", **self.key, length=10)

    def run(self):
        while True:
            for key, _ in self.poll.select(0.5):
                key.data()
            self.dispatcher.send("BEAT", request=0)


if __name__ == "__main__":
    if sys.argv[1] == "modes":
        print(*["chunk-" + x for x in CHUNKS], *["end-" + x for x in ENDS], "units-path", "units-many", "units-zero",
              "units-error", "units-code", "restart-state")
    else:
        try:
            Evil(sys.argv[1], sys.argv[2]).run()
        except OSError:
            pass

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that do not behave, over plain sockets: what libzmq itself would never do.

    peer.py listen KIND         a server that is no dispatcher; prints its port, ends with stdin
    peer.py rid ADDRESS BASE    the three connections that guess an id of libzmq's own
    peer.py status ADDRESS S    asks for the status for S seconds and reads nothing
    peer.py get ADDRESS S       asks for a large dataset for S seconds and reads nothing
    peer.py junk ADDRESS S      sends what is no message for S seconds and reads nothing
    peer.py zmtp ADDRESS SEED N N connections that break the rules of ZMTP and of messages, each in another way
    peer.py curve ADDRESS SEED N    the same against a server that wants keys
    peer.py parts ADDRESS S     one message of frames without end, for S seconds
    peer.py halves ADDRESS N    N connections, each with most of a large frame
    peer.py idle ADDRESS N      N connections that say nothing, until stdin ends
    peer.py thief ADDRESS ITERATION SEAT GEN
                                asks a worker for the chunks of a reader; prints what came

The last four print what they could do, as `sent BYTES`, `held N`.
"""
import itertools
import os
import random
import re
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../diff"))
from mp import pack  # noqa: E402

GREETING = b"\xff" + b"\0" * 7 + b"\x01\x7f\x03\x00" + b"NULL" + b"\0" * 48


def ready(kind, name=b""):
    body = b"\x05READY\x0bSocket-Type" + struct.pack(">I", len(kind)) + kind
    body += b"\x08Identity" + struct.pack(">I", len(name)) + name
    return b"\x04" + bytes([len(body)]) + body


def frame(body, more=False):
    if len(body) < 256:
        return bytes([more, len(body)]) + body
    return bytes([2 | more]) + struct.pack(">Q", len(body)) + body


def version():
    doc = open(os.path.join(os.path.dirname(__file__), "../../../doc/protocol.md"), encoding="utf-8")
    return int(re.search(r"of the protocol; now (\d+) \|", doc.read())[1])


def take(s, n):
    """So many bytes, in however many pieces they come."""
    got = b""
    while len(got) < n:
        piece = s.recv(n - len(got))
        if not piece:
            break
        got += piece
    return got


def connect(address, name=None):
    """A connection; with a name it has shaken hands as a DEALER of that name."""
    host, port = address[len("tcp://"):].rsplit(":", 1)
    s = socket.create_connection((host, int(port)))
    if name is not None:
        s.sendall(GREETING + ready(b"DEALER", name))
        s.settimeout(60)
        take(s, len(GREETING))
        s.settimeout(None)
    return s


served = itertools.count()


def serve(kind, c):
    """What each kind says to a connection."""
    says = {
        "junk": (b"", b"\x15junk junk junk\r\n" * 20, True),
        "ssh": (b"", b"SSH-2.0-OpenSSH_9.2\r\n", False),
        "http": (b"1", b"HTTP/1.1 400 Bad Request\r\n\r\n", True),
        "tls": (b"1", bytes([21, 3, 3, 0, 2, 2, 70]), True),
        "hangup": (b"", b"", True),
        "silent": (b"", b"", False),
        "zmtp1": (b"", b"\xff" + b"\0" * 7 + b"\x01\x7e" + b"x" * 300, False),
        "pub": (b"", GREETING + ready(b"PUB"), False),
        "router": (b"1", GREETING + ready(b"ROUTER") + frame(b"hello"), False),
    }
    if kind == "turns":  # right for who only looks, garbage for libzmq, which speaks at once
        c.settimeout(0.05)
        try:
            c.recv(1)
            says[kind] = (b"", b"\x15" + os.urandom(random.randrange(1, 300)), True)
        except TimeoutError:
            says[kind] = (b"", GREETING, False)
        c.settimeout(None)
    if kind in ("keyed", "clear"):  # tells the first one how it speaks, and hangs up on the others before it does
        first = next(served) == 0
        mechanism = b"CURVE" if kind == "keyed" else b"NULL"
        c.sendall(GREETING[:11])
        take(c, 11 if first else len(GREETING))
        says[kind] = (b"", (b"\0" + mechanism.ljust(20, b"\0") + b"\0" * 32) if first else b"", not first)
    wait, say, close = says[kind]
    try:
        if wait:
            c.recv(1)
        c.sendall(say)
        if close:
            c.close()
    except OSError:
        pass


def listen(kind):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(64)
    held = []

    def accept():
        while True:
            c, _ = s.accept()
            held.append(c)
            threading.Thread(target=serve, args=(kind, c), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print(s.getsockname()[1], flush=True)
    sys.stdin.read()


def rid(address, base):
    held = [connect(address, b"\0" + struct.pack(">I", int(base)))]
    for _ in range(3):
        held.append(connect(address, b"\x80AAAAAAA"))
    print("held", len(held))


def status(address, seconds, ask=None):
    peer = random.getrandbits(63) | 1 << 63
    s = connect(address, struct.pack(">Q", peer))
    hello = [1, 1, version(), 3, peer, "flood", "elsewhere", "elsewhere", 0, "", 0, [], 0, []]
    s.sendall(frame(pack(hello)))
    take(s, take(s, 2)[1])  # READY
    answer = s.recv(2000)  # two bytes of a frame's head, one of a list's, and the type
    if answer[3] != 4:
        sys.exit("not WELCOME: %r" % answer)
    for i in range(100):  # something to tell
        spec = 'range %d | map "%s"' % (i, "x" * 5000)
        s.sendall(frame(pack([9, i + 2, "", spec, "int"])))
    asks = frame(pack(ask or [12, 200, 0, "", 0, 0])) * 100
    end, sent = time.monotonic() + float(seconds), 0
    s.settimeout(0.2)
    while time.monotonic() < end:
        try:
            sent += s.send(asks[sent % len(asks):])
        except TimeoutError:
            pass
        except OSError:
            print("cut", flush=True)
            break
    print("sent", sent)


def get(address, seconds):
    status(address, seconds, [10, 200, "large"])


def junk(address, seconds):
    status(address, seconds, [12, 200])


def parts(address, seconds):
    s = connect(address, b"\x80hostile")
    piece = frame(b"x" * (8 << 20), more=True)
    end, sent = time.monotonic() + float(seconds), 0
    try:
        while time.monotonic() < end:
            s.sendall(piece)
            sent += len(piece)
    except OSError:
        print("cut", flush=True)
    print("sent", sent)


def halves(address, n):
    held = []
    for i in range(int(n)):
        s = connect(address, struct.pack(">Q", 1 << 63 | i))
        try:
            s.sendall(b"\x02" + struct.pack(">Q", (16 << 20) - 1) + b"y" * (15 << 20))
            held.append(s)
        except OSError:
            pass
    print("held", len(held))


def broken(r):
    """A greeting, a handshake and frames, each of which may be wrong."""
    greeting = bytearray(GREETING)
    if r.random() < 0.2:
        greeting[r.randrange(len(greeting))] = r.randrange(256)
    elif r.random() < 0.1:
        greeting = r.choice([b"\x01\x00", b"\x09\x00\x80AAAAAAB", GREETING[:10] + b"\x01\x05\x00\x08\x80AAAAAAC"])
    yield bytes(greeting)
    name = r.choice([b"", struct.pack(">Q", r.getrandbits(64)), r.randbytes(r.choice([1, 5, 7, 9, 255, 256, 300]))])
    hands = bytearray(ready(r.choice([b"DEALER", b"ROUTER", b"REQ", b"PUB", b"", b"A" * 100]), name[:100]))
    if r.random() < 0.3:
        hands[r.randrange(len(hands))] = r.randrange(256)
    yield bytes(hands[:r.randrange(len(hands)) if r.random() < 0.1 else None])
    for _ in range(r.randrange(6)):
        junk = [r.randrange(60), r.randrange(3)] + [r.choice([0, 1, "", [], False, 2**63, b"x", None]) for _ in
                                                    range(r.randrange(22))]
        yield r.choice([
            frame(pack(junk)), frame(pack(junk)), frame(r.randbytes(r.randrange(300)), r.random() < 0.5),
            b"\x01\x00" * r.randrange(1, 500) + b"\x00\x00", r.randbytes(r.randrange(300)),
            b"\x02" + struct.pack(">Q", r.choice([2**63, 2**64 - 1, 2**31, 2**32, 17 << 20, (16 << 20) + 1])) + b"zz",
            b"\x04\x20\x04" + r.choice([b"PING", b"PONG", b"JOIN"]) + r.randbytes(27)])


def broken_curve(r):
    """The same where keys are wanted: steps of CURVE by somebody who has none, cut, long or out of turn."""
    yield GREETING[:12] + b"CURVE" + b"\0" * 47
    sizes = {b"HELLO": 194, b"WELCOME": 160, b"INITIATE": 260, b"READY": 70, b"MESSAGE": 40, b"ERROR": 6}
    for _ in range(r.randrange(1, 4)):
        word = r.choice([b"HELLO", r.choice(list(sizes))])
        n = sizes[word] if r.random() < 0.5 else r.randrange(300)
        body = bytes([len(word)]) + word + (b"\x01\x00" if r.random() < 0.8 else b"") + r.randbytes(n)
        if len(body) > 255:
            yield b"\x06" + struct.pack(">Q", r.choice([len(body), len(body), 2**31, 2**64 - 1])) + body
        else:
            yield bytes([r.choice([4, 4, 0, 1]), len(body)]) + body


def zmtp(address, seed, sessions, broken=broken):
    r, kept = random.Random(int(seed)), []
    for _ in range(int(sessions)):
        s = connect(address)
        s.settimeout(2)
        try:
            for part in broken(r):
                s.sendall(part)
        except OSError:
            pass  # it hung up, as it should
        if r.random() < 0.05:
            kept = (kept + [s])[-50:]
        else:
            s.close()
    print("sessions", sessions)


def curve(address, seed, sessions):
    zmtp(address, seed, sessions, lambda r: (broken_curve if r.random() < 0.8 else broken)(r))


def thief(address, iteration, seat, gen):
    s = connect(address, b"\x80thieves")
    take(s, take(s, 2)[1])  # READY
    key = [int(iteration, 16), 0, int(gen), int(seat)]
    for ticket in ([0, 0], [1, 1], [2**64 - 1, 2**64 - 1]):
        s.sendall(frame(pack([41, 0, *key, [0, 10**7], *ticket, 0])))
        s.sendall(frame(pack([39, 0, *key, 10**6, 10**6, *ticket, 0])))
    types = []
    s.settimeout(60)
    while len(types) < 3:  # each CREDIT is answered at once
        flags, n = take(s, 2)
        if flags & 2:
            n = struct.unpack(">Q", bytes([n]) + take(s, 7))[0]
        body = take(s, n)
        if body[1] != 2:  # no BEAT
            types.append(str(body[1]))
    print("got", *types)


def idle(address, n):
    held = [connect(address) for _ in range(int(n))]
    print("held", len(held), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A reader written from doc/protocol.md alone, with nothing but Python's own library.

    reader.py ENDPOINT SPEC [NAME=VALUE...]     prints the elements of a pipeline, a line of JSON each

NAME=VALUE sets fields of OPEN, such as job=mine or sharding=0. SPEC is sent as it is; the canonical text,
which makes equal pipelines one dataset, is printed by `dsvc-run --print=canonical SPEC`.

The messages are not written down here: the tables of the document are read, and a field that is not
named is sent as zero. Left out are shared memory, orders, resuming, and waiting for a dispatcher that is
started again: without one, this ends with 75, as a reader does that was taken for lost.
"""
import binascii
import json
import os
import random
import re
import selectors
import socket
import struct
import sys
import time

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../doc/protocol.md")
WINDOW = 16  # chunks that a worker may send ahead
QUIET = 6.0  # seconds without a chunk, although there is credit, after which a connection is made anew
AGAIN = 2.0  # seconds after which a request that was not answered is repeated

# ---- the tables of the document ----

ZERO = {"number": 0, "text": "", "bytes": b"", "bool": False}


def read_tables(path):
    """{name: (type, [(field, kind, [inner field, ...])])} and {type: name}."""
    messages, names, fields = {}, {}, None
    with open(path, encoding="utf-8") as f:
        for line in f:
            head = re.match(r"### (\d+) (\w+) ", line)
            row = re.match(r"\| (- )?(\w+) \| ([a-z ]+) \|", line)
            if head:
                fields = []
                messages[head[2]] = (int(head[1]), fields)
                names[int(head[1])] = head[2]
            elif row and fields is not None and row[2] != "field":
                if row[1]:
                    fields[-1][2].append(row[2])
                else:
                    fields.append((row[2], row[3], []))
    return messages, names


MESSAGES, NAMES = read_tables(DOCUMENT)

# ---- MessagePack ----


def head(n, small, most, codes):
    if n <= most:
        return bytes([small | n])
    for code, form, limit in zip(codes, (">BB", ">BH", ">BI"), (0xFF, 0xFFFF, 0xFFFFFFFF)):
        if code and n <= limit:
            return struct.pack(form, code, n)
    raise ValueError(n)


def pack(v):
    if v is None:
        return b"\xc0"
    if isinstance(v, bool):
        return b"\xc3" if v else b"\xc2"
    if isinstance(v, int):
        return bytes([v]) if v < 128 else struct.pack(">BQ", 0xCF, v)
    if isinstance(v, str):
        v = v.encode()
        return head(len(v), 0xA0, 31, (0xD9, 0xDA, 0xDB)) + v
    if isinstance(v, bytes):
        return head(len(v), 0, -1, (0xC4, 0xC5, 0xC6)) + v
    return head(len(v), 0x90, 15, (0, 0xDC, 0xDD)) + b"".join(map(pack, v))


SCALARS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
           0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
# code: what it is, and how many bytes its length has
SIZED = {0xC4: ("bin", 1), 0xC5: ("bin", 2), 0xC6: ("bin", 4), 0xC7: ("ext", 1), 0xC8: ("ext", 2), 0xC9: ("ext", 4),
         0xD9: ("str", 1), 0xDA: ("str", 2), 0xDB: ("str", 4), 0xDC: ("list", 2), 0xDD: ("list", 4),
         0xDE: ("map", 2), 0xDF: ("map", 4)}


def unpack(b, at=0):
    """The value at a place, and the place behind it."""
    c = b[at]
    at += 1
    if c < 0x80 or c >= 0xE0:
        return (c if c < 0x80 else c - 256), at
    if c in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[c], at
    if c in SCALARS:
        return struct.unpack_from(SCALARS[c], b, at)[0], at + struct.calcsize(SCALARS[c])
    if 0xD4 <= c <= 0xD8:
        kind, n = "ext", 1 << (c - 0xD4)
    elif c < 0xC0:
        kind, n = ("map", c & 15) if c < 0x90 else ("list", c & 15) if c < 0xA0 else ("str", c & 31)
    else:
        kind, width = SIZED[c]
        n = int.from_bytes(b[at:at + width], "big")
        at += width
    if kind in ("list", "map"):
        items = []
        for _ in range(n if kind == "list" else 2 * n):
            v, at = unpack(b, at)
            items.append(v)
        return (items if kind == "list" else dict(zip(items[::2], items[1::2]))), at
    if kind == "ext":
        return extension(b[at], b[at + 1:at + 1 + n]), at + 1 + n
    v = bytes(b[at:at + n])
    if len(v) < n:
        raise ValueError("cut off")
    return (v.decode("utf-8", "surrogateescape") if kind == "str" else v), at + n


DTYPES = ["B", "H", "I", "Q", "b", "h", "i", "q", "f", "d", "?", "e", None]


def extension(kind, data):
    """A tensor, as nested lists."""
    version, dtype, n_dims, pad = data[:4]
    if kind != 1 or version != 1:
        raise ValueError("an extension that the document does not know")
    dims = struct.unpack_from("<%dQ" % n_dims, data, 4)
    count = 1
    for d in dims:
        count *= d
    at = 4 + 8 * n_dims + pad
    if DTYPES[dtype]:
        flat = list(struct.unpack_from("<%d%s" % (count, DTYPES[dtype]), data, at))
    else:  # bf16: the upper half of an f32
        halves = struct.unpack_from("<%dH" % count, data, at)
        flat = [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves]
    for d in reversed(dims[1:]):
        flat = [flat[i:i + d] for i in range(0, len(flat), d)] if d else []
    return flat if dims else flat[0]


# ---- snappy, raw format ----


def snappy(b, size):
    n = shift = at = 0
    while True:
        c = b[at]
        at += 1
        n |= (c & 127) << shift
        shift += 7
        if c < 128:
            break
    if n != size:
        raise ValueError("another length than raw_len")
    out = bytearray()
    while at < len(b):
        tag = b[at]
        at += 1
        if tag & 3 == 0:  # a literal
            n = tag >> 2
            if n >= 60:
                width = n - 59
                n = int.from_bytes(b[at:at + width], "little")
                at += width
            out += b[at:at + n + 1]
            at += n + 1
            continue
        width = (1, 2, 4)[(tag & 3) - 1]
        n = ((tag >> 2) & 7) + 4 if width == 1 else (tag >> 2) + 1
        back = int.from_bytes(b[at:at + width], "little")
        if width == 1:
            back |= (tag >> 5) << 8
        at += width
        if not 0 < back <= len(out):
            raise ValueError("a copy of what is not there")
        for _ in range(n):
            out.append(out[-back])
    if len(out) != size:
        raise ValueError("another length than it says")
    return bytes(out)


# ---- a connection: ZMTP 3.0, NULL, as a DEALER ----


class Connection:
    def __init__(self, endpoint, peer):
        if endpoint.startswith("ipc://"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(endpoint[len("ipc://"):])
        else:
            host, port = endpoint[len("tcp://"):].rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)), 5)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input, self.frames, self.request = bytearray(), [], 0
        self.socket.settimeout(5)
        self.socket.sendall(b"\xff" + b"\0" * 7 + b"\x01\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" * 32)
        self.exactly(64)
        body = b"\x05READY" + b"".join(bytes([len(k)]) + k + struct.pack(">I", len(v)) + v for k, v in (
            (b"Socket-Type", b"DEALER"), (b"Identity", struct.pack(">Q", peer))))
        self.socket.sendall(b"\x04" + bytes([len(body)]) + body)
        flags, n = self.exactly(2)
        if not flags & 4 or not self.exactly(n).startswith(b"\x05READY"):
            raise ConnectionError("it is no ROUTER")

    def exactly(self, n):
        out = b""
        while len(out) < n:
            piece = self.socket.recv(n - len(out))
            if not piece:
                raise ConnectionError("it hangs up")
            out += piece
        return out

    def send(self, message, /, *, request=None, **values):
        """Sends a message by its name in the document; fields that are not given are zero."""
        number, fields = MESSAGES[message]
        if request is None:
            self.request += 1
            request = self.request
        row = [number, request] + [values.pop(f, ZERO.get(kind, [])) for f, kind, _ in fields]
        if values:
            raise KeyError(values)
        body = pack(row)
        short = len(body) < 256
        try:
            self.socket.sendall((bytes([0, len(body)]) if short else struct.pack(">BQ", 2, len(body))) + body)
        except OSError:
            pass  # it broke, which receiving will tell

    def receive(self):
        """The messages that have come: (name, request, {field: value}, payload). None: the connection broke."""
        try:
            piece = self.socket.recv(1 << 20)
        except (ConnectionError, socket.timeout):
            piece = b""
        if not piece:
            return None
        self.input += piece
        found, at = [], 0
        while len(self.input) - at >= 2:
            flags, n, start = self.input[at], self.input[at + 1], at + 2
            if flags & 2:
                if len(self.input) - at < 9:
                    break
                n, start = int.from_bytes(self.input[at + 1:at + 9], "big"), at + 9
            if len(self.input) - start < n:
                break
            body = bytes(self.input[start:start + n])
            at = start + n
            if flags & 4:
                if body[:5] == b"\x04PING":
                    pong = b"\x04PONG" + body[7:]
                    self.socket.sendall(bytes([4, len(pong)]) + pong)
                continue
            self.frames.append(body)
            if not flags & 1:
                found.append(self.message())
        del self.input[:at]
        return found

    def message(self):
        frames, self.frames = self.frames, []
        row, _ = unpack(frames[0])
        name = NAMES[row[0]]
        fields = {}
        for (field, _, inner), value in zip(MESSAGES[name][1], row[2:]):
            fields[field] = [dict(zip(inner, x)) for x in value] if inner else value
        return name, row[1], fields, frames[1] if len(frames) > 1 else None


# ---- the reader ----


def ranges(offsets):
    """A set of offsets as `start, count, gap, count, ...`."""
    out, end = [], 0
    run = None
    for o in sorted(offsets):
        if run is not None and o == end:
            out[-1] += 1
        else:
            out += [o - end, 1]
        run, end = o, o + 1
    return out


def base64(v):
    return binascii.b2a_base64(v, newline=False).decode()


def new_id():
    return random.SystemRandom().randrange(1 << 56, 1 << 64)


class Worker:
    def __init__(self, endpoint):
        self.endpoint, self.session, self.quiet = endpoint, 0, QUIET
        self.connection = None
        self.heard = 0.0


class Reader:
    def __init__(self, endpoint, spec, options):
        self.peer, self.options = new_id(), options
        self.spec = spec
        self.poll = selectors.DefaultSelector()
        self.dispatcher = Connection(endpoint, self.peer)
        self.poll.register(self.dispatcher.socket, selectors.EVENT_READ, None)
        self.iteration = self.seat = self.view = self.version = 0
        self.beat = self.loss = 1.0
        self.streams, self.workers = {}, {}
        self.unacked, self.acking, self.seq, self.acked_at = {}, None, 0, 0.0
        self.closing = None
        self.result = None
        self.heard = time.monotonic()

    def hello(self):
        self.dispatcher.send("HELLO", version=2, role=2, peer=self.peer, name="reader.py",
                             host="%016x" % self.peer)  # nobody else's: this reader is on no host that is known

    def open(self):
        self.dispatcher.send("OPEN", **{"spec": self.spec, "sharding": 1, "epoch": 1, "min_workers": 1,
                                        "wait_ms": 10000, "iteration": self.iteration, "seat": self.seat, **self.options})

    # -- streams and workers --

    def connect(self, worker):
        """A new connection is a new session: what was sent and not acknowledged is sent again."""
        if worker.connection:
            self.poll.unregister(worker.connection.socket)
            worker.connection.socket.close()
            worker.connection = None
        worker.heard = time.monotonic()
        try:
            worker.connection = Connection(worker.endpoint, new_id())
        except OSError:
            return  # tried again when it is due; or the stream gets another worker
        self.poll.register(worker.connection.socket, selectors.EVENT_READ, worker)
        worker.session += 1
        for number, s in self.streams.items():
            if self.workers.get(s["worker"]) is worker:
                s["got"] = s["total"] = 0
                self.credit(number)

    def credit(self, number):
        s = self.streams[number]
        worker = self.workers.get(s["worker"])
        if not worker or not worker.connection or s["total"] - s["got"] > WINDOW // 2:
            return
        s["total"] = s["got"] + WINDOW
        worker.connection.send("CREDIT", iteration=self.iteration, stream=number, gen=s["gen"], seat=self.seat,
                               session=worker.session, total=s["total"], ticket_high=s["ticket_high"],
                               ticket_low=s["ticket_low"], view=self.view, request=0)

    def take_streams(self, m):
        if m["since"] and m["since"] != self.version:
            return  # one is missing: BEAT tells which one was the last
        self.version = m["version"]
        for x in m["list"]:
            old = self.streams.get(x["stream"])
            s = {**x, "have": old["have"] if old else set(), "got": 0, "total": 0}
            if old and (old["gen"], old["worker"]) == (x["gen"], x["worker"]):
                s["got"], s["total"] = old["got"], old["total"]
            self.streams[x["stream"]] = s
            if x["state"] not in (1, 2, 4) or not x["worker"]:
                continue
            worker = self.workers.get(x["worker"])
            if not worker or worker.endpoint != x["endpoint"]:
                worker = self.workers[x["worker"]] = Worker(x["endpoint"])
            if not worker.connection:
                self.connect(worker)
            else:
                self.credit(x["stream"])

    def take_chunk(self, worker, m, payload):
        s = self.streams.get(m["stream"])
        worker.heard, worker.quiet = time.monotonic(), QUIET
        if not s or (m["iteration"], m["seat"], m["gen"]) != (self.iteration, self.seat, s["gen"]):
            return
        if m["session"] == worker.session:
            s["got"] += 1
        if m["codec"] == 1:
            payload = snappy(payload, m["raw_len"])
        at, whole = 0, []
        for k in range(m["count"]):
            value, at = unpack(payload, at)
            offset = m["offset"] + k
            if k < m["skip"]:
                continue
            whole.append(offset)
            if offset >= s["floor"] and offset not in s["have"]:
                s["have"].add(offset)
                self.unacked.setdefault(m["stream"], set()).add(offset)
                print(json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=base64))
        sys.stdout.flush()
        worker.connection.send("CHUNK_ACK", iteration=self.iteration, stream=m["stream"], gen=s["gen"], seat=self.seat,
                               ranges=ranges(whole), ticket_high=s["ticket_high"],
                               ticket_low=s["ticket_low"], view=self.view, request=0)
        self.credit(m["stream"])

    # -- acknowledging --

    def listed(self):
        return [[n, ranges(o)] for n, o in sorted(self.unacked.items()) if o]

    def acknowledge(self, now):
        if self.acking and now - self.acked_at > AGAIN:
            self.dispatcher.send("ACK", **self.acking[0])
            self.acked_at = now
        elif not self.acking and not self.closing and now - self.acked_at > 0.05 and any(self.unacked.values()):
            self.seq += 1
            self.acking = ({"iteration": self.iteration, "seat": self.seat, "seq": self.seq, "list": self.listed()},
                           self.unacked)
            self.unacked, self.acked_at = {}, now
            self.dispatcher.send("ACK", **self.acking[0])

    def take_hold(self, m, request):
        new = {"gen": 0, "have": set(), "floor": 0, "worker": 0, "got": 0, "total": 0}
        s = self.streams.setdefault(m["stream"], new)
        s["gen"], s["worker"] = m["gen"], 0
        kept = set(self.unacked.get(m["stream"], ()))
        if self.acking:
            kept |= self.acking[1].get(m["stream"], set())
        self.dispatcher.send("HELD", iteration=self.iteration, stream=m["stream"], gen=m["gen"], seat=self.seat,
                             ranges=ranges(kept), request=request)

    # -- the dispatcher --

    def take(self, name, request, m):
        if name == "WELCOME":
            self.beat, self.loss = m["beat_ms"] / 1000, m["loss_ms"] / 1000
            self.open()
        elif name == "WHO":
            self.hello()
        elif name == "JOB":
            self.iteration, self.seat, self.view = m["iteration"], m["seat"], m.get("view", 0)
        elif name == "STREAMS":
            self.take_streams(m)
        elif name == "HOLD":
            self.take_hold(m, request)
        elif name == "ACKED" and self.acking and m["seq"] >= self.acking[0]["seq"]:
            self.acking = None
            for x in m["floors"]:
                s = self.streams.get(x["stream"])
                if s:
                    s["floor"] = max(s["floor"], x["floor"])
                    s["have"] = {o for o in s["have"] if o >= s["floor"]}
        elif name == "DONE":
            self.result = (m["code"], m["text"])
            if not self.iteration:
                return False
            if not self.closing:
                self.closing = time.monotonic()
                self.dispatcher.send("CLOSE", iteration=self.iteration, seat=self.seat, seq=self.seq + 1,
                                     list=self.listed())
        elif name == "CLOSED":
            return False
        elif name in ("ERROR", "REFUSED"):
            self.result = (m["code"], m["text"])
            return False
        elif name == "GONE":
            self.result = (m["code"], m["text"] or "taken for lost")
            return False
        elif name == "BYE":
            self.result = (75, "the dispatcher has ended")
            return False
        return True

    def look_after_workers(self, now):
        used = {s["worker"] for s in self.streams.values() if s.get("state") in (1, 2, 4)}
        for peer, worker in self.workers.items():
            if peer in used and now - worker.heard > (worker.quiet if worker.connection else 0.5):
                worker.quiet = min(2 * worker.quiet, 60)
                self.connect(worker)

    def run(self):
        self.hello()
        beaten = time.monotonic()
        while True:
            for key, _ in self.poll.select(0.05):
                worker = key.data
                came = (worker.connection if worker else self.dispatcher).receive()
                if worker and came is None:
                    self.connect(worker)
                elif came is None:
                    return self.result or (75, "lost the dispatcher")
                for name, request, m, payload in came or ():
                    if not worker:
                        self.heard = time.monotonic()
                        if not self.take(name, request, m):
                            return self.result
                    elif name == "CHUNK":
                        self.take_chunk(worker, m, payload)
            now = time.monotonic()
            if now - beaten >= self.beat:
                self.dispatcher.send("BEAT", streams=self.version, request=0)
                beaten = now
            if now - self.heard > max(self.loss, 5) or (self.closing and now - self.closing > 1):
                return self.result or (75, "the dispatcher is silent")
            self.acknowledge(now)
            self.look_after_workers(now)


def main(endpoint, spec, *options):
    kinds = {f: kind for f, kind, _ in MESSAGES["OPEN"][1]}
    given = {}
    for o in options:
        name, _, value = o.partition("=")
        given[name] = value if kinds[name] == "text" else int(value)
    code, text = Reader(endpoint, spec, given).run()
    if code:
        print("reader.py: " + text, file=sys.stderr)
    return code if code in (1, 124, 126, 127) or 64 <= code <= 78 or not code else 70


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))

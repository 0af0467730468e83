# SPDX-License-Identifier: MIT
"""The consumer's side of dsvc-feed: see `dsvc.feed`."""
from __future__ import annotations

import array
import atexit
import base64
import collections
import os
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
import warnings
import weakref
from typing import Any, Dict, Iterator, List, Optional, Sequence

from . import _ring
from ._wire import Error, Lost, error, pack, unpack
from ._wire import np as np

JOIN, READY, POSITION, SAVED, RESULT, STOP, FAIL, BYE = range(1, 9)
WELCOME, RING, BATCH, HERE, END, ERROR = range(16, 22)
VERSION, ANY, ALL = 1, 0xFFFFFFFF, (1 << 64) - 1
WHY = ("data", "steps", "stop", "signal")
NO_WORKERS = "the service's workers are the workers: use num_workers=0"
_live: "weakref.WeakSet[Feed]" = weakref.WeakSet()


class Batch(Dict[str, Any]):
    """The core's part of a step: a dict of arrays (nested for records). `data` is the same where elements
    are bare values."""
    step: int
    epoch: int
    rows: int
    last_of_loop: bool
    last: bool
    _valid: int
    _seen = False

    def __init__(self, data: Any) -> None:
        super().__init__(data if isinstance(data, dict) else {})
        self._bare = None if isinstance(data, dict) else data

    @property
    def data(self) -> Any:
        return self if self._bare is None else self._bare

    @property
    def mask(self) -> Any:
        """True for each real row, False for padding."""
        self._looked()
        return np.arange(self.rows) < self._valid if np is not None else [i < self._valid for i in range(self.rows)]

    @property
    def valid(self) -> int:
        """How many rows are real; they come first."""
        self._looked()
        return self._valid

    def _looked(self) -> None:
        Batch._seen = True

    def copy(self) -> "Batch":
        """A batch in memory of its own."""
        b = Batch(_copied(dict(self) if self._bare is None else self._bare))
        for name in ("step", "epoch", "rows", "_valid", "last_of_loop", "last"):
            setattr(b, name, getattr(self, name))
        return b


def _copied(v: Any) -> Any:
    if isinstance(v, dict):
        return {k: _copied(x) for k, x in v.items()}
    if isinstance(v, memoryview):
        flat: Any = memoryview(bytearray(v.tobytes()))
        return flat.cast(v.format, v.shape) if v.nbytes and v.ndim > 1 else flat.cast(v.format)
    own = getattr(v, "clone", None) or getattr(v, "copy", None) or getattr(v, "tolist", None)
    return own() if own else v


class Feed:
    """Batches of one consumer. Made by `dsvc.feed`."""

    def __init__(self, address: Optional[str], start: Sequence[str] = (), *, core: Optional[int] = None,
                 columns: Optional[Sequence[str]] = None, as_torch: bool = False, pin: bool = False, copy: bool = False,
                 timeout: Optional[float] = None, same: Optional[Dict[str, Any]] = None) -> None:
        """start: the command of a dsvc-feed of its own, where there is no address. same: options that the
        feed at the address must have."""
        self._address, self._start, self._core, self._names = address, list(start), core, columns
        self._copy, self._timeout, self._same = copy, timeout, same or {}
        self._view, self._pins = _with_torch(as_torch or pin, pin)
        self._sock: Optional[socket.socket] = None
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._said: Any = None
        self._in, self._fds, self._queue = bytearray(), [], collections.deque()  # type: ignore[var-annotated]
        self._ring: Any = None
        self._welcome: List[Any] = []
        self._state = b""           # the position to bring along
        self._here: Dict[int, bytes] = {}
        self._held: "collections.OrderedDict[int, Any]" = collections.OrderedDict()  # step -> owner, weakly
        self._given = self._done = self._told = 0
        self._end: Any = None
        self._closed = self._joined = self._put = False
        self._warned: Dict[str, bool] = {}
        self._pid = os.getpid()
        self.batch: Optional[Batch] = None
        self.epoch = 1
        self._new_epoch = False
        _live.add(self)

    # Contact

    def _connect(self) -> None:
        if self._address and self._address.startswith("fd:"):
            self._sock = socket.socket(fileno=os.dup(int(self._address[3:])))
        elif self._address:
            self._sock = socket.socket(socket.AF_UNIX)
            try:
                self._sock.connect(self._address)
            except OSError as e:
                raise error(69, "no dsvc-feed at %s: %s" % (self._address, e.strerror),
                            "it listens there once --ready-file has appeared") from None
        else:
            mine, its = socket.socketpair()
            self._said = tempfile.TemporaryFile()
            its_fd = its.fileno()
            try:
                self._child = subprocess.Popen(self._start + ["--listen", "fd:%d" % its_fd],
                                               pass_fds=(its_fd,), stdin=subprocess.DEVNULL, stderr=self._said)
            except FileNotFoundError:
                raise error(66, "there is no program dsvc-feed", "set DSVC_BIN to the folder of the programs") from None
            its.close()
            self._sock = mine

    def _join(self) -> None:
        if self._joined:
            return
        if self._closed:
            raise error(75, "the feed is closed")
        self._connect()
        core = ANY if self._core is None else self._core
        self._send([JOIN, VERSION, core, os.getpid(), os.path.basename(sys.argv[0] or "python")[:200], "", self._state, 0])
        self._joined = True
        while not self._welcome:
            self._hear()
        self._compare()
        self._done = self._given = self._told = self._first = self._welcome[12]
        self._ready()

    def _compare(self) -> None:
        """With what dsvc.feed was asked for."""
        w = self._welcome
        has = {"batch": w[11] * w[4] or None, "loop": w[13], "until": w[14], "seed": w[15], "tail": w[16], "world": w[4],
               "rows": w[11] or None}
        for name, wanted in self._same.items():
            if has[name] is not None and has[name] != wanted:
                self.fail("%s=%s was asked for" % (name, wanted), code=64)
                raise error(64, "%s=%s, and the dsvc-feed at %s has %s" % (name, wanted, self._address, has[name]),
                            "leave it out: what a dsvc-feed has is said where it is started")

    def _send(self, fields: List[Any]) -> None:
        body = bytearray()
        pack(fields, body)
        try:
            self._sock.sendall(struct.pack("<I", len(body)) + body)  # type: ignore[union-attr]
        except OSError:
            self._lost()

    def _lost(self) -> None:
        """The feed has gone; what it said before tells why."""
        sock, self._closed = self._sock, True
        while sock is not None:
            try:
                if not self._receive(sock):
                    break
            except OSError:
                break
            while self._message():
                pass
        if self._child is not None:
            code = self._child.wait()
            self._said.seek(0)
            text = self._said.read().decode("utf-8", "replace").strip()
            if code > 0:
                text = text[len("dsvc-feed: "):] if text.startswith("dsvc-feed: ") else text
                raise error(code, text.partition("\n  help: ")[0], text.partition("\n  help: ")[2])
        raise Lost("the feed has gone", 75)

    def _receive(self, sock: socket.socket) -> bool:
        data, control, _, _ = sock.recvmsg(1 << 18, socket.CMSG_SPACE(16 * 4))
        for level, kind, body in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(body[:len(body) - len(body) % fds.itemsize])
                self._fds.extend(fds)
        self._in += data
        return bool(data)

    def _message(self) -> bool:
        """Takes in the next whole message; False: there is none."""
        if len(self._in) < 4:
            return False
        size = 4 + struct.unpack_from("<I", self._in)[0]
        if len(self._in) < size:
            return False
        fields, _ = unpack(memoryview(bytes(self._in[4:size])))
        del self._in[:size]
        self._take(fields[0], fields[1:])
        return True

    def _hear(self) -> None:
        """Waits for one more message."""
        self._sock.settimeout(self._timeout)  # type: ignore[union-attr]
        while not self._message():
            try:
                if not self._receive(self._sock):  # type: ignore[arg-type]
                    self._lost()
            except socket.timeout:
                raise error(124, "nothing came within %g s" % (self._timeout or 0)) from None
            except ConnectionError:
                self._lost()

    def _take(self, kind: int, f: List[Any]) -> None:
        if kind == BATCH:
            self._queue.append((f, self._ring))
        elif kind == RING:
            self._ring = _ring.Ring(f, self._fds.pop(0), self._pins)
        elif kind == HERE:
            self._here[f[0]] = f[1]
        elif kind == END:
            self._end = f
        elif kind == WELCOME:
            self._welcome = f
        elif kind == ERROR:
            self._shut()
            raise error(f[0], f[1], f[2], None if f[3] == ANY else f[3])

    # Steps

    def _ready(self) -> None:
        self._send([READY, self._given, self._done, ALL])

    def _forget(self) -> None:
        """Counts slots whose views are gone, in the order of steps; moves what is kept out of the way."""
        steps = list(self._held)
        if self._pins is not None:
            self._pins.wait(steps[:-1])
        for i, step in enumerate(steps):
            owner = self._held[step]()
            if owner is not None and i < len(steps) - 1:
                owner.ring.detach(owner)
                if not self._warned.setdefault("kept", False):
                    self._warned["kept"] = True
                    warnings.warn("batches are kept while others come: they are moved to memory of their own", stacklevel=4)
            elif owner is not None:
                break
            del self._held[step]
            self._given = step + 1

    def _over(self, batch: Optional[Batch]) -> None:
        if batch is not None and batch._valid < batch.rows and not Batch._seen and not self._warned.get("pad"):
            self._warned["pad"] = True
            warnings.warn("step %d has %d real rows of %d, and neither .valid nor .mask was looked at"
                          % (batch.step, batch._valid, batch.rows), stacklevel=4)

    def _next(self) -> Optional[Batch]:
        """The next batch; None at the end of an epoch, or of all."""
        self._check()
        self._join()
        if self.batch is not None:
            self._over(self.batch)
            self._done = self.batch.step + 1
            owner = self._held[self.batch.step]()
            if self._pins is not None and owner is not None:
                self._pins.begun(self.batch.step, owner)
            del owner
        self.batch = None
        self._put = False
        self._forget()
        if self._end is None and len(self._queue) <= 1:
            self._ready()
        while not self._queue and self._end is None:
            self._hear()
        if not self._queue:
            self._finish()
            return None
        if self._queue[0][0][1] != self.epoch and self._told != self._first:
            self.epoch = self._queue[0][0][1]
            return None
        self.epoch = self._queue[0][0][1]
        return self._give(*self._queue.popleft())

    def _give(self, f: List[Any], ring: Any) -> Batch:
        step, epoch, slot, first, rows, valid, flags = f
        owner = ring.owner(slot)
        views = [c.view(owner, first, rows, ring.whole, ring.writable) for c in ring.columns]
        if self._view is not None:
            views = [self._view(c, v) for c, v in zip(ring.columns, views)]
        batch = Batch(_ring.nest(ring.columns, views))
        batch.step, batch.epoch, batch.rows, batch._valid = step, epoch, rows, valid
        batch.last_of_loop, batch.last = bool(flags & 1), bool(flags & 4)
        self._told = step + 1
        if self._copy:
            batch = batch.copy()
        self._held[step] = weakref.ref(owner)
        self.batch = batch
        return batch

    def _finish(self) -> None:
        """The end has come: the last position is asked for, and the feed is told."""
        if self._closed:
            return
        last = self._end[1]
        self._done = max(self._done, min(last, self._told))
        try:
            self._ask(self._done)
            self._send([BYE, self._done])
        except Error:
            if not self._closed:
                raise
        self._shut()

    def _user(self, batch: Batch) -> Any:
        if self._names is None:
            return batch.data
        return tuple(batch[name] for name in self._names)

    def __iter__(self) -> Iterator[Any]:
        if __package__ + ".torch" in sys.modules:
            sys.modules[__package__ + ".torch"].refuse_callers()
        return self._epoch()

    def _epoch(self) -> Iterator[Any]:
        while True:
            batch = self._next() if self._end is None or self._queue else None
            if batch is None:
                return
            value = self._user(batch)
            del batch
            yield value
            del value

    def epochs(self) -> Iterator[Iterator[Any]]:
        """An iterator for each epoch."""
        while self._end is None or self._queue:
            yield self._epoch()

    def loops(self) -> Iterator[Iterator[Any]]:
        """An iterator for each loop of --loop."""
        while self._end is None or self._queue:
            yield self._loop()

    def _loop(self) -> Iterator[Any]:
        while self._end is None or self._queue:
            batch = self._next()
            if batch is None:
                continue
            last, last_of_all = batch.last_of_loop, batch.last
            value = self._user(batch)
            del batch
            yield value
            del value
            if last_of_all:
                self._next()
            if last:
                return

    # What the consumer says

    def put(self, result: Any) -> None:
        """The result of the batch in hand: one value a step, or a list or array with one a row."""
        self._check()
        if self.batch is None or self._put:
            raise error(64, "put() is for the batch in hand, once")
        rows = len(result) if hasattr(result, "__len__") and not isinstance(result, (str, bytes, dict)) else 0
        body = bytearray()
        pack(result, body)
        self._send([RESULT, self.batch.step, rows, bytes(body)])
        self._put = True

    def stop(self, why: str = "") -> None:
        """All cores end at the same step: the furthest that any of them was told of, or the end of its loop."""
        self._check()
        self._join()
        self._send([STOP, why])

    def saved(self, step: int) -> None:
        """The model of that step is safe."""
        self._check()
        self._send([SAVED, step])

    def _ask(self, step: int) -> bytes:
        if step not in self._here and not self._closed:
            self._send([POSITION, step])
            while step not in self._here:
                self._hear()
        position = self._here.get(step, b"")
        self._here = {step: position}
        return position

    @property
    def step(self) -> int:
        """Steps done, that of the batch in hand included."""
        self._join()
        return self.batch.step + 1 if self.batch is not None else self._done

    def state_dict(self) -> Dict[str, Any]:
        """The position after the steps done, that of the batch in hand included. The same on all ranks."""
        if self._joined:
            step = self.step
            position = self._ask(step)
        elif self._state:
            return {"dsvc": 1, "step": self._step0, "position": base64.b64encode(self._state).decode()}
        else:
            self._join()
            return self.state_dict()
        if not position:
            raise error(64, "there is no position of step %d" % step,
                        "elements in order any, from stdin, or from a pipeline with `distribute` do not come again")
        return {"dsvc": 1, "step": step, "position": base64.b64encode(position).decode()}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Goes on there. Before the first batch; on any number of ranks."""
        if self._joined:
            raise error(64, "load_state_dict() comes before the first batch")
        if state.get("dsvc") != 1:
            raise error(65, "this is no state of dsvc.feed")
        self._state = base64.b64decode(state["position"])
        self._step0 = state["step"]

    # About it

    @property
    def rank(self) -> int:
        self._join()
        return int(self._welcome[3])

    @property
    def world(self) -> int:
        self._join()
        return int(self._welcome[4])

    @property
    def rows(self) -> int:
        """Rows of this core in a full step; 0 until the first batch where elements are batches."""
        self._join()
        return int(self._welcome[11])

    @property
    def spec(self) -> str:
        """The type of the elements, as far as it was known beforehand."""
        self._join()
        return str(self._welcome[18])

    @property
    def why(self) -> str:
        """Once it is over: data, steps, stop or signal."""
        return WHY[self._end[0]] if self._end else ""

    def __len__(self) -> int:
        raise TypeError("the number of steps of an epoch is not known")

    # The end

    def _check(self) -> None:
        if self._pid != os.getpid():
            raise error(64, "the feed belongs to the process that made it",
                        NO_WORKERS)

    def __reduce__(self) -> Any:
        raise error(64, "a feed cannot be sent to another process", NO_WORKERS)

    def fail(self, text: str, detail: str = "", code: int = 1) -> None:
        """Tells the others that this rank goes down, and why."""
        if self._joined and not self._closed:
            self._closed = True
            try:
                self._send([FAIL, code, text[:4000], "", detail[-16000:]])
            except Error:
                pass
        self._shut()

    def close(self) -> None:
        """Leaves. Before the end that is a failure, unless it is the only core: see stop()."""
        if self._joined and not self._closed and self._pid == os.getpid():
            if self.batch is not None:
                self._done = self.batch.step + 1
            self._closed = True
            try:
                self._send([BYE, self._done])
            except Error:
                pass
        self._shut()

    def _shut(self) -> None:
        self._closed = True
        self.batch = None
        if self._pins is not None:
            self._pins.wait(list(self._held))
        if self._sock is not None:
            self._sock.close()
            self._sock = None
        if self._child is not None and self._pid == os.getpid():
            self._child.wait()
            self._said.close()
            self._child = None

    def __del__(self) -> None:
        if getattr(self, "_sock", None) is not None:
            self.close()

    def __enter__(self) -> "Feed":
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            _fail_with(self, kind, value, trace)


def _with_torch(wanted: bool, pin: bool) -> Any:
    """What makes a tensor of a column's view, and what pins memory; None: not wanted."""
    if not wanted:
        return None, None
    from . import torch
    return torch.tensor, torch.Pins() if pin else None


def _fail_with(feed: Feed, kind: Any, value: Any, trace: Any) -> None:
    code = getattr(value, "code", None)
    if kind is SystemExit and code in (None, 0):
        feed.close()
        return
    feed.fail("%s: %s" % (kind.__name__, value), "".join(traceback.format_exception(kind, value, trace)),
              130 if kind is KeyboardInterrupt else code if isinstance(code, int) and 0 < code < 256 else 1)


def _close_all() -> None:
    for feed in list(_live):
        feed.close()


def _hook(kind: Any, value: Any, trace: Any) -> None:
    for feed in list(_live):
        _fail_with(feed, kind, value, trace)
    _excepthook(kind, value, trace)


def _after_fork() -> None:
    """The child's copies of sockets are closed, so that the end of the parent can be seen."""
    for feed in list(_live):
        feed._closed, feed.batch = True, None
        if feed._sock is not None:
            feed._sock.close()
            feed._sock = None
        if feed._child is not None:
            feed._child.returncode = 0  # it is the parent's
            feed._child = None


os.register_at_fork(after_in_child=_after_fork)
_excepthook, sys.excepthook = sys.excepthook, _hook
atexit.register(_close_all)

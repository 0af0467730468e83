# SPDX-License-Identifier: MIT
"""The consumer's side of dsvc-feed: see `dsvc.feed`."""
from __future__ import annotations

import atexit
import base64
import collections
import os
import sys
import threading
import traceback
import warnings
import weakref
from collections.abc import Iterator, Sequence
from sys import getrefcount
from typing import Any

from . import _ring
from ._batch import Batch, _copied
from ._link import (ALL, ANY, BYE, END, ERROR, FAIL, HERE, JOIN, POSITION, RESULT, RING, SAVED, STOP, VERSION,
                    WELCOME, Link, Welcome)
from ._wire import Error, error, pack

WHY = ("data", "steps", "stop", "signal")
RESULTS = ("none", "step", "rows")  # of --results
NO_WORKERS = "the service's workers are the workers: use num_workers=0"
_live: weakref.WeakSet[Feed] = weakref.WeakSet()


class Feed:
    """Batches of one consumer. Made by `dsvc.feed`."""

    def __init__(self, address: str | None, start: Sequence[str] = (), *, core: int | None = None,
                 columns: Sequence[str] | None = None, as_torch: bool = False, pin: bool = False, copy: bool = False,
                 timeout: float | None = None, same: dict[str, Any] | None = None) -> None:
        """start: the command of a dsvc-feed of its own, where there is no address. same: options that the
        feed at the address must have."""
        self._address, self._start, self._core, self._names = address, list(start), core, columns
        self._copy, self._timeout, self._same = copy, timeout, same or {}
        self._view, self._pins = _with_torch(as_torch or pin, pin)
        self._link: Link | None = None  # until the first need of it, and after the end
        self._welcome: Any = None
        self._ring: Any = None
        self._queue: collections.deque[Any] = collections.deque()  # steps announced; a new ring before its first step
        self._held: collections.deque[Any] = collections.deque()  # step, ring, slot of what was given, in order
        self._hand: Any = None  # the step in hand, as the feed announced it; its value, and that as a batch
        self._value: Any = None
        self._batch: Batch | None = None
        self._given = self._done = self._told = self._first = self._said = self._often = 0
        self._state, self._step0 = b"", 0  # the position to bring along
        self._here: dict[int, bytes] = {}  # positions that were asked for
        self._end: list[Any] = []
        self._closed = self._put = self._forked = False
        self._warned: set[str] = set()
        self._lock = threading.RLock()  # of what is heard, and of what follows from it
        self.epoch = 1
        _live.add(self)

    # Contact

    def _join(self) -> Link:
        """The connection, made at the first need."""
        if self._forked:
            raise error(64, "the feed belongs to the process that made it", NO_WORKERS)
        if self._link is not None and self._welcome:
            return self._link
        with self._lock:
            if self._closed:
                raise error(75, "the feed is closed")
            if self._link is None:
                self._link = Link(self._address, self._start, self._take, self._queue.append)
                name = os.path.basename(sys.argv[0] or "python")[:200]
                core = ANY if self._core is None else self._core
                self._link.send(JOIN, VERSION, core, os.getpid(), name, "", self._state, 0)
            while not self._welcome:
                self._link.hear(self._timeout)
            self._compare()
            self._done = self._given = self._told = self._first = self._said = self._welcome.step
            self._often = (self._welcome.prefetch + 1) // 2  # steps between two READY
            self._link.ready(self._given, self._done)
            return self._link

    def _facts(self) -> Any:
        """What WELCOME said."""
        if not self._welcome:
            self._join()
        return self._welcome

    def _compare(self) -> None:
        """With what dsvc.feed was asked for."""
        w = self._welcome
        has = {"batch": w.rows * w.ranks or None, "loop": w.loop, "until": w.until, "seed": w.seed, "tail": w.tail,
               "rank": w.rank, "world": w.ranks, "rows": w.rows or None, "prefetch": w.prefetch,
               "results": RESULTS[w.results]}
        for name, wanted in self._same.items():
            if has[name] is not None and has[name] != wanted:
                self.fail(f"{name}={wanted} was asked for", code=64)
                raise error(64, f"{name}={wanted}, and the dsvc-feed at {self._address} has {has[name]}",
                            "leave it out: what a dsvc-feed has is said where it is started")

    def _take(self, kind: int, f: Any) -> None:
        if kind == RING:
            self._queue.append(_ring.Ring(f, self._link.fds.pop(0), self._pins))  # type: ignore[union-attr]
        elif kind == HERE:
            self._here[f[0]] = f[1]
        elif kind == END:
            self._end = f
        elif kind == WELCOME:
            self._welcome = Welcome(*f[:len(Welcome._fields)])
        elif kind == ERROR:
            self._shut()
            raise error(f[0], f[1], f[2], None if f[3] == ANY else f[3])

    # Steps

    def _warn(self, word: str, text: str) -> None:
        """Once; said of the line that asked for the next batch."""
        if word not in self._warned:
            self._warned.add(word)
            warnings.warn(text, stacklevel=5)

    def _forget(self) -> None:
        """Counts slots whose views are gone, in the order of steps; moves what is kept out of the way."""
        held = self._held
        if self._pins is not None:
            self._pins.wait([h[0] for h in held][:-1])
        while held:
            step, ring, slot = held[0]
            if getrefcount(ring.owners[slot]) != ring.alone:
                if len(held) == 1:
                    return
                ring.owners[slot].map.detach()
                ring.owners[slot] = None
                self._warn("kept", "batches are kept while others come: they are moved to memory of their own")
            held.popleft()
            self._given = step + 1

    def _over(self, hand: Any) -> None:
        """Another batch is asked for, and there is something to be done about this one."""
        dropped = self._put and RESULTS[self._facts().results] == "rows"  # the results of padding
        if hand[5] < hand[4] and not dropped and not Batch._seen and not self._ring.mask:
            self._warn("pad", f"step {hand[0]} has {hand[5]} real rows of {hand[4]}, and neither .valid nor "
                       ".mask was looked at")
        if self._pins is not None and self._held:
            _, ring, slot = self._held[-1]
            if getrefcount(ring.owners[slot]) != ring.alone:
                self._pins.begun(hand[0], ring.owners[slot])

    def _next(self) -> bool:
        """Takes the next batch into hand. False: the end of an epoch, or of all."""
        link = self._link if self._link is not None and self._welcome else self._join()
        hand = self._hand
        if hand is not None:
            self._done = hand[0] + 1
            self._value = self._batch = self._hand = None
            if hand[5] < hand[4] or self._pins is not None:
                self._over(hand)
            self._put = False
        self._forget()
        queue = self._queue
        if not self._end and (not queue or self._done - self._said >= self._often):
            self._said = self._done
            link.ready(self._given, self._done)
        while True:
            while not queue and not self._end:
                link.hear(self._timeout)
            if not queue:
                self._finish(link)
                return False
            if queue[0].__class__ is tuple:
                break
            self._ring = queue.popleft()
        epoch = queue[0][1]
        if epoch != self.epoch:
            self.epoch = epoch
            if self._told != self._first:
                return False
        self._give(queue.popleft())
        return True

    def _give(self, hand: Any) -> None:
        step, _, slot, first, rows, _, _ = hand
        ring = self._ring
        value = ring.value(ring.owners[slot] or ring.owner(slot), first, rows, self._view)
        self._told = step + 1
        self._held.append((step, ring, slot))
        self._hand = hand
        if ring.bare is None:
            value = self._batch = Batch(value)
            value._facts = hand
        if self._copy:
            value = _copied(value) if ring.bare is not None else value.copy()
            self._batch = value if ring.bare is None else None
        self._value = value

    @property
    def batch(self) -> Batch | None:
        """The batch in hand."""
        if self._batch is None and self._hand is not None:
            self._batch = Batch()
            self._batch._bare, self._batch._facts = self._value, self._hand
        return self._batch

    def _finish(self, link: Link) -> None:
        """The end has come: the last position is asked for, and the feed is told."""
        self._done = max(self._done, min(self._end[1], self._told))
        try:
            self._ask(self._done)
            link.send(BYE, self._done)
        except Error:
            if not link.gone:
                raise
        self._shut()

    def _over_with(self) -> bool:
        return bool(self._end) and self._closed

    def __iter__(self) -> Iterator[Any]:
        if __package__ + ".torch" in sys.modules:
            sys.modules[__package__ + ".torch"].refuse_callers()
        return self._batches()

    def _batches(self, loop: bool = False) -> Iterator[Any]:
        """Those of an epoch, or of a loop."""
        while not self._over_with():
            with self._lock:
                more = not (self._end and self._closed) and self._next()
                value, hand = self._value, self._hand
            if not more:
                if loop:
                    continue
                return
            yield value if self._names is None else self._columns(value)
            del value  # the memory of the step is free when the next one is asked for
            if loop and hand[6] & 1:
                if hand[6] & 4:  # so that loops() sees the end
                    with self._lock:
                        self._next()
                return

    def _columns(self, value: Any) -> tuple[Any, ...]:
        try:
            return tuple([value[name] for name in self._names or ()])
        except (LookupError, TypeError):  # KeyError, or elements that are not records
            raise error(64, f"columns={self._names!r}: the elements are {self.spec}") from None

    def epochs(self) -> Iterator[Iterator[Any]]:
        """An iterator for each epoch."""
        while not self._over_with():
            yield self._batches()

    def loops(self) -> Iterator[Iterator[Any]]:
        """An iterator for each loop of --loop."""
        while not self._over_with():
            yield self._batches(loop=True)

    # What the consumer says

    def put(self, result: Any) -> None:
        """The result of the batch in hand: one value a step, or a list or array with one a row."""
        link = self._join()
        if self._hand is None or self._put:
            raise error(64, "put() is for the batch in hand, once")
        rows = len(result) if hasattr(result, "__len__") and not isinstance(result, (str, bytes, dict)) else 0
        body = bytearray()
        pack(result, body)
        link.send(RESULT, self._hand[0], rows, bytes(body))
        self._put = True

    def stop(self, why: str = "") -> None:
        """All cores end at the same step: the furthest that any of them was told of, or the end of its loop."""
        self._join().send(STOP, why)

    def saved(self, step: int) -> None:
        """The model of that step is safe."""
        self._join().send(SAVED, step)

    def _ask(self, step: int) -> bytes:
        with self._lock:
            if self._link is not None and step not in self._here:
                self._link.send(POSITION, step)
                while step not in self._here:
                    self._link.hear(self._timeout)
            self._here = {step: self._here.get(step, b"")}
            return self._here[step]

    @property
    def step(self) -> int:
        """Steps done, that of the batch in hand included."""
        self._facts()
        return int(self._hand[0]) + 1 if self._hand is not None else self._done

    def state_dict(self) -> dict[str, Any]:
        """The position after the steps done, that of the batch in hand included. The same on all ranks."""
        brought = self._state and not self._welcome
        step = self._step0 if brought else self.step
        position = self._state if brought else self._ask(step)
        if not position:
            raise error(64, f"there is no position of step {step}",
                        "elements in order any, from stdin, or from a pipeline with `distribute` do not come again")
        return {"dsvc": 1, "step": step, "position": base64.b64encode(position).decode()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on there. Before the first batch; on any number of ranks."""
        if self._welcome:
            raise error(64, "load_state_dict() comes before the first batch")
        try:
            if state["dsvc"] != 1:
                raise ValueError
            self._step0, self._state = int(state["step"]), base64.b64decode(state["position"], validate=True)
        except (KeyError, TypeError, ValueError):
            raise error(65, "this is not a state of dsvc.feed", "state_dict() gives one") from None

    # About it

    @property
    def rank(self) -> int:
        return int(self._facts().rank)

    @property
    def world(self) -> int:
        return int(self._facts().ranks)

    @property
    def rows(self) -> int:
        """Rows of this core in a full step; 0 until the first batch where elements are batches."""
        return int(self._facts().rows)

    @property
    def spec(self) -> str:
        """The type of the elements, as far as it was known beforehand."""
        return str(self._facts().type)

    @property
    def why(self) -> str:
        """Once it is over: data, steps, stop or signal."""
        return WHY[self._end[0]] if self._end else ""

    def __len__(self) -> int:
        """Steps of a whole epoch, where that is known beforehand; else a TypeError."""
        steps = int(self._facts().each)
        if steps == ALL:
            raise TypeError("the number of steps of an epoch is not known")
        return steps

    def __bool__(self) -> bool:
        return True

    # The end

    def __reduce__(self) -> Any:
        raise error(64, "a feed cannot be sent to another process", NO_WORKERS)

    def fail(self, text: str, detail: str = "", code: int = 1) -> None:
        """Tells the others that this rank goes down, and why."""
        self._leave(FAIL, code, text[:4000], "", detail[-16000:])

    def close(self) -> None:
        """Leaves. Before the end that is a failure, unless it is the only core: see stop()."""
        if self._hand is not None:
            self._done = self._hand[0] + 1
        self._leave(BYE, self._done)

    def _leave(self, *last: Any) -> None:
        if self._link is not None and not self._link.gone:
            try:
                self._link.send(*last)
            except Error:
                pass
        self._shut()

    def _shut(self) -> None:
        self._closed = True
        self._value = self._batch = self._hand = None
        if self._pins is not None:
            self._pins.wait([h[0] for h in self._held])
        if self._link is not None:
            link, self._link = self._link, None
            link.close()

    def __del__(self) -> None:
        if getattr(self, "_link", None) is not None:
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
    feed.fail(f"{kind.__name__}: {value}", "".join(traceback.format_exception(kind, value, trace)),
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
        feed._closed = feed._forked = True
        feed._value = feed._batch = feed._hand = None
        if feed._link is not None:
            feed._link.forget()
            feed._link = None


os.register_at_fork(after_in_child=_after_fork)
_excepthook, sys.excepthook = sys.excepthook, _hook
atexit.register(_close_all)

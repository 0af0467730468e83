# SPDX-License-Identifier: MIT
"""The connection to a dsvc-feed: its messages, and the process, where it was started for us."""
from __future__ import annotations

import array
import collections
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from ._program import Program, wait
from ._wire import Lost, error, pack, unpack

JOIN, READY, POSITION, SAVED, RESULT, STOP, FAIL, BYE = range(1, 9)
WELCOME, RING, BATCH, HERE, END, ERROR = range(16, 22)
Welcome = collections.namedtuple(
    "Welcome", "version core cores rank ranks host hosts epoch prefetch slots results rows step loop until seed tail "
    "dataset type each")
VERSION, ANY, ALL = 1, 0xFFFFFFFF, (1 << 64) - 1

# READY as bytes: a list of four, its type, and three u64.
_READY = struct.Struct(">BBBQBQBQ")
_SIZE = struct.Struct("<I")
# BATCH as the feed sends it, with its length: a list of eight, its type, and seven u64.
_BATCH = struct.Struct(">6x" + 7 * "xQ")
_BATCH_HEAD = _SIZE.pack(_BATCH.size - 4) + bytes((0x98, BATCH))


class Link:
    """`take` is called with the type and the fields of each message that comes, `step` with the fields of a BATCH."""

    def __init__(self, address: str | None, start: list[str], take: Callable[[int, Any], None],
                 step: Callable[[Any], None]) -> None:
        self._take, self._step, self._rest = take, step, b""
        self._writing = threading.RLock()
        self._program: Program | None = None
        self.fds: list[int] = []  # descriptors that came along, in order
        self.gone = False  # the other side ended the connection
        if not address:
            self._sock = self._started(start)
        elif address.startswith("fd:"):
            self._sock = socket.socket(fileno=os.dup(int(address[3:])))
        else:
            self._sock = socket.socket(socket.AF_UNIX)
            try:
                self._sock.connect(address)
            except OSError as e:
                self._sock.close()
                raise error(69, f"no dsvc-feed at {address}: {e.strerror}",
                            "it listens there once --ready-file has appeared") from None
        self._soon = select.poll()
        self._soon.register(self._sock, select.POLLIN)

    def _started(self, start: list[str]) -> socket.socket:
        """Ctrl-C is for the training loop, which may want the position then: the process is in a group of its own. It
        ends with the connection."""
        mine, its = socket.socketpair()
        group: dict[str, Any] = {"process_group": 0} if sys.version_info >= (3, 11) else {"start_new_session": True}
        with its:
            try:
                self._program = Program("dsvc-feed", [*start, "--listen", f"fd:{its.fileno()}"],
                                        pass_fds=(its.fileno(),), **group)
            except BaseException:
                mine.close()
                raise
        return mine

    @property
    def pid(self) -> int | None:
        """The process that was started."""
        return self._program.process.pid if self._program else None

    def send(self, *fields: Any) -> None:
        body = bytearray()
        pack(fields, body)
        self._write(_SIZE.pack(len(body)) + body)

    def ready(self, given: int, done: int) -> None:
        """Slots given back, steps done; all further ones are wanted."""
        self._write(_SIZE.pack(_READY.size) + _READY.pack(0x94, READY, 0xCF, given, 0xCF, done, 0xCF, ALL))

    def _write(self, data: bytes) -> None:
        try:
            with self._writing:
                self._sock.sendall(data)
            return
        except OSError:
            pass
        self._lost()

    def hear(self, timeout: float | None) -> None:
        """Waits for one more message, and takes in those that came with it."""
        until = float("inf") if timeout is None else time.monotonic() + timeout
        tell = self._program.tell if self._program else None
        while not self._messages():
            if tell or timeout is not None:  # else the call that receives waits
                wait(self._soon, until, tell)
            if not self._receive():
                self._lost()

    def _receive(self) -> bool:
        try:
            data, control, _, _ = self._sock.recvmsg(1 << 16, socket.CMSG_SPACE(16 * 4))
        except ConnectionError:
            return False
        for level, kind, body in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(body[:len(body) - len(body) % fds.itemsize])
                self.fds.extend(fds)
        self._rest += data
        return bool(data)

    def _messages(self) -> bool:
        """Takes in the whole messages that are there, and an error when nothing is before it; False: none."""
        have, at = self._rest, 0
        view = memoryview(have)
        try:
            while at + 4 < len(have):
                if have.startswith(_BATCH_HEAD, at) and at + _BATCH.size <= len(have):  # nearly all are that
                    self._step(_BATCH.unpack_from(have, at))
                    at += _BATCH.size
                    continue
                end = at + 4 + _SIZE.unpack_from(have, at)[0]
                if end > len(have):
                    break
                fields, _ = unpack(view, at + 4)
                if at and fields[0] == ERROR:
                    break
                at = end
                self._take(fields.pop(0), fields)
        finally:
            self._rest = have[at:]
        return at > 0

    def _lost(self) -> None:
        """The other side has gone; what it said before tells why."""
        self.gone = True
        while self._receive():
            while self._messages():
                pass
        if self._program is not None:
            self._program.ended()
        raise Lost("the feed has gone", 75)

    def close(self) -> None:
        """Ends the connection, and waits for the process."""
        self._sock.close()
        for fd in self.fds:
            os.close(fd)
        if self._program is not None:
            if not self._program.process.wait():
                self._program.tell()
            self._program.forget()

    def forget(self) -> None:
        """In a child after fork: the connection and the process are the parent's."""
        self._sock.close()
        if self._program is not None:
            self._program.forget()

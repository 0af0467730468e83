# SPDX-License-Identifier: MIT
"""The connection to a dsvc-feed: its messages, and the process, where it was started for us."""
from __future__ import annotations

import array
import os
import socket
import struct
import subprocess
import tempfile
from typing import Any, Callable, List, Optional

from ._wire import Lost, error, pack, unpack

JOIN, READY, POSITION, SAVED, RESULT, STOP, FAIL, BYE = range(1, 9)
WELCOME, RING, BATCH, HERE, END, ERROR = range(16, 22)
VERSION, ANY, ALL = 1, 0xFFFFFFFF, (1 << 64) - 1

# READY as bytes: a list of four, its type, and three u64.
_READY = struct.Struct(">BBBQBQBQ")
_READY_SIZE = struct.pack("<I", _READY.size)


class Link:
    """`take` is called with the type and the fields of each message that comes."""

    def __init__(self, address: Optional[str], start: List[str], take: Callable[[int, List[Any]], None]) -> None:
        self._take, self._buffer = take, bytearray()
        self._child: Optional[subprocess.Popen[bytes]] = None
        self._said: Any = None  # what the process printed
        self.fds: List[int] = []  # descriptors that came along, in order
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
                raise error(69, "no dsvc-feed at %s: %s" % (address, e.strerror),
                            "it listens there once --ready-file has appeared") from None

    def _started(self, start: List[str]) -> socket.socket:
        mine, its = socket.socketpair()
        self._said = tempfile.TemporaryFile()
        with its:
            try:
                self._child = subprocess.Popen(start + ["--listen", "fd:%d" % its.fileno()], pass_fds=(its.fileno(),),
                                               stdin=subprocess.DEVNULL, stderr=self._said)
            except FileNotFoundError:
                mine.close()
                self._said.close()
                raise error(66, "there is no program dsvc-feed", "set DSVC_BIN to the folder of the programs") from None
        return mine

    def send(self, *fields: Any) -> None:
        body = bytearray()
        pack(fields, body)
        self._write(struct.pack("<I", len(body)) + body)

    def ready(self, given: int, done: int) -> None:
        """Slots given back, steps done; all further ones are wanted."""
        self._write(_READY_SIZE + _READY.pack(0x94, READY, 0xCF, given, 0xCF, done, 0xCF, ALL))

    def _write(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError:
            self._lost()

    def hear(self, timeout: Optional[float]) -> None:
        """Waits for one more message, and takes in those that came with it."""
        self._sock.settimeout(timeout)
        while not self._messages():
            try:
                if not self._receive():
                    self._lost()
            except socket.timeout:
                raise error(124, "nothing came within %g s" % (timeout or 0)) from None
            except ConnectionError:
                self._lost()

    def _receive(self) -> bool:
        data, control, _, _ = self._sock.recvmsg(1 << 18, socket.CMSG_SPACE(16 * 4))
        for level, kind, body in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(body[:len(body) - len(body) % fds.itemsize])
                self.fds.extend(fds)
        self._buffer += data
        return bool(data)

    def _messages(self) -> bool:
        """Takes in the whole messages that are there, and an error when nothing is before it; False: none."""
        have, at = bytes(self._buffer), 0
        view = memoryview(have)
        try:
            while at + 4 < len(have):
                end = at + 4 + int.from_bytes(have[at:at + 4], "little")
                if end > len(have):
                    break
                fields, _ = unpack(view[at + 4:end])
                if at and fields[0] == ERROR:
                    break
                at = end
                self._take(fields.pop(0), fields)
        finally:
            del self._buffer[:at]
        return at > 0

    def _lost(self) -> None:
        """The other side has gone; what it said before tells why."""
        self.gone = True
        try:
            while self._receive():
                while self._messages():
                    pass
        except OSError:
            pass
        if self._child is not None:
            code = self._child.wait()
            self._said.seek(0)
            text = self._said.read().decode("utf-8", "replace").strip()
            if code > 0:
                text, _, help = text.partition("\n  help: ")
                raise error(code, text[len("dsvc-feed: "):] if text.startswith("dsvc-feed: ") else text, help)
        raise Lost("the feed has gone", 75)

    def close(self) -> None:
        """Ends the connection, and waits for the process."""
        self._sock.close()
        for fd in self.fds:
            os.close(fd)
        if self._child is not None:
            self._child.wait()
            self._said.close()

    def forget(self) -> None:
        """In a child after fork: the connection and the process are the parent's."""
        self._sock.close()
        if self._child is not None:
            self._said.close()
            self._child.returncode = 0

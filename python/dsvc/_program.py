# SPDX-License-Identifier: MIT
"""The programs of dsvc: their options, how they are started, and what becomes of what they say."""
from __future__ import annotations

import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any, Union

from ._wire import Error, error

Source = Union[str, "os.PathLike[str]"]
_TELL_S = 1.0  # after so long without data, what the program has said is shown


def options(**given: Any) -> list[str]:
    """Keywords as options: wait_workers=2 is --wait-workers 2, n=2 is -n 2, True is a switch, None is left out, and a
    list is the option several times."""
    out: list[str] = []
    for name, value in given.items():
        word = "-" + name if len(name) == 1 else "--" + name.replace("_", "-")
        for v in value if isinstance(value, (list, tuple)) else [value]:
            if v is True:
                out.append(word)
            elif v is not None and v is not False:
                out += [word, str(v)]
    return out


def operands(source: Source, params: Mapping[str, Any], named: bool = True) -> list[str]:
    """A pipeline, the path of its file, or, where there are datasets (`named`), the id of one: a single word."""
    sets = options(set=[f"{k}={v}" for k, v in params.items()])
    if not isinstance(source, str):
        return [*sets, "-f", os.fspath(source)]
    id = named and not source.startswith("-") and not any(c in source for c in " \t\n|")
    return [*sets, source] if id else [*sets, "-e", source]


class Program:
    """A process that ends with its owner. What it says is shown while it runs, or is the text of its error."""

    def __init__(self, name: str, arguments: list[str], **how: Any) -> None:
        self.name, self._pid, self._told = name, os.getpid(), 0
        self._said = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen([os.path.join(os.environ.get("DSVC_BIN", ""), name), *arguments],
                                            stdin=subprocess.DEVNULL, stderr=self._said, **how)
        except OSError as e:
            self._said.close()
            raise error(66, f"{name} cannot be started: {e.strerror}",
                        "set DSVC_BIN to the folder of the programs") from None

    def _text(self, since: int) -> bytes:
        return os.pread(self._said.fileno(), 1 << 20, since)  # a seek would move the place where it writes

    def tell(self) -> None:
        """Shows what it has said since the last time."""
        text = self._text(self._told)
        self._told += len(text)
        if text:
            sys.stderr.write(text.decode("utf-8", "replace"))

    def ended(self) -> None:
        """Waits for its end. An error when that is a bad one; then what was not shown yet is in it."""
        code = self.process.wait()
        if not code:
            self.tell()
            return
        raise self.failure(code)

    def failure(self, code: int) -> Error:
        text = (self._text(self._told) or self._text(0)).decode("utf-8", "replace").strip()
        prefix = self.name + ": "
        text, _, help = (text[len(prefix):] if text.startswith(prefix) else text).partition("\n  help: ")
        if code < 0:
            return error(128 - code, f"{self.name} was killed by signal {-code}" + (text and ": " + text), help)
        return error(code, text or f"{self.name} ended with status {code}", help)

    def close(self) -> None:
        """Ends it, unless it is the process of the parent, before a fork."""
        if self._pid == os.getpid() and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.forget()

    def forget(self) -> None:
        self._said.close()
        if self.process.returncode is None:
            self.process.returncode = 0  # it is not ours to wait for


def wait(soon: select.poll, until: float, tell: Any = None) -> None:
    """Until there is something to read, at most until then by the monotonic clock. `tell` is called while there is
    nothing."""
    begun = time.monotonic()
    while not soon.poll(1000 * max(0.0, min(_TELL_S, until - time.monotonic()))):
        if tell:
            tell()
        if time.monotonic() >= until:
            raise error(124, f"nothing came within {round(until - begun, 3):g} s")

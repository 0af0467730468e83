# SPDX-License-Identifier: MIT
"""Elements as Python values: see `dsvc.run` and `dsvc.read`."""
from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from ._program import Program, Source, operands, options, wait
from ._wire import Lost, More, error, unpack

_STEP = 1 << 16  # bytes that are read at once
_BEFORE = 10     # so that the numbers of a tensor that begins a buffer lie where they may: its head has 6 bytes


class Elements(Iterator[Any]):
    """Elements of a pipeline, in the order in which its program writes them. The program runs from the first one on,
    and ends when there are no more, when the `with` block is left, when this is closed, or when nobody has it any
    more."""

    def __init__(self, name: str, arguments: list[str]) -> None:
        self._values = _values(name, arguments)

    def __iter__(self) -> Iterator[Any]:
        return self._values

    def __next__(self) -> Any:
        return next(self._values)

    def close(self) -> None:
        self._values.close()

    def __enter__(self) -> Elements:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise error(64, "elements that are being read cannot be sent to another process", "read them there")


def _values(name: str, arguments: list[str]) -> Generator[Any, None, None]:
    program = Program(name, arguments, stdout=subprocess.PIPE, bufsize=0)
    try:
        whole = yield from _unpacked(program)
        program.ended()
        if not whole:
            raise Lost("the last element is not whole", 75)
    finally:
        program.process.stdout.close()  # type: ignore[union-attr]
        program.close()


def _unpacked(program: Program) -> Generator[Any, None, bool]:
    """Values until the end; gives whether the last one was whole. Buffers are not used again: tensors may lie there."""
    pipe: Any = program.process.stdout
    rest, lack, pid = memoryview(b""), 1, os.getpid()
    soon = select.poll()
    soon.register(pipe, select.POLLIN)
    while True:
        room = memoryview(bytearray(_BEFORE + len(rest) + max(lack, len(rest), _STEP)))
        room[_BEFORE:_BEFORE + len(rest)] = rest
        at, end = _BEFORE, _BEFORE + len(rest)
        least = end + lack
        # To look at the begin of a large value again and again is slow: what comes at once is taken before.
        while end < least or (end < len(room) and len(rest) > _STEP and soon.poll(5)):
            if pid != os.getpid():
                raise error(64, "the elements belong to the process that began to read", "read them after the fork")
            wait(soon, float("inf"), program.tell)
            more = pipe.readinto(room[end:])
            if not more and end < least:
                return end == _BEFORE
            if not more:
                break
            end += more
        view = room[:end]
        try:
            while at < end:
                value, at = unpack(view, at)
                yield value
            lack = 1
        except More as e:
            lack = e.lack
        rest = view[at:]


def _elements(name: str, source: Source, params: Mapping[str, Any], given: dict[str, Any], named: bool) -> Elements:
    for word in ("to", "t"):
        if word in given:
            raise error(64, f"{word}=: elements are Python values here", f"{name} -t {given[word]} writes them")
    return Elements(name, ["-t", "msgpack", *options(**given), *operands(source, params, named)])


def run(source: Source, *, params: Mapping[str, Any] = {}, **options: Any) -> Elements:
    """The elements of a pipeline that runs here, in dsvc-run.

        for x in dsvc.run("ndjson app.ndjson | filter .ms > 500", count=10): ...

    source: a pipeline, or the path of its file (pathlib.Path). params: values for its parameters. All other keywords
    are options of dsvc-run: count=10 is --count 10, stats=True is --stats, n=2 is -n 2, a list gives an option several
    times. Records are dicts, tensors are arrays of numpy (without numpy: memoryviews). Errors are dsvc.Error."""
    return _elements("dsvc-run", source, params, options, False)


def read(source: Source, *, params: Mapping[str, Any] = {}, **options: Any) -> Elements:
    """The elements of a dataset, or of a pipeline, made by the workers of a service and read by dsvc-read.

        for x in dsvc.read("words", order="stable", job="night"): ...

    source: the name or id of a dataset (a single word), a pipeline, or the path of its file. Other keywords are options
    of dsvc-read: dispatcher="tcp://host:7000", wait_workers=2. For the rest see dsvc.run."""
    return _elements("dsvc-read", source, params, options, True)


def _output(name: str, arguments: list[str]) -> str:
    program = Program(name, arguments, stdout=subprocess.PIPE)
    try:
        with program.process.stdout as pipe:  # type: ignore[union-attr]
            text = str(pipe.read(), "utf-8", "replace")
        program.ended()
    finally:
        program.close()
    return text


def register(source: Source, *, params: Mapping[str, Any] = {}, **given: Any) -> str:
    """Registers a pipeline with the service and gives its id. Keywords are options of dsvc-register: name="words"."""
    return _output("dsvc-register", options(**given) + operands(source, params, False)).strip()


def status(**given: Any) -> dict[str, Any]:
    """What the service is doing: the record that dsvc-status --json prints. Keywords are its options."""
    told: dict[str, Any] = json.loads(_output("dsvc-status", ["--json", *options(**given)]))
    return told

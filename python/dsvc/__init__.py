# SPDX-License-Identifier: MIT
"""dsvc for Python: training loops fed in step, and datasets as Python values.

    for batch in dsvc.feed("npy tokens/*.npy | shuffle all", batch=64, local=True):
        loss = model(batch)                       # arrays in shared memory

    for x in dsvc.run("range 10 | map x*x"): ...  # a pipeline, here
    for x in dsvc.read(ID): ...                   # a dataset of the service

The programs of dsvc are found on PATH, or in the folder DSVC_BIN.
"""
from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._feed import Batch, Feed
from ._ring import Ragged, Strings
from ._wire import (Error, Lost, More, NotFound, SpecError, StructureError, Timeout, Unavailable, error, unpack)

__all__ = ["feed", "read", "run", "register", "status", "Feed", "Batch", "Ragged", "Strings", "Error", "SpecError",
           "StructureError", "NotFound", "Unavailable", "Lost", "Timeout"]
Source = Union[str, "os.PathLike[str]"]


def _program(name: str) -> str:
    folder = os.environ.get("DSVC_BIN")
    return os.path.join(folder, name) if folder else name


def _options(**given: Any) -> List[str]:
    """Keywords as options: wait_workers=2 is --wait-workers 2, True is a switch, None is left out."""
    out: List[str] = []
    for name, value in given.items():
        word = "--" + name.replace("_", "-")
        if value is True:
            out.append(word)
        elif value is not None and value is not False:
            out += [word, str(value)]
    return out


def _operands(source: Source, params: Mapping[str, Any]) -> List[str]:
    sets = [x for k, v in params.items() for x in ("-s", "%s=%s" % (k, v))]
    if not isinstance(source, str):
        return sets + ["-f", os.fspath(source)]
    whole = any(c in source for c in " \t\n|")
    return sets + (["-e", source] if whole else [source])


def _environment(*names: str) -> Optional[int]:
    return next((int(os.environ[n]) for n in names if os.environ.get(n, "").isdigit()), None)


def feed(source: Optional[Source] = None, *, batch: Optional[int] = None, element: Optional[str] = None,
         rank: Optional[int] = None, steps: Optional[int] = None, until: Optional[int] = None, loop: Optional[int] = None,
         epochs: int = 1, tail: Optional[str] = None, mask: Optional[str] = None,
         columns: Optional[Sequence[str]] = None, expect: Optional[str] = None, prefetch: Optional[int] = None,
         order: Optional[str] = None, seed: Optional[int] = None, local: bool = False,
         dispatcher: Optional[str] = None, params: Mapping[str, Any] = {}, as_torch: bool = False, copy: bool = False,
         timeout: Optional[float] = None, drop_last: bool = False) -> Feed:
    """A training loop's batches, from the dsvc-feed that DSVC_FEED names, or, with a source, from one of its own.

    source: a pipeline, the id of a dataset, or the path of a pipeline's file. batch: rows of a step. columns: yields
    tuples of these fields. local: the pipeline runs here, without a service. timeout: seconds to wait for a batch."""
    address = os.environ.get("DSVC_FEED")
    if source is None:
        given = {"batch": batch, "element": element, "steps": steps, "until": until, "loop": loop, "tail": tail,
                 "mask": mask, "expect": expect, "prefetch": prefetch, "order": order, "seed": seed}
        wrong = [k for k, v in given.items() if v is not None]
        if not address:
            raise SpecError("no source was given, and DSVC_FEED names no dsvc-feed", 64, "dsvc.feed(SPEC, batch=N)")
        if wrong:
            raise SpecError("%s= is an option of the dsvc-feed that DSVC_FEED names" % wrong[0], 64,
                            "give it to dsvc-feed: --%s" % wrong[0])
        if rank is None and not address.startswith("fd:"):
            rank = _environment("DSVC_CORE", "LOCAL_RANK", "SLURM_LOCALID")
        return Feed(address, None, rank, columns, as_torch, copy, timeout)
    start = [_program("dsvc-feed")] + _options(
        batch=batch, element=element, steps=steps, until=until, loop=loop, epochs=epochs, prefetch=prefetch, mask=mask,
        tail=tail or ("drop" if drop_last else None), expect=expect, order=order, seed=seed, local=local or None,
        dispatcher=dispatcher)
    return Feed(None, start + _operands(source, params), None, columns, as_torch, copy, timeout)


def _failure(name: str, code: int, said: str) -> Error:
    said = said.strip()
    if said.startswith(name + ": "):
        said = said[len(name) + 2:]
    text, _, help = said.partition("\n  help: ")
    return error(code, text or "%s ended with status %d" % (name, code), help)


def _values(name: str, arguments: List[str]) -> Iterator[Any]:
    with tempfile.TemporaryFile() as said:
        try:
            child = subprocess.Popen([_program(name), "-t", "msgpack"] + arguments, stdout=subprocess.PIPE, stderr=said,
                                     stdin=subprocess.DEVNULL)
        except FileNotFoundError:
            raise error(66, "there is no program %s" % name, "set DSVC_BIN to the folder of the programs") from None
        try:
            yield from _unpacked(child.stdout)
            if child.wait():
                said.seek(0)
                raise _failure(name, child.returncode, said.read().decode("utf-8", "replace"))
        finally:
            child.stdout.close()  # type: ignore[union-attr]
            if child.poll() is None:
                child.terminate()
            child.wait()


def _unpacked(pipe: Any) -> Iterator[Any]:
    rest, step = b"", 1 << 16
    while True:
        more = pipe.read1(step) if len(rest) < step else pipe.read(len(rest))
        if not more:
            if rest:
                raise Lost("the last element is not whole", 75)
            return
        view, at = memoryview(rest + more), 0
        while at < len(view):
            try:
                value, at = unpack(view, at)
            except More:
                break
            yield value
        rest = bytes(view[at:])


def run(source: Source, *, params: Mapping[str, Any] = {}, **options: Any) -> Iterator[Any]:
    """The elements of a pipeline that runs here (dsvc-run). Options are those of the program: count=10."""
    return _values("dsvc-run", _options(**options) + _operands(source, params))


def read(source: Source, *, params: Mapping[str, Any] = {}, **options: Any) -> Iterator[Any]:
    """The elements of a dataset, or of a pipeline, made by the workers of the service (dsvc-read)."""
    return _values("dsvc-read", _options(**options) + _operands(source, params))


def _output(name: str, arguments: List[str]) -> str:
    done = subprocess.run([_program(name)] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise _failure(name, done.returncode, done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode()


def register(source: Source, *, params: Mapping[str, Any] = {}, **options: Any) -> str:
    """Registers a pipeline and gives its id (dsvc-register)."""
    return _output("dsvc-register", _options(**options) + _operands(source, params)).strip()


def status(**options: Any) -> Dict[str, Any]:
    """What the service is doing (dsvc-status --json)."""
    return json.loads(_output("dsvc-status", ["--json"] + _options(**options)))

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

from ._batch import Batch
from ._feed import Feed
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
         rank: Optional[int] = None, world: Optional[int] = None, steps: Optional[int] = None, until: Optional[int] = None,
         loop: Union[int, str, None] = None, epochs: Optional[int] = None, tail: Optional[str] = None,
         pad: Optional[str] = None, mask: Optional[str] = None,
         columns: Optional[Sequence[str]] = None, expect: Optional[str] = None, prefetch: Optional[int] = None,
         order: Optional[str] = None, seed: Optional[int] = None, local: bool = False,
         dispatcher: Optional[str] = None, job: Optional[str] = None, params: Mapping[str, Any] = {},
         as_torch: bool = False, pin: bool = False, copy: bool = False, results: Optional[str] = None, timeout: Optional[float] = None,
         batch_size: Optional[int] = None, drop_last: bool = False, prefetch_factor: Optional[int] = None,
         shuffle: Optional[bool] = None) -> Feed:
    """A training loop's batches, from the dsvc-feed that DSVC_FEED names, or, with a source, from one of its own.

    source: a pipeline, the id of a dataset, or the path of a pipeline's file. batch: rows of a step. columns: yields
    tuples of these fields. rank, world: with job=, this process gets its part of each step, with the others of that job;
    where not given, those that the environment says. local: the pipeline runs here, without a service. as_torch: tensors instead of arrays;
    pin: in memory from which a GPU copies by itself. copy: batches in memory of their own. timeout: seconds to wait for
    a batch. batch_size (rows of a rank), drop_last and prefetch_factor are what a DataLoader calls them."""
    if shuffle:
        raise SpecError("shuffle=True is a part of the pipeline here", 64, "SPEC | shuffle all, or: SPEC | shuffle 10000")
    if batch_size is not None and batch is not None:
        raise SpecError("batch= are the rows of a step, batch_size= those of one rank: both were given", 64, "one of them")
    prefetch = prefetch_factor if prefetch is None else prefetch
    tail = "drop" if drop_last and tail is None else tail
    mine: Dict[str, Any] = {"columns": columns, "as_torch": as_torch, "pin": pin, "copy": copy, "timeout": timeout}
    if source is None:
        known = {"batch": batch, "loop": loop, "until": until, "tail": tail, "seed": seed, "world": world,
                 "rows": batch_size}
        other = {"element": element, "steps": steps, "epochs": epochs, "mask": mask, "expect": expect, "order": order,
                 "prefetch": prefetch, "dispatcher": dispatcher, "results": results, "local": local or None,
                 "pad": pad, "job": job}
        return _joined(rank, {k: v for k, v in known.items() if v is not None},
                       [k for k, v in other.items() if v is not None], mine)
    host = _host(rank, world, job)
    if host and batch_size is not None:
        batch = batch_size * int(host.split("/")[1])
    start = [_program("dsvc-feed")] + _options(
        host=host, batch=batch_size if batch is None else batch, element=element, steps=steps, until=until, loop=loop,
        epochs=epochs, prefetch=prefetch, mask=mask, tail=tail, pad=pad, job=job, expect=expect, order=order, seed=seed,
        local=local or None, dispatcher=dispatcher, results=results)
    return Feed(None, start + _operands(source, params), **mine)


def _host(rank: Optional[int], world: Optional[int], job: Optional[str]) -> Optional[str]:
    """Which of several hosts this process is, that feed themselves from one job; None: it is alone."""
    ranks = _environment("DSVC_RANKS", "WORLD_SIZE", "SLURM_NTASKS") if world is None else world
    if (ranks or 1) == 1 and not (job and world):
        return None
    rank = _environment("DSVC_RANK", "RANK", "SLURM_PROCID") if rank is None else rank
    if not job:
        raise SpecError("this is rank %s of %s, and a feed of its own would give each of them all rows" % (rank, ranks), 64,
                        "job=NAME, the same for all, gives each its part; or dsvc-feed -n %s ... -- python train.py, and "
                        "dsvc.feed() there; all rows for each: world=1" % ranks)
    if rank is None:
        raise SpecError("world=%s, and which rank this is was not said" % ranks, 64, "rank=0 to rank=%d" % (int(ranks or 1) - 1))
    return "%d/%d" % (rank, ranks or 1)


def _joined(core: Optional[int], same: Dict[str, Any], other: List[str], mine: Dict[str, Any]) -> Feed:
    """A feed that was started by somebody else."""
    address = os.environ.get("DSVC_FEED")
    if not address:
        raise SpecError("no source was given, and DSVC_FEED names no dsvc-feed", 64, "dsvc.feed(SPEC, batch=N)")
    if other:
        raise SpecError("%s= is an option of the dsvc-feed that DSVC_FEED names" % other[0], 64,
                        "give it to dsvc-feed: --%s" % other[0])
    if core is None and not address.startswith("fd:"):
        core = _environment("DSVC_CORE", "LOCAL_RANK", "SLURM_LOCALID")
    return Feed(address, core=core, same=same, **mine)


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
    told: Dict[str, Any] = json.loads(_output("dsvc-status", ["--json"] + _options(**options)))
    return told

# SPDX-License-Identifier: MIT
"""dsvc for Python: training loops fed in step, and datasets as Python values.

    for batch in dsvc.feed("npy tokens/*.npy | shuffle all", batch=64, local=True):
        loss = model(batch)                       # arrays in shared memory

    for x in dsvc.run("range 10 | map x*x"): ...  # a pipeline, here
    for x in dsvc.read(ID): ...                   # a dataset of the service

The programs of dsvc are found on PATH, or in the folder DSVC_BIN.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._batch import Batch
from ._feed import Feed
from ._program import Source, operands, options
from ._read import Elements, read, register, run, status
from ._ring import Ragged
from ._wire import Error, Lost, NotFound, SpecError, StructureError, Timeout, Unavailable, error

__all__ = ["feed", "read", "run", "register", "status", "Feed", "Batch", "Elements", "Ragged", "Error", "SpecError",
           "StructureError", "NotFound", "Unavailable", "Lost", "Timeout"]


# Rank and world, as dsvc-feed, torchrun and Slurm tell them to what they start.
_PLACES = ("DSVC_RANK", "DSVC_RANKS"), ("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")


def _environment(*names: str) -> int | None:
    return next((int(os.environ[n]) for n in names if os.environ.get(n, "").isdigit()), None)


def _place(rank: int | None, world: int | None) -> tuple[int | None, int | None]:
    """Rank and world: what was given, or else both from the first that says both, so that a Slurm job's number of tasks
    does not count in a process that is none of them."""
    if rank is None and world is None:
        for pair in _PLACES:
            if None not in (said := (_environment(pair[0]), _environment(pair[1]))):
                return said
        return None, _environment("DSVC_RANKS", "WORLD_SIZE")
    ranks, worlds = zip(*_PLACES)
    return _environment(*ranks) if rank is None else rank, _environment(*worlds) if world is None else world


def feed(source: Source | None = None, *, batch: int | None = None, element: str | None = None,
         rank: int | None = None, world: int | None = None, steps: int | None = None, until: int | None = None,
         loop: int | str | None = None, epochs: int | None = None, tail: str | None = None, pad: str | None = None,
         mask: str | None = None, columns: Sequence[str] | None = None, expect: str | None = None,
         prefetch: int | None = None, order: str | None = None, seed: int | None = None, local: bool = False,
         dispatcher: str | None = None, job: str | None = None, params: Mapping[str, Any] = {}, as_torch: bool = False,
         pin: bool = False, copy: bool = False, results: str | None = None, timeout: float | None = None,
         batch_size: int | None = None, drop_last: bool = False, prefetch_factor: int | None = None,
         shuffle: bool | None = None) -> Feed:
    """A training loop's batches, from the dsvc-feed that DSVC_FEED names, or, with a source, from one of its own.

    source: a pipeline, the id of a dataset, or the path of a pipeline's file. batch: rows of a step. columns: yields
    tuples of these fields. rank, world: with job=, this process gets its part of each step, with the others of that
    job; where not given, those that the environment says. local: the pipeline runs here, without a service. as_torch:
    tensors instead of arrays; pin: in memory from which a GPU copies by itself. copy: batches in memory of their own.
    timeout: seconds to wait for a batch. batch_size (rows of a rank), drop_last and prefetch_factor are what a
    DataLoader calls them."""
    if shuffle:
        raise error(64, "shuffle=True is a part of the pipeline here", "SPEC | shuffle all, or: SPEC | shuffle 10000")
    for told, text in (batch_size is not None and batch is not None,
                       "batch= are the rows of a step, batch_size= those of one rank"), \
            (prefetch_factor is not None and prefetch is not None, "prefetch_factor= is prefetch="), \
            (drop_last and tail not in (None, "drop"), f"drop_last=True is tail='drop', and not tail='{tail}'"):
        if told:
            raise error(64, text + ": both were given", "one of them")
    prefetch = prefetch_factor if prefetch is None else prefetch
    tail = "drop" if drop_last else tail
    mine: dict[str, Any] = {"columns": columns, "as_torch": as_torch, "pin": pin, "copy": copy, "timeout": timeout}
    if source is None:
        known = {"batch": batch, "loop": loop, "until": until, "tail": tail, "seed": seed, "rank": rank, "world": world,
                 "rows": batch_size, "prefetch": prefetch, "results": results}
        other = {"element": element, "steps": steps, "epochs": epochs, "mask": mask, "expect": expect, "order": order,
                 "dispatcher": dispatcher, "local": local or None, "pad": pad, "job": job, "set": params or None}
        return _joined(rank, {k: v for k, v in known.items() if v is not None},
                       [k for k, v in other.items() if v is not None], mine)
    host = _host(rank, world, job)
    if host and batch_size is not None:
        batch = batch_size * int(host.split("/")[1])
    start = options(
        host=host, batch=batch_size if batch is None else batch, element=element, steps=steps, until=until, loop=loop,
        epochs=epochs, prefetch=prefetch, mask=mask, tail=tail, pad=pad, job=job, expect=expect, order=order, seed=seed,
        local=local, dispatcher=dispatcher, results=results)
    return Feed(None, start + operands(source, params, not local), **mine)


def _host(rank: int | None, world: int | None, job: str | None) -> str | None:
    """Which of several hosts this process is, that feed themselves from one job; None: it is alone."""
    rank, ranks = _place(rank, world)
    if (ranks or 1) == 1 and not (job and world):
        return None
    if not job:
        raise error(64, f"this is rank {'?' if rank is None else rank} of {ranks}, and a feed of its own would give each of them all rows",
                    f"job=NAME, the same for all, gives each its part; or dsvc-feed -n {ranks} ... -- python train.py, "
                    "and dsvc.feed() there; all rows for each: world=1")
    if rank is None:
        raise error(64, f"world={ranks}, and which rank this is was not said", f"rank=0 to rank={int(ranks or 1) - 1}")
    return f"{rank}/{ranks or 1}"


def _joined(rank: int | None, same: dict[str, Any], other: list[str], mine: dict[str, Any]) -> Feed:
    """A feed that was started by somebody else."""
    address = os.environ.get("DSVC_FEED")
    if not address:
        raise error(64, "no source was given, and DSVC_FEED names no dsvc-feed", "dsvc.feed(SPEC, batch=N)")
    if other:
        raise error(64, f"{other[0]}= is an option of the dsvc-feed that DSVC_FEED names",
                    f"give it to dsvc-feed: --{other[0]}")
    # An inherited descriptor is one core's; at a socket, which core of this host it is follows from the rank.
    core = None
    if not address.startswith("fd:"):
        here = _environment("DSVC_CORES", "LOCAL_WORLD_SIZE", "SLURM_NTASKS_PER_NODE")
        core = _environment("DSVC_CORE", "LOCAL_RANK", "SLURM_LOCALID") if rank is None else None
        if core is None and (rank := _place(rank, None)[0]) is not None:
            core = rank % (here or rank + 1)
    return Feed(address, core=core, same=same, **mine)


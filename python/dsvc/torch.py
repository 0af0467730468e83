# SPDX-License-Identifier: MIT
"""dsvc for torch: a dataset for DataLoader and StatefulDataLoader, tensors of batches, pinned memory.

    data = dsvc.torch.FeedDataset("npy tokens/*.npy | shuffle all", batch=64, local=True)
    for batch in DataLoader(data, batch_size=None): ...

dsvc-feed makes whole batches, so the DataLoader is given batch_size=None and no workers."""
from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset, get_worker_info

from . import feed as _feed
from ._feed import NO_WORKERS, Feed
from ._ring import Column, Map
from ._wire import Error, SpecError, np

__all__ = ["FeedDataset"]


class FeedDataset(IterableDataset):  # type: ignore[type-arg]
    """The batches of a feed, one epoch for each iteration. Takes a Feed, or the arguments of dsvc.feed;
    batches are then tensors, unless as_torch=False."""

    def __init__(self, source: Any = None, **options: Any) -> None:
        options.setdefault("as_torch", True)
        self.feed = source if isinstance(source, Feed) else _feed(source, **options)

    def __iter__(self) -> Iterator[Any]:
        if get_worker_info() is not None:
            raise SpecError("a feed in a worker process of a DataLoader", 64, NO_WORKERS)
        return iter(self.feed)

    def __len__(self) -> int:
        return len(self.feed)

    def state_dict(self) -> dict[str, Any]:
        """The position after the batches given so far."""
        return self.feed.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on there. Before the first batch."""
        self.feed.load_state_dict(state)


def refuse_callers() -> None:
    """Some callers would cut or stack batches that are whole already: they are known by their frames."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__") == "accelerate.data_loader":
            raise SpecError("a feed was given to accelerator.prepare, which would split it a second time", 64,
                            "prepare the model and the optimizer, and iterate over the feed itself")
        if getattr(frame.f_locals.get("self"), "_auto_collation", False):
            raise SpecError("the DataLoader would make batches of batches", 64, "DataLoader(data, batch_size=None)")
        frame = frame.f_back  # type: ignore[assignment]


def tensor(column: Column, view: Any) -> Any:
    """A view of the ring as a tensor. Memory that may not be written is copied, for a tensor cannot say so."""
    if column.kind or np is None or not isinstance(view, np.ndarray):
        return view
    view = view if view.flags.writeable else view.copy()
    return torch.from_numpy(view.view("<i2")).view(torch.bfloat16) if column.bf16 else torch.from_numpy(view)


class Pins:
    """Slots as memory from which a GPU copies by itself. The work that was begun with a batch is awaited
    before its slot is given back, one step later than otherwise."""

    def __init__(self) -> None:
        if not torch.cuda.is_available():
            raise SpecError("pin=True, and there is no GPU", 64, "pin=torch.cuda.is_available()")
        self._begun: dict[int, Any] = {}  # step -> what ends with its work, and the slot's owner

    def map(self, m: Map) -> None:
        runtime: Any = torch.cuda.cudart()  # type: ignore[no-untyped-call]
        if int(runtime.cudaHostRegister(m.address, m.size, 0)):
            raise Error("the memory of steps cannot be pinned", 74, "ulimit -l says how much may be locked; pin=False")
        m.unpin = lambda address: runtime.cudaHostUnregister(address)

    def begun(self, step: int, owner: Any) -> None:
        event: Any = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        self._begun[step] = event, owner

    def wait(self, steps: Any) -> None:
        """Until the work with these steps is done."""
        for step in steps:
            if step in self._begun:
                self._begun.pop(step)[0].synchronize()


IterableDataset.register(Feed)  # so that DataLoader(feed, batch_size=None) iterates over it

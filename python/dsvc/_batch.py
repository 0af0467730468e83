# SPDX-License-Identifier: MIT
"""What a training loop gets of a step."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._wire import np


class Batch(dict[str, Any]):
    """The core's part of a step: a dict of arrays (nested for records). `data` is the same where elements
    are bare values."""
    _facts: Sequence[int] = (0,) * 7  # as the feed's message has them
    _bare: Any = None
    _seen = False  # whether anybody has asked for .valid or .mask, of any batch

    @property
    def step(self) -> int:
        return self._facts[0]

    @property
    def epoch(self) -> int:
        return self._facts[1]

    @property
    def rows(self) -> int:
        return self._facts[4]

    @property
    def last_of_loop(self) -> bool:
        """True for the last one of a loop. When the data end the loop, see `last`."""
        return self._facts[6] & 1 != 0

    @property
    def last(self) -> bool:
        """True for the last one of all, if that was known when it was sent: always with `steps` and `until`; when the data
        end with a full step, only by chance. The end of the `for` loop is always known."""
        return self._facts[6] & 4 != 0

    @property
    def data(self) -> Any:
        return self if self._bare is None else self._bare

    @property
    def valid(self) -> int:
        """How many rows are real; they come first."""
        Batch._seen = True
        return self._facts[5]

    @property
    def mask(self) -> Any:
        """True for each real row, False for padding."""
        return np.arange(self.rows) < self.valid if np is not None else [i < self.valid for i in range(self.rows)]

    def copy(self) -> Batch:
        """A batch in memory of its own."""
        b = Batch(_copied(dict(self)))
        b._bare, b._facts = _copied(self._bare), self._facts
        return b


def _copied(v: Any) -> Any:
    """The value in memory of its own."""
    if isinstance(v, dict):
        return {k: _copied(x) for k, x in v.items()}
    if isinstance(v, memoryview):
        flat: Any = memoryview(bytearray(v.tobytes()))
        return flat.cast(v.format, v.shape) if v.nbytes and v.ndim > 1 else flat.cast(v.format)
    own = getattr(v, "clone", None) or getattr(v, "copy", None) or getattr(v, "tolist", None)
    return own() if own else v

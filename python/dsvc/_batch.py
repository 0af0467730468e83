# SPDX-License-Identifier: MIT
"""What a training loop gets of a step."""
from __future__ import annotations

from typing import Any

from ._wire import np


class Batch(dict[str, Any]):
    """The core's part of a step: a dict of arrays (nested for records). `data` is the same where elements
    are bare values."""
    step: int
    epoch: int
    rows: int
    last_of_loop: bool
    last: bool
    _valid: int
    _seen = False  # whether anybody has asked for .valid or .mask, of any batch

    def __init__(self, data: Any) -> None:
        if isinstance(data, dict):
            super().__init__(data)
            data = None
        self._bare = data

    @property
    def data(self) -> Any:
        return self if self._bare is None else self._bare

    @property
    def valid(self) -> int:
        """How many rows are real; they come first."""
        Batch._seen = True
        return self._valid

    @property
    def mask(self) -> Any:
        """True for each real row, False for padding."""
        return np.arange(self.rows) < self.valid if np is not None else [i < self.valid for i in range(self.rows)]

    def copy(self) -> Batch:
        """A batch in memory of its own."""
        b = Batch(_copied(dict(self) if self._bare is None else self._bare))
        vars(b).update({k: v for k, v in vars(self).items() if k != "_bare"})
        return b


def _copied(v: Any) -> Any:
    if isinstance(v, dict):
        return {k: _copied(x) for k, x in v.items()}
    if isinstance(v, memoryview):
        flat: Any = memoryview(bytearray(v.tobytes()))
        return flat.cast(v.format, v.shape) if v.nbytes and v.ndim > 1 else flat.cast(v.format)
    own = getattr(v, "clone", None) or getattr(v, "copy", None) or getattr(v, "tolist", None)
    return own() if own else v

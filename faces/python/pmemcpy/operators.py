"""Arithmetic and reductions on arrays in a pool: each loads the array and gives a numpy array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Operators(NDArrayOperatorsMixin):
    """`a + 1`, `np.sqrt(a)`, `a > b`, `a.sum(axis=0)` as if `a` were a numpy array."""

    def load(self, key: Any = ..., out: Any = None) -> Any:
        raise NotImplementedError

    def store(self, key: Any, data: Any, codec: str | None = None) -> None:
        raise NotImplementedError

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if method == "at" or (ufunc.nout != 1 and any(isinstance(one, Operators) for one in out or ())):
            return NotImplemented  # it would change a copy
        options = {name: _loaded(option) for name, option in options.items()}
        into = out[0] if out is not None and isinstance(out[0], Operators) else None
        if into is None and out is not None:
            options["out"] = out
        result = getattr(ufunc, method)(*map(_loaded, inputs), **options)
        if into is None:
            return result
        into.store(..., result)  # a += 1
        return into

    def sum(self, *axis: Any, **options: Any) -> Any:
        """This and the following are numpy's, with its arguments, on a loaded copy."""
        return self.load().sum(*axis, **options)

    def mean(self, *axis: Any, **options: Any) -> Any:
        return self.load().mean(*axis, **options)

    def std(self, *axis: Any, **options: Any) -> Any:
        return self.load().std(*axis, **options)

    def var(self, *axis: Any, **options: Any) -> Any:
        return self.load().var(*axis, **options)

    def min(self, *axis: Any, **options: Any) -> Any:
        return self.load().min(*axis, **options)

    def max(self, *axis: Any, **options: Any) -> Any:
        return self.load().max(*axis, **options)

    def all(self, *axis: Any, **options: Any) -> Any:
        return self.load().all(*axis, **options)

    def any(self, *axis: Any, **options: Any) -> Any:
        return self.load().any(*axis, **options)


def _loaded(one: Any) -> Any:
    return one.load() if isinstance(one, Operators) else one

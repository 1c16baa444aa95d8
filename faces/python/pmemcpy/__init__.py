"""pMEMCPY: scientific arrays in memory that outlives the program.

>>> import numpy as np, pmemcpy
>>> with pmemcpy.open("run.pmem", "a") as pool:
...     pool["u"] = np.zeros((100, 100))
...     pool["u"][10:20, ::2] = 1.0
...     pool["u"].attrs["units"] = "m/s"
"""

from . import namespaces as namespaces
from ._core import version as __version__
from .arrays import Array
from .attributes import Attributes
from .blocks import Block
from .errors import (
    AlreadyExistsError,
    BusyError,
    CorruptError,
    Error,
    InvalidArgumentError,
    IoError,
    NoSpaceError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    PoolExistsError,
    PoolNotFoundError,
    TypeMismatchError,
    UnsupportedError,
)
from .extract import Extractor
from .groups import Group, Value
from .pool import Pool, open, repair
from .query import Found
from .tiers import Ahead, Read, rebuild
from .watch import Watch

__all__ = [
    "Ahead",
    "AlreadyExistsError",
    "Array",
    "Attributes",
    "Block",
    "BusyError",
    "CorruptError",
    "Error",
    "Extractor",
    "Found",
    "Group",
    "InvalidArgumentError",
    "IoError",
    "NoSpaceError",
    "NotFoundError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "Pool",
    "PoolExistsError",
    "PoolNotFoundError",
    "Read",
    "TypeMismatchError",
    "UnsupportedError",
    "Value",
    "Watch",
    "__version__",
    "open",
    "rebuild",
    "repair",
]

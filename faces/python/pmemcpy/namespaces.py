"""Pools that users of one machine share: a namespace is a directory of pools, and others are let into it.

>>> import pmemcpy
>>> pmemcpy.namespaces.create("climate")
>>> with pmemcpy.open("climate:", "a") as pool:        # its shared pool; "climate:x" is another one of it
...     pool["u"] = [1.0, 2.0]
>>> pmemcpy.namespaces.grant("climate", user="li")     # to read
[]
>>> [(space.name, space.owner) for space in pmemcpy.namespaces.catalogue()]
[('climate', 'wu')]

Namespaces lie in `root`, or in the directory that PMEMCPY_ROOT in the environment names. The operating system alone
enforces who may do what.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from . import _core

Path = str | os.PathLike[str]

__all__ = [
    "Grant",
    "Namespace",
    "SharedPool",
    "catalogue",
    "create",
    "drop",
    "grant",
    "info",
    "resolve",
    "revoke",
    "set_quota",
]


@dataclass(frozen=True)
class Grant:
    """A right of a user or, if `is_group`, a group; `permission` is "read" or "write"."""

    name: str
    is_group: bool
    permission: str


@dataclass(frozen=True)
class SharedPool:
    """A pool in a namespace: "x" for x.pmem, which may grow to `max_bytes`."""

    name: str
    path: str
    owner: str
    max_bytes: int


@dataclass(frozen=True)
class Namespace:
    """The catalogue entry of a namespace. `access` is "read", "write" or None: then pools and quota are unknown.

    `quota_bytes` (0: none) limits the size that its pools may grow to together, and `used_bytes` is that size now.
    Advisory: the library checks it when it makes a pool, the operating system does not.
    """

    name: str
    path: str
    owner: str
    access: str | None
    grants: tuple[Grant, ...]
    pools: tuple[SharedPool, ...]
    quota_bytes: int
    used_bytes: int


def create(name: str, *, root: Path = "") -> None:
    """Makes an empty namespace that only its owner may use, until grants let others in.

    Errors: InvalidArgumentError (a name that is reserved or has other characters than allowed), AlreadyExistsError,
        NotFoundError (no root), PermissionDeniedError.
    """
    _core.create_namespace(name, os.fspath(root))


def drop(name: str, *, with_pools: bool = False, root: Path = "") -> None:
    """Removes a namespace; one with pools only if `with_pools`. A process that has a pool open keeps it until it closes
    it.

    Errors: NotFoundError, BusyError (it has pools, or another process makes or drops it), PermissionDeniedError.
    """
    _core.drop_namespace(name, with_pools, os.fspath(root))


def catalogue(*, root: Path = "") -> list[Namespace]:
    """All namespaces, sorted by name. Those that this user cannot look into are listed too, with their owner.

    Errors: NotFoundError (no root), PermissionDeniedError.
    """
    return [_told(space) for space in _core.namespaces(os.fspath(root))]


def info(name: str, *, root: Path = "") -> Namespace:
    """One namespace. Errors: NotFoundError, CorruptError."""
    return _told(_core.namespace_info(name, os.fspath(root)))


def grant(
    name: str, *, user: str | None = None, group: str | None = None, write: bool = False, root: Path = ""
) -> list[str]:
    """Lets a user or a group into all pools of a namespace, present and future: to read, or with `write` to change.

    Returns the files of other users: they stay as they are, and their owners have to call this too.
    Errors: NotFoundError (no such namespace, user or group), PermissionDeniedError, InvalidArgumentError,
        UnsupportedError.
    """
    return _core.grant(name, *_whom(user, group), write, os.fspath(root))


def revoke(name: str, *, user: str | None = None, group: str | None = None, root: Path = "") -> list[str]:
    """Takes a grant back. A process that has a pool open keeps it until it closes it.

    Returns the files of other users: they stay as they are, behind the closed directory.
    Errors: those of grant(); NotFoundError for a user or group without a grant.
    """
    return _core.revoke(name, *_whom(user, group), os.fspath(root))


def set_quota(name: str, limit_bytes: int, *, root: Path = "") -> None:
    """Sets the size that the pools of a namespace may grow to, together; 0: no limit. Advisory: see Namespace.

    Errors: NotFoundError, PermissionDeniedError.
    """
    _core.set_quota(name, limit_bytes, os.fspath(root))


def resolve(path: str, *, root: Path = "") -> str:
    """The path of the pool that open() calls "NAME:" or "NAME:x"; other paths come back unchanged.

    Errors: NotFoundError, PermissionDeniedError, InvalidArgumentError.
    """
    return _core.resolve_pool(path, os.fspath(root))


def _whom(user: str | None, group: str | None) -> tuple[str, bool]:
    if user is not None and group is None:
        return user, False
    if group is not None and user is None:
        return group, True
    raise TypeError("name one of user= and group=")


def _told(space: _core.Namespace) -> Namespace:
    return Namespace(
        space.name,
        space.path,
        space.owner,
        space.access,
        tuple(Grant(it.name, it.is_group, it.permission) for it in space.grants),
        tuple(SharedPool(it.name, it.path, it.owner, it.max_bytes) for it in space.pools),
        space.quota_bytes,
        space.used_bytes,
    )

"""The errors as exceptions: one class for each code of the C++ library, each also the exception that a Python
programmer expects there. Source of the codes: include/pmemcpy/error.hpp.
"""

from __future__ import annotations

from errno import EACCES, EBADMSG, EEXIST, EIO, ENOENT, ENOSPC

from . import _core


class Error(Exception):
    """Any error of pMEMCPY. The message says what was asked, what was found, and what to do."""

    code: str = ""

    def __str__(self) -> str:  # a KeyError would print its message quoted
        return str(self.args[0]) if self.args else ""


class NotFoundError(Error, KeyError):
    """No such id, step, attribute or element."""

    code = "not_found"


class AlreadyExistsError(Error, ValueError):
    """The id belongs to something of another type or shape."""

    code = "already_exists"


class InvalidArgumentError(Error, ValueError):
    """The call itself makes no sense."""

    code = "invalid_argument"


class OutOfRangeError(Error, IndexError):
    """A box or an index lies outside the array."""

    code = "out_of_range"


class TypeMismatchError(Error, TypeError):
    """Stored as one type, requested as another."""

    code = "type_mismatch"


class NoSpaceError(Error, OSError):
    """The pool, its file system or its memory cgroup is full."""

    code = "no_space"
    errno = ENOSPC


class CorruptError(Error, OSError):
    """Bytes on the medium do not say what they must."""

    code = "corrupt"
    errno = EBADMSG


class IoError(Error, OSError):
    """The kernel or the device failed."""

    code = "io_error"
    errno = EIO


class BusyError(Error, RuntimeError):
    """Another use of the pool forbids this now."""

    code = "busy"


class UnsupportedError(Error, NotImplementedError):
    """This build, medium or file system cannot do it."""

    code = "unsupported"


class PermissionDeniedError(Error, PermissionError):
    """The operating system or the pool's mode forbids it."""

    code = "permission_denied"
    errno = EACCES


class PoolNotFoundError(NotFoundError, FileNotFoundError):
    """There is no pool at this path."""

    errno = ENOENT


class PoolExistsError(AlreadyExistsError, FileExistsError):
    """There is something at this path already."""

    errno = EEXIST


_core.set_error_classes(
    {
        kind.code: kind
        for kind in (
            NotFoundError,
            AlreadyExistsError,
            InvalidArgumentError,
            OutOfRangeError,
            TypeMismatchError,
            NoSpaceError,
            CorruptError,
            IoError,
            BusyError,
            UnsupportedError,
            PermissionDeniedError,
        )
    }
)

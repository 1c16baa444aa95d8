"""Every task comes to the same by every package. What the pages in docs/coming-from show is what runs here.

`by` is one of the modules by_*.py: a function for each task, prepare() for those that begin with u and v stored, held()
for what is there under a name, and SWITCH, the call in replace() before which nothing has happened.
"""

from collections.abc import Callable
from types import ModuleType

import numpy as np
from fields import rounded, u, v


def test_store(by: ModuleType) -> None:
    by.store()
    np.testing.assert_array_equal(by.held("u"), u)


def test_read_a_part(by: ModuleType) -> None:
    by.prepare()
    np.testing.assert_array_equal(by.read_a_part(), u[10:20, ::2])


def test_write_a_part(by: ModuleType) -> None:
    by.prepare()
    by.write_a_part()
    expected = u.copy()
    expected[10:20, ::2] = 0
    np.testing.assert_array_equal(by.held("u"), expected)


def test_append(by: ModuleType) -> None:
    by.prepare()
    by.append()
    np.testing.assert_array_equal(by.held("series"), u[:20])


def test_attributes(by: ModuleType) -> None:
    by.prepare()
    found = by.attributes()
    assert set(found) == {"units", "origin"}
    assert found["units"] == "m/s"
    np.testing.assert_array_equal(found["origin"], [52.5, 13.4])


def test_groups(by: ModuleType) -> None:
    by.prepare()
    assert by.groups() == ["east", "north"]
    np.testing.assert_array_equal(by.held("fields/wind/east"), u)
    np.testing.assert_array_equal(by.held("fields/wind/north"), v)


def test_compress(by: ModuleType) -> None:
    by.prepare()
    packed, size_bytes = by.compress()
    np.testing.assert_array_equal(packed, rounded)
    assert size_bytes < rounded.nbytes / 4


def test_several_processes_write(by: ModuleType) -> None:
    expected = np.repeat(np.arange(4.0), 1000).reshape(4, 1000)
    np.testing.assert_array_equal(by.several_processes_write(), expected)


def test_follow_what_another_process_writes(by: ModuleType) -> None:
    np.testing.assert_array_equal(by.follow(), np.full(100, 19.0))


def test_replace_all_or_nothing(by: ModuleType, killed_at: Callable[..., None]) -> None:
    by.prepare()
    killed_at(*by.SWITCH, by.replace)
    np.testing.assert_array_equal(by.held("u"), u)
    np.testing.assert_array_equal(by.held("v"), v)
    by.replace()
    np.testing.assert_array_equal(by.held("u"), u + 1)
    np.testing.assert_array_equal(by.held("v"), v + 1)

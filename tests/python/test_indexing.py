"""What stands in brackets means what it means in numpy: random arrays, random indices, both compared."""

from typing import Any

import numpy as np
import pmemcpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

SHAPES = npst.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6)
settings.register_profile("pools", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
settings.load_profile("pools")

NUMPY_2 = pytest.mark.skipif(np.__version__.startswith("1."), reason="NumPy 1 warns, and takes what is left")


def filled(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float64).reshape(shape)


def stored(pool: pmemcpy.Pool, array: np.ndarray[Any, Any], order: str) -> pmemcpy.Array:
    if "a" in pool:
        del pool["a"]
    made = pool.create("a", array.shape, array.dtype, order=order)
    made[...] = array
    return made


def same(ours: Any, numpys: Any) -> None:
    assert type(ours) is type(numpys)
    np.testing.assert_array_equal(ours, numpys)
    assert np.shape(ours) == np.shape(numpys)


@given(data=st.data(), shape=SHAPES, order=st.sampled_from("CF"))
def test_loads_what_numpy_gives(lasting: pmemcpy.Pool, data: st.DataObject, shape: tuple[int, ...], order: str) -> None:
    array = filled(shape)
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True))
    same(stored(lasting, array, order)[key], array[key])


@given(data=st.data(), shape=npst.array_shapes(max_dims=3, max_side=5))
def test_loads_by_arrays_of_indices_what_numpy_gives(
    lasting: pmemcpy.Pool, data: st.DataObject, shape: tuple[int, ...]
) -> None:
    array = filled(shape)
    key = data.draw(
        st.one_of(
            npst.integer_array_indices(shape),
            npst.arrays(bool, shape),
            st.tuples(st.slices(shape[0]), *(npst.integer_array_indices((n,)).map(lambda k: k[0]) for n in shape[1:2])),
        )
    )
    same(stored(lasting, array, "C")[key], array[key])


@given(data=st.data(), shape=SHAPES, order=st.sampled_from("CF"))
def test_stores_where_numpy_does(
    lasting: pmemcpy.Pool, data: st.DataObject, shape: tuple[int, ...], order: str
) -> None:
    array = filled(shape)
    made = stored(lasting, array, order)
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True))
    part = np.shape(array[key])
    # What is stored may be as large, or be broadcast.
    new = -1 - filled(data.draw(st.sampled_from([part, part[1:], (), tuple(1 for _ in part)])))
    made[key] = new
    array[key] = new
    same(made[...], array)


@given(data=st.data(), shape=npst.array_shapes(max_dims=3, max_side=6))
def test_views_what_numpy_gives(lasting: pmemcpy.Pool, data: st.DataObject, shape: tuple[int, ...]) -> None:
    array = filled(shape)
    made = stored(lasting, array, "C")
    key = data.draw(npst.basic_indices(shape, allow_newaxis=True))
    view = made.view(key)
    np.testing.assert_array_equal(view, array[key])
    assert view.shape == np.shape(array[key])
    assert not view.flags.writeable


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (3, IndexError),
        (-4, IndexError),
        ((0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (1.0, IndexError),
        ("x", IndexError),
        (True, IndexError),
        ([0, 5], IndexError),
        (np.ones(2, bool), IndexError),
        (np.array([0.5]), IndexError),
        (slice(0, 3, 0), ValueError),
    ],
)
def test_refuses_what_numpy_refuses(lasting: pmemcpy.Pool, key: Any, kind: type[Exception]) -> None:
    array = stored(lasting, filled((3, 4)), "C")
    with pytest.raises(kind):
        array[key]
    with pytest.raises((kind, pmemcpy.UnsupportedError)):
        array[key] = 0


def test_loads_into_what_is_given(lasting: pmemcpy.Pool) -> None:
    array = stored(lasting, filled((4, 6)), "C")
    out = np.empty((4, 6))
    assert array.load(..., out) is out
    np.testing.assert_array_equal(out, filled((4, 6)))
    narrow = np.empty((4, 3), np.float32)  # cast on the way
    array.load(np.s_[:, ::2], narrow)
    np.testing.assert_array_equal(narrow, filled((4, 6))[:, ::2])
    with pytest.raises(ValueError, match="shape"):
        array.load(..., np.empty(5))
    with pytest.raises(TypeError):
        array.load(..., np.empty((4, 6), np.int32))


def test_is_an_array_to_numpy(lasting: pmemcpy.Pool) -> None:
    array = stored(lasting, filled((3, 4)), "C")
    np.testing.assert_array_equal(np.asarray(array), filled((3, 4)))
    np.testing.assert_array_equal(np.asarray(array, np.int32), filled((3, 4)))
    assert np.sum(array) == 66
    assert len(array) == 3
    assert [row[0] for row in array] == [0, 4, 8]
    assert array.size == 12
    assert array.nbytes == 96


@pytest.mark.parametrize(
    ("dtype", "data", "kind"),
    [
        ("i4", 1.5, TypeError),
        ("i4", np.array([1.5, 2.5]), TypeError),
        ("f8", np.array([1j, 2j]), TypeError),
        pytest.param("u1", 300, OverflowError, marks=NUMPY_2),
        pytest.param("u1", -1, OverflowError, marks=NUMPY_2),
        ("f8", np.zeros(3), ValueError),
        ("f8", "text", (TypeError, ValueError)),
        ("f8", None, TypeError),
        ("U2", "grüße an alle", TypeError),
        ("U4", 1.5, TypeError),
    ],
)
def test_refuses_data_that_would_lose_something(
    lasting: pmemcpy.Pool, dtype: str, data: Any, kind: type[Exception]
) -> None:
    array = stored(lasting, np.zeros(2, dtype), "C")
    before = array[...]
    with pytest.raises(kind):
        array[...] = data
    np.testing.assert_array_equal(array[...], before)


def test_casts_within_a_kind(lasting: pmemcpy.Pool) -> None:
    array = stored(lasting, np.zeros(3, "f4"), "C")
    array[...] = np.array([1.5, 2.5, 3.5])
    array[0] = 7
    array[1] = True
    np.testing.assert_array_equal(array[...], np.array([7, 1, 3.5], "f4"))

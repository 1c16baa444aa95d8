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


@given(data=st.data(), shape=npst.array_shapes(max_dims=3, max_side=6), order=st.sampled_from("CF"))
def test_stores_by_arrays_of_indices_where_numpy_does(
    lasting: pmemcpy.Pool, data: st.DataObject, shape: tuple[int, ...], order: str
) -> None:
    array = filled(shape)
    made = stored(lasting, array, order)
    key = data.draw(
        st.one_of(
            npst.integer_array_indices(shape),
            npst.arrays(bool, shape),
            st.tuples(st.slices(shape[0]), *(npst.integer_array_indices((n,)).map(lambda k: k[0]) for n in shape[1:2])),
            st.lists(st.integers(-shape[0], shape[0] - 1), max_size=4),
        )
    )
    part = np.shape(array[key])
    new = -1 - filled(data.draw(st.sampled_from([part, part[1:], (), tuple(1 for _ in part)])))
    made[key] = new
    array[key] = new
    same(made[...], array)


def test_a_store_by_indices_touches_nothing_else(lasting: pmemcpy.Pool) -> None:
    """It was refused: load the box around, change it, and store it, it said; which undoes what others store."""
    array = stored(lasting, filled((10, 4)), "C")
    before = array.info.blocks
    array[[1, 5, 9]] = 0.0  # one box, evenly spaced
    assert array.info.blocks == before + 1
    array[[0, 1, 7], 1:3] = 1.0
    assert [block.key[0] for block in array.blocks()][-2:] == [slice(0, 2, 1), slice(7, 8, 1)]
    series = lasting.create("s", (8, 2))
    series[[1, 2, 7]] = 5.0  # where most of the box around was never stored
    assert [*series[1:3].tolist(), series[7].tolist()] == [[5.0, 5.0]] * 3
    vectors = lasting.create("v", 6, np.dtype(("f8", (2,))), fill_value=(0, 0))
    vectors[[4, 0]] = [[1, 2], [3, 4]]
    assert vectors[...].tolist() == [[3, 4], [0, 0], [0, 0], [0, 0], [1, 2], [0, 0]]
    many = lasting.create("m", (40, 60), "i4", fill_value=0)
    key = np.random.default_rng(1).random(many.shape) < 0.5
    many[key] = 1  # too many boxes: it is the one around
    assert many.info.blocks == 1
    np.testing.assert_array_equal(many[...], key)
    hole = lasting.create("h", (40, 60), "i4")
    hole[np.tile([True, False], (40, 30))] = 2  # which cannot be loaded
    assert hole[:, ::2].tolist() == [[2] * 30] * 40
    with pytest.raises(ValueError, match="broadcast"):
        array[[0, 1]] = np.zeros(3)
    for name in "svmh":
        del lasting[name]


def test_counts_like_an_array_of_numpy(lasting: pmemcpy.Pool) -> None:
    numpys = filled((3, 4))
    array = stored(lasting, numpys, "C")
    for found, expected in (
        (array + 1, numpys + 1),
        (2 / (array + array + 1), 2 / (2 * numpys + 1)),
        (np.ones(4) - array, 1 - numpys),
        (-(array**2), -(numpys**2)),
        (array > 5, numpys > 5),
        (array == numpys, numpys == numpys),
        (np.sqrt(array), np.sqrt(numpys)),
        (np.add.reduce(array, axis=1), numpys.sum(axis=1)),
        (array.sum(), numpys.sum()),
        (array.mean(axis=0), numpys.mean(axis=0)),
        (np.std(array, axis=1, keepdims=True), numpys.std(axis=1, keepdims=True)),
        (array.var(ddof=1), numpys.var(ddof=1)),
        (np.max(array, 1), numpys.max(1)),
        (array.min(), numpys.min()),
        (np.add(array, 1, out=np.empty((3, 4))), numpys + 1),
        (np.add(1, numpys, where=array > 5, out=numpys.copy()), numpys + (numpys > 5)),
    ):
        np.testing.assert_allclose(found, expected)
        assert not isinstance(found, pmemcpy.Array)
    assert array.any() and not array.all()
    array += 1
    assert isinstance(array, pmemcpy.Array)
    lasting["a"] *= 2
    np.testing.assert_array_equal(lasting["a"].value, 2 * (numpys + 1))
    with pytest.raises(TypeError):
        np.add.at(array, 0, 1)  # which would change a copy
    with pytest.raises(TypeError):
        array += 1j


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
    with pytest.raises(kind):
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


def test_far_elements_are_gathered_and_what_lies_between_is_not_loaded(pool: pmemcpy.Pool) -> None:
    n = 4_000_000
    far = pool.create("far", n)
    far[0] = 1
    far[n - 1] = 2
    assert far[[0, n - 1]].tolist() == [1, 2]
    assert far[[-1, 0, -1]].tolist() == [2, 1, 2]
    with pytest.raises(pmemcpy.NotFoundError):
        far[[0, 1]]


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_indices_far_apart_are_numpys(pool: pmemcpy.Pool, order: str) -> None:
    data = np.arange(3 * 500 * 400, dtype="i4").reshape(3, 500, 400)
    pool["a"] = np.asarray(data, order=order)
    array = pool["a"]
    draw = np.random.default_rng(1)
    rows, columns = draw.integers(0, 500, 6), draw.integers(-400, 400, 6)
    mask = np.zeros((500, 400), bool)
    mask[rows, columns] = True
    for key in (
        (slice(None), [0, 499], 3),
        (1, [0, 499]),
        (0, [499, 0, 499], slice(None, None, 100)),
        (2, rows, columns),
        (slice(None, None, 2), rows[:, None], columns),
        (1, mask),
        ([2, 0], 7),
        (np.array([[0, 2], [2, 0]]), 499, slice(-1, None)),
        (Ellipsis, [0, 399]),
        (None, 1, [0, 499], None, 5),
    ):
        np.testing.assert_array_equal(array[key], data[key])
        assert array[key].shape == data[key].shape


# The length became the number that stands for none, or more than can be counted; and of 2**64 the error was about C++.
@pytest.mark.parametrize("at", [2**64 - 2, 2**64 - 1, 2**64, 2**70])
@pytest.mark.parametrize("dtype", ["i1", "f8"])
def test_an_array_grows_to_less_than_two_to_the_64_bytes(pool: pmemcpy.Pool, at: int, dtype: str) -> None:
    grows = pool.create("grows", (None,), dtype)
    rows = pool.create("rows", (None, 3), dtype)
    with pytest.raises(pmemcpy.OutOfRangeError):
        grows[at] = 1
    with pytest.raises(pmemcpy.OutOfRangeError):
        rows[at] = [1, 2, 3]
    assert grows.shape == (0,) and rows.shape == (0, 3)
    grows.append([1])
    assert grows[0] == 1

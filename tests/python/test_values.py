"""Values and attributes: what Python has comes back as it was or as its nearest, the rest is refused."""

import datetime as dt
import math
from typing import Any

import numpy as np
import pmemcpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.binary(),
)
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text("aé\n")
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text("ab"), inner)),
    max_leaves=10,
)


def same(found: Any, stored: Any) -> bool:
    if isinstance(stored, float) and math.isnan(stored):
        return isinstance(found, float) and math.isnan(found)
    return type(found) is type(stored) and found == stored


@given(value=SCALARS)
def test_what_python_has_comes_back_as_it_was(lasting: pmemcpy.Pool, value: Any) -> None:
    lasting["v"] = value
    assert same(lasting.load("v"), value)
    assert same(lasting["v"][()], value)
    lasting["v"].attrs["a"] = value
    assert same(lasting["v"].attrs["a"], value)


@given(value=st.dictionaries(st.text("abc"), JSON))
def test_structures_come_back_as_they_were(lasting: pmemcpy.Pool, value: dict[str, Any]) -> None:
    lasting["cfg"] = value
    assert lasting.load("cfg") == value
    lasting["cfg"].attrs["same"] = value
    assert lasting["cfg"].attrs["same"] == value


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, None),
        (["a", "b"], ["a", "b"]),
        ([[1], [2, 3]], [[1], [2, 3]]),
        (("a", None), ["a", None]),
        ({"x": np.float32(0.5), "y": [np.int64(1)]}, {"x": 0.5, "y": [1]}),
        (np.float32(1.5), np.float32(1.5)),
        (np.uint64(2**64 - 1), np.uint64(2**64 - 1)),
        (2**64 - 1, np.uint64(2**64 - 1)),
        (np.datetime64("2026-01-02", "D"), np.datetime64("2026-01-02", "D")),
        (dt.date(2026, 1, 2), np.datetime64("2026-01-02", "D")),
        (dt.datetime(2026, 1, 2, 3, 4, 5, 6), np.datetime64("2026-01-02T03:04:05.000006", "us")),
        (
            dt.datetime(2026, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            np.datetime64("2026-01-02T01:00:00.000000", "us"),
        ),
        (np.str_("grüße"), "grüße"),
        (bytearray(b"\0\1"), b"\0\1"),
        (dt.timedelta(seconds=1), np.timedelta64(1_000_000, "us")),
        (np.timedelta64(3, "h"), np.timedelta64(3, "h")),
    ],
)
def test_other_values_come_back_as_their_nearest(pool: pmemcpy.Pool, value: Any, found: Any) -> None:
    pool["v"] = value
    loaded = pool.load("v")
    assert type(loaded) is type(found)
    assert loaded == found


@pytest.mark.parametrize("numbers", [[1, 2, 3], (0.5, 1.5), [[1, 2], [3, 4]], range(4)])
def test_lists_of_numbers_are_arrays(pool: pmemcpy.Pool, numbers: Any) -> None:
    pool["v"] = list(numbers)
    assert isinstance(pool["v"], pmemcpy.Array)
    np.testing.assert_array_equal(pool["v"][...], np.asarray(numbers))
    pool["v"].attrs["a"] = np.asarray(numbers)
    np.testing.assert_array_equal(pool["v"].attrs["a"], np.asarray(numbers))


# NumPy has True as 1 beside numbers, and rounds whole numbers beside fractions; a query then found what nobody
# had stored.
@pytest.mark.parametrize(
    "mixed",
    [[9007199254740993, False, False], [True, 2.5], [2**53 + 1, 0.5], [2**63, -1], [[True, 2], [3, 4]], [1, "a"]],
)
def test_lists_that_an_array_would_change_stay_as_they_are(pool: pmemcpy.Pool, mixed: Any) -> None:
    pool["v"] = mixed
    pool["v"].attrs["a"] = mixed
    for found in pool.load("v"), pool["v"].attrs["a"]:
        assert found == mixed
        assert list(map(type, found)) == list(map(type, mixed))


def test_lists_of_whole_numbers_and_fractions_are_arrays_of_fractions(pool: pmemcpy.Pool) -> None:
    pool["v"] = [1, 2.5]
    np.testing.assert_array_equal(pool["v"][...], [1.0, 2.5])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (2**64, ValueError),
        ({"x": math.nan}, ValueError),
        ({"x": object()}, TypeError),
        ({1, 2}, TypeError),
        (object(), TypeError),
        (lambda: None, TypeError),
    ],
)
def test_what_cannot_be_kept_is_refused(lasting: pmemcpy.Pool, value: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        lasting["refused"] = value
    assert "refused" not in lasting


def test_a_value_gives_its_parts(pool: pmemcpy.Pool) -> None:
    pool["cfg"] = {"dt": 0.1, "names": ["u", "v"]}
    assert pool["cfg"]["dt"] == 0.1
    assert pool["cfg"]["names"][1] == "v"
    with pytest.raises(KeyError):
        pool["cfg"]["nothing"]
    pool["n"] = 3
    assert int(pool["n"]) == 3
    assert float(pool["n"]) == 3.0
    assert str(pool["n"]) == "3"
    assert pool["n"]
    assert np.asarray(pool["n"]) == 3
    assert pool["n"].raw == (3).to_bytes(8, "little")


def test_a_newer_value_takes_the_place_of_an_older(pool: pmemcpy.Pool) -> None:
    for value in (1, "text" * 1000, {"a": 1}, 2.5):
        pool["v"] = value
        assert pool.load("v") == value


def test_attributes_are_a_mapping(pool: pmemcpy.Pool) -> None:
    pool["g/u"] = np.zeros(3)
    for attrs in (pool["g/u"].attrs, pool["g"].attrs, pool.attrs):
        attrs["units"] = "m/s"
        attrs.update(valid_range=[0.0, 1.0], count=3)
        assert set(attrs) == {"units", "valid_range", "count"}
        assert len(attrs) == 3
        assert attrs["units"] == "m/s"
        assert attrs["valid_range"].tolist() == [0.0, 1.0]
        assert attrs.get("nothing", 7) == 7
        del attrs["count"]
        assert "count" not in attrs
        with pytest.raises(KeyError, match="count"):
            del attrs["count"]
    attrs = pool["g/u"].attrs
    attrs.update({"of a dict": 1, "units": "K"}, more=[1, 2])
    attrs.update([("of pairs", {"a": 1})])
    attrs.update()
    assert (attrs["of a dict"], attrs["units"], attrs["of pairs"]) == (1, "K", {"a": 1})
    with pytest.raises(pmemcpy.InvalidArgumentError):
        attrs.update({"good": 1, "": 2})
    assert "good" not in attrs
    del pool["g/u"]
    with pytest.raises(KeyError):
        pool["g"]["u"]


# Of what had no elements only that was kept: an array of three columns came back as one row of none.
@pytest.mark.parametrize("shape", [(0,), (0, 3), (0, 3, 2)])
@pytest.mark.parametrize("dtype", ["?", "i2", ">f8", "c8", "S3", "U3", "M8[s]", "m8[ms]", [("a", "f4"), ("b", "S2")]])
def test_attributes_without_elements_keep_type_and_shape(
    pool: pmemcpy.Pool, shape: tuple[int, ...], dtype: Any
) -> None:
    pool["v"] = 1
    empty = np.zeros(shape, dtype)
    pool["v"].attrs["empty"] = empty
    found = pool["v"].attrs["empty"]
    assert found.shape == shape
    assert found.dtype == empty.dtype or (found.dtype.kind, empty.dtype.kind) == ("U", "U")


@pytest.mark.parametrize("shape", [(3, 0), (0, 0), (0, 2, 0)])
@pytest.mark.parametrize("dtype", ["f8", "U3"])
def test_attributes_without_elements_of_which_no_type_has_the_shape_are_refused(
    pool: pmemcpy.Pool, shape: tuple[int, ...], dtype: str
) -> None:
    pool["v"] = 1
    with pytest.raises(pmemcpy.UnsupportedError, match="only the first extent may be 0"):
        pool["v"].attrs["empty"] = np.zeros(shape, dtype)
    assert "empty" not in pool["v"].attrs
    pool["empty"] = np.zeros(shape)
    assert pool["empty"].shape == shape

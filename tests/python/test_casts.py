"""What is stored is what was given: nothing is cut off, wraps, or loses its mask; what would is refused with a way."""

import datetime as dt
from typing import Any

import numpy as np
import pmemcpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

ml_dtypes = pytest.importorskip("ml_dtypes")
NUMPY_2 = pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 1 has no such type")


@pytest.mark.parametrize(
    ("short", "longer"),
    [
        (["a"], ["much longer"]),
        (["a"], ["aaa\u00e9"]),  # whose last character was cut in two: then the array could not be read
        ([b"ab"], [b"abcdef"]),
    ],
)
def test_longer_text_over_shorter_is_refused_whole(pool: pmemcpy.Pool, short: list[Any], longer: list[Any]) -> None:
    """An assignment to the name cut it silently; one to the elements was a TypeError already."""
    pool["t"] = np.array(short)
    for store in (lambda: pool.store("t", np.array(longer)), lambda: pool["t"].store(..., np.array(longer))):
        with pytest.raises(TypeError, match=r"nothing is cut off.*delete"):
            store()
        assert pool["t"][...].tolist() == short
    del pool["t"]
    pool["t"] = np.array(longer)
    pool["t"] = np.array(short)
    assert pool["t"][...].tolist() == short
    pool["wide"] = np.array(short, "S20" if isinstance(short[0], bytes) else "U20")
    pool["wide"] = np.array(longer)
    assert pool["wide"][...].tolist() == longer


@given(data=st.data())
def test_whole_numbers_come_back_or_are_refused(lasting: pmemcpy.Pool, data: st.DataObject) -> None:
    """70000 became 4464 in an array of int16, as in numpy."""
    types = st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u4"])
    source, target = np.dtype(data.draw(types)), np.dtype(data.draw(types))
    limits = np.iinfo(source)
    edges = [0, 1, 127, 128, 255, 256, 32767, 32768, 65536, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
    numbers = st.sampled_from([n for edge in edges for n in (edge, -edge - 1) if limits.min <= n <= limits.max])
    given = np.array(data.draw(st.lists(numbers, min_size=1, max_size=3)), source)
    array = lasting.create("n", len(given), target)
    array[...] = 1
    try:
        array[...] = given
    except (TypeError, OverflowError):
        assert array[...].tolist() == [1] * len(given)
        kept = np.iinfo(target)
        assert source.kind == "i" != target.kind or any(not kept.min <= int(n) <= kept.max for n in given)
    else:
        assert array[...].tolist() == given.tolist()
    del lasting["n"]


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("i2", [70000]),
        ("i2", np.array([1, -40000])),
        ("M8[D]", np.array(["2026-01-01T12"], "M8[h]")),
        ("m8[h]", np.array([61], "m8[m]")),
        (ml_dtypes.int4, np.array([7, 8], "i1")),
    ],
)
def test_what_would_be_another_value_is_refused(lasting: pmemcpy.Pool, dtype: Any, data: Any) -> None:
    array = lasting.create("v", len(data), dtype, fill_value=0 if dtype != "M8[D]" else None)
    with pytest.raises(OverflowError, match="another value"):
        array[...] = data
    del lasting["v"]


@pytest.mark.parametrize(
    ("dtype", "data"),
    [
        ("f4", np.array([0.1, 1e10])),
        ("M8[s]", np.array(["2026-01-01", "NaT"], "M8[D]")),
        ("m8[m]", np.array([60, -120], "m8[s]")),
        ("f4", np.array([16777217])),
        (ml_dtypes.float8_e4m3fn, np.array([0.5, 3.1])),
        (ml_dtypes.int4, np.array([7, -8])),
    ],
)
def test_casts_that_numpy_makes_within_a_kind_are_made(lasting: pmemcpy.Pool, dtype: Any, data: Any) -> None:
    array = lasting.create("v", len(data), dtype)
    array[...] = data
    np.testing.assert_array_equal(array[...], data.astype(dtype))
    del lasting["v"]


def test_fields_of_structures_are_matched_by_their_names(pool: pmemcpy.Pool) -> None:
    """numpy matches them by their places: mass and age changed sides."""
    person = np.dtype([("mass", "f8"), ("age", "f8"), ("name", "U4"), ("at", [("x", "i2"), ("y", "i4")])])
    other = np.dtype([("at", [("y", "i8"), ("x", "i2")]), ("name", "U2"), ("age", "f4"), ("mass", "f8")])
    pool["p"] = np.zeros(2, person)
    pool["p"] = np.array([((4, 3), "ab", 2, 1), ((8, 7), "c", 6, 5)], other)
    assert pool["p"][...].tolist() == [(1, 2, "ab", (3, 4)), (5, 6, "c", (7, 8))]
    pool["p"][0] = (9, 8, "x", (7, 6))
    assert pool["p"][0].tolist() == (9, 8, "x", (7, 6))
    for wrong, kind in (
        (np.zeros(2, [("mass", "f8")]), TypeError),
        (np.zeros(2), TypeError),
        (np.array([((1 << 40, 7), "ab", 2, 1)] * 2, [*other.descr]), OverflowError),
        (
            np.array([((4, 3), "ab" * 20, 2, 1)] * 2, [("at", other["at"]), ("name", "U40"), *other.descr[2:]]),
            TypeError,
        ),
    ):
        with pytest.raises(kind):
            pool["p"] = wrong
    assert pool["p"][0].tolist() == (9, 8, "x", (7, 6))


def test_masked_arrays_have_the_fill_value_of_netcdf(pool: pmemcpy.Pool) -> None:
    """They could not be stored, nor could those of which nothing is masked: netCDF4 gives both when it reads."""
    pool["no mask"] = np.ma.array([1.0, 2.0])
    pool["nothing masked"] = np.ma.array([1.0, 2.0], mask=[0, 0])
    for name in ("no mask", "nothing masked"):
        assert pool[name][...].tolist() == [1, 2]
        assert len(pool[name].attrs) == 0
    pool["one masked"] = np.ma.array([1.0, 2.0], mask=[0, 1])
    fill = pool["one masked"].attrs["_FillValue"]
    assert pool["one masked"][...].tolist() == [1, fill] and fill == 9.969209968386869e36
    pool["own"] = np.ma.array([1, 2], "i2", mask=[1, 0], fill_value=-9)
    assert pool["own"][...].tolist() == [-9, 2]
    assert pool["own"].attrs["_FillValue"] == np.int16(-9)
    pool["own"] = np.ma.array([3, 4], mask=[0, 1])
    pool["own"][0] = np.ma.masked
    assert pool["own"][...].tolist() == [-9, -9]
    pool.create("filled", 3, "f4", fill_value=7)[:2] = np.ma.array([1, 2], "f4", mask=[1, 0])
    assert pool["filled"][...].tolist() == [7, 2, 7]
    pool["no mask"] = np.ma.array([1.0, 2.0], mask=[1, 0])  # all of it: it gets the attribute
    assert pool["no mask"].attrs["_FillValue"] == fill == pool["no mask"][0]
    with pytest.raises(ValueError, match="filled"):
        pool["nothing masked"][0] = np.ma.masked
    with pytest.raises(ValueError, match="filled"):
        pool["flags"] = np.ma.array([True, False], mask=[0, 1])
    assert "flags" not in pool
    assert pool["nothing masked"][...].tolist() == [1, 2]


def test_spans_of_time_come_back(pool: pmemcpy.Pool) -> None:
    for unit in ("ns", "25s", "D", "Y"):
        spans = np.array([1, -2, "NaT"], f"m8[{unit}]")
        pool[unit] = spans
        assert pool[unit].dtype == spans.dtype
        np.testing.assert_array_equal(pool[unit][...], spans)
        np.testing.assert_array_equal(pool[unit].view(), spans)
        pool[unit].attrs["first"] = spans[0]
        assert pool[unit].attrs["first"] == spans[0]
    pool["one"] = dt.timedelta(hours=1)
    assert pool["one"].value == np.timedelta64(3600, "s")


def test_text_that_numpy_has_as_objects_is_text(pool: pmemcpy.Pool) -> None:
    pool["t"] = np.array(["x", "grüße"], object)
    assert pool["t"][...].tolist() == ["x", "grüße"]
    pool["t"][0] = np.array("y", object)
    assert pool["t"][0] == "y"
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match=r"1 of 2 texts are missing.*tolist"):
            pool["no"] = np.array(["x", missing], object)
    with pytest.raises(pmemcpy.UnsupportedError, match="objects"):
        pool["no"] = np.array(["x", 1], object)
    pool["l"] = np.array(["x", None], object).tolist()
    assert pool["l"].value == ["x", None]


@NUMPY_2
def test_text_of_variable_length_is_text(pool: pmemcpy.Pool) -> None:
    pool["t"] = np.array(["x", "grüße"], np.dtypes.StringDType())
    assert pool["t"][...].tolist() == ["x", "grüße"]
    pool["e"] = np.array([], np.dtypes.StringDType())
    assert pool["e"].dtype.kind == "U"
    with pytest.raises(ValueError, match="1 of 2 texts are missing"):
        pool["no"] = np.array(["x", None], np.dtypes.StringDType(na_object=None))

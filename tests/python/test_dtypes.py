"""Every dtype that can be stored comes back as it was, bit for bit; every other one says what to do instead."""

from typing import Any

import numpy as np
import pmemcpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


def is_odd(dtype: np.dtype[Any]) -> bool:
    """Has titles, or a name that is too long or has a NUL: refused, which is tested by itself."""
    fields = (dtype.fields or {}).items()
    return any(
        len(field) > 2 or "\0" in name or len(name.encode()) > 255 or is_odd(field[0].base) for name, field in fields
    )


SIMPLE = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.unsigned_integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    npst.complex_number_dtypes(endianness="?", sizes=(64, 128)),
    npst.datetime64_dtypes(endianness="?"),
    npst.byte_string_dtypes(min_len=1),
)
STRUCTURED = npst.nested_dtypes(
    npst.array_dtypes(st.one_of(npst.integer_dtypes(), npst.floating_dtypes(sizes=(32, 64))), max_size=4),
    max_leaves=6,
).filter(lambda dtype: dtype.names is not None and dtype.itemsize > 0 and not is_odd(dtype))


@given(data=st.data(), dtype=st.one_of(SIMPLE, STRUCTURED))
def test_arrays_come_back_as_they_were(lasting: pmemcpy.Pool, data: st.DataObject, dtype: np.dtype[Any]) -> None:
    raw = data.draw(st.binary(min_size=3 * dtype.itemsize, max_size=3 * dtype.itemsize))
    if dtype.kind == "b":
        raw = bytes(byte & 1 for byte in raw)
    array = np.frombuffer(raw, dtype).reshape(3)
    if "a" in lasting:
        del lasting["a"]
    lasting["a"] = array
    loaded = lasting["a"][...]
    assert loaded.dtype == dtype
    assert loaded.tobytes() == raw
    assert lasting["a"].view().tobytes() == raw


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8), min_size=1))
def test_text_comes_back_as_it_was(lasting: pmemcpy.Pool, texts: list[str]) -> None:
    array = np.array(texts)
    if "t" in lasting:
        del lasting["t"]
    lasting["t"] = array
    np.testing.assert_array_equal(lasting["t"][...], array)
    assert lasting["t"].dtype.kind == "U"


def test_text_of_a_size_that_was_asked_for(pool: pmemcpy.Pool) -> None:
    names = pool.create("names", 3, "U5")
    names[:2] = ["ab", "grüße"]
    names[2] = "x"
    assert names[...].tolist() == ["ab", "grüße", "x"]
    assert names[1] == "grüße"


def test_enumerations_are_their_integers(pool: pmemcpy.Pool) -> None:
    colour = np.dtype("u1", metadata={"enum": {"red": 1, "blue": 2}})
    pool.create("c", 3, colour)[...] = np.array([1, 2, 1], "u1")
    found = pool["c"]
    assert found[...].tolist() == [1, 2, 1]
    assert found.dtype.metadata == {"enum": {"red": 1, "blue": 2}}


def test_alignment_and_gaps_of_structures_are_kept(pool: pmemcpy.Pool) -> None:
    particle = np.dtype([("mass", "f8"), ("kind", "u1"), ("at", "f4", (3,))], align=True)
    array = np.zeros(4, particle)
    array["at"][2] = [1, 2, 3]
    array["mass"] = 5
    pool["p"] = array
    assert pool["p"].dtype == particle
    np.testing.assert_array_equal(pool["p"][...], array)
    np.testing.assert_array_equal(pool["p"].view()["at"][2], [1, 2, 3])
    assert pool["p"][2]["mass"] == 5


def test_text_in_structures_is_text(pool: pmemcpy.Pool) -> None:
    """An array of these was refused, half made; as a value its UTF-32 went for UTF-8."""
    person = np.dtype([("name", "U5"), ("age", "i4"), ("codes", "U2", (2,)), ("raw", "S3"), ("deep", [("t", "U1")])])
    array = np.array([("grüße", 7, ["ab", "ö"], b"xyz", ("日",)), ("", -1, ["", "z"], b"", ("",))], person)
    pool["people"] = array
    pool["one"] = array[0]
    pool.attrs["all"] = array
    for back in (pool["people"][...], pool.attrs["all"]):
        assert back.dtype.names == person.names
        assert all((back[name] == array[name]).all() for name in person.names)
    assert all(np.all(pool["one"].value[name] == array[0][name]) for name in person.names)
    assert pool["people"][1]["codes"].tolist() == ["", "z"]
    pool["people"][0] = array[1]
    assert all((pool["people"][...][name] == array[1][name]).all() for name in person.names)
    assert pool.find("value.name = 'grüße'").ids == ["one"]
    with pytest.raises(TypeError):
        pool["people"][...] = np.zeros(2, [("x", "i4")])


def test_elements_that_are_arrays_are_further_dimensions(pool: pmemcpy.Pool) -> None:
    vectors = pool.create("v", (4, 5), np.dtype(("f8", (3,))))
    assert vectors.shape == (4, 5, 3)
    vectors[1, :] = np.arange(15.0).reshape(5, 3)
    np.testing.assert_array_equal(vectors[1, 2], [6, 7, 8])
    np.testing.assert_array_equal(vectors.view(1)[4], [12, 13, 14])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,) * 32])
def test_shapes_at_the_edges(pool: pmemcpy.Pool, shape: tuple[int, ...]) -> None:
    array = np.full(shape, 2.5)
    pool["a"] = array
    assert pool["a"].shape == shape
    np.testing.assert_array_equal(pool["a"][...], array)
    assert pool["a"][...].shape == shape


@pytest.mark.parametrize(
    ("array", "advice"),
    [
        (np.array(["a", 1], object), "astype"),
        (np.array([1], np.longdouble), "float64"),
        (np.array(["NaT"], "M8"), "unit"),
        (np.zeros(2, [(("title", "name"), "i4")]), "titles"),
        (np.zeros(2, [("a\0b", "i4")]), "NUL"),
    ],
)
def test_what_cannot_be_stored_says_what_can(lasting: pmemcpy.Pool, array: np.ndarray[Any, Any], advice: str) -> None:
    with pytest.raises((pmemcpy.UnsupportedError, pmemcpy.InvalidArgumentError), match=advice):
        lasting["no"] = array
    assert "no" not in lasting


@pytest.mark.skipif(np.__version__.startswith("1."), reason="NumPy 1 has no such arrays")
def test_more_dimensions_than_a_pool_has(lasting: pmemcpy.Pool) -> None:
    with pytest.raises(pmemcpy.InvalidArgumentError, match="32"):
        lasting["no"] = np.zeros((1,) * 33)
    assert "no" not in lasting

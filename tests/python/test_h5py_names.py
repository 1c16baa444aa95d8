"""Who comes from h5py finds its verbs, with the arguments that mean something in a pool."""

from typing import Any

import numpy as np
import pmemcpy
import pytest


def test_create_dataset_does_what_h5pys_does(pool: pmemcpy.Pool) -> None:
    zeros = pool.create_dataset("zeros", (2, 3))
    assert zeros.dtype == np.float32
    assert zeros[...].tolist() == [[0.0] * 3] * 2
    made = pool.create_dataset("g/u", data=[[1, 2], [3, 4]], dtype="f8")
    assert made.dtype == np.float64
    assert made[1].tolist() == [3, 4]
    assert pool.create_dataset("flat", (2, 2), data=range(4))[1].tolist() == [2, 3]
    assert pool.create_dataset("filled", 3, "i2", fillvalue=-1)[...].tolist() == [-1] * 3
    assert pool.create_dataset("number", data=5)[()] == 5
    assert pool.create_dataset("text", data="abc").value == "abc"
    with pytest.raises(ValueError, match="already"):
        pool.create_dataset("zeros", (2, 3))
    with pytest.raises(TypeError, match="shape"):
        pool.create_dataset("nothing")


def test_datasets_grow_along_their_first_dimension(pool: pmemcpy.Pool) -> None:
    series = pool.create_dataset("series", (0, 3), "f8", maxshape=(None, 3), chunks=True)
    for i in range(3):
        series.resize(len(series) + 1, axis=0)
        series[-1] = i
    assert series[...].tolist() == [[0.0] * 3, [1.0] * 3, [2.0] * 3]
    series.resize((5, 3))
    assert series.shape == (5, 3)
    assert series[3:].tolist() == [[0.0] * 3] * 2
    series.resize((5, 3))
    assert pool.create_dataset("begun", (2, 2), maxshape=(None, 2)).shape == (2, 2)
    for size in ((4, 3), (5, 4), 5):
        with pytest.raises(pmemcpy.UnsupportedError, match="first dimension"):
            series.resize(size)
    with pytest.raises(pmemcpy.UnsupportedError, match="first dimension"):
        pool.create("fixed", 3, fill_value=0).resize(4)
    with pytest.raises(ValueError, match="append"):
        pool.create("bare", (None,)).resize(4)
    with pytest.raises(pmemcpy.UnsupportedError, match="first dimension"):
        pool.create_dataset("wide", (2, 2), maxshape=(None, None))


@pytest.mark.parametrize(
    ("arguments", "codec"),
    [
        ({"compression": "gzip"}, "zlib:5:noshuffle"),
        ({"compression": "gzip", "compression_opts": 4, "shuffle": True}, "zlib:4:shuffle"),
        ({"compression": 9}, "zlib:9:noshuffle"),
        ({"compression": "zstd:5:shuffle"}, "zstd:5:shuffle"),
        ({"compression": "lz4"}, "lz4:5:noshuffle"),
        ({"shuffle": True}, "none"),
    ],
)
def test_compression_is_said_as_in_h5py(pool: pmemcpy.Pool, arguments: dict[str, Any], codec: str) -> None:
    made = pool.create_dataset("u", data=np.arange(1000), chunks=(300,), **arguments)
    assert made.info.codec == codec
    assert made.info.blocks == 4
    assert made.sum() == 499500


def test_what_a_pool_does_not_have_is_refused(pool: pmemcpy.Pool) -> None:
    for arguments, word in (
        ({"fletcher32": True}, "fletcher32"),
        ({"scaleoffset": 3}, "scaleoffset"),
        ({"compression": "szip"}, "szip"),
        ({"chunks": (2, 2)}, "chunks"),
    ):
        with pytest.raises((TypeError, ValueError), match=word):
            pool.create_dataset("no", data=np.zeros(4), **arguments)  # type: ignore[arg-type]
        assert "no" not in pool
    pool.create_dataset("yes", data=np.zeros(4), fletcher32=False, track_times=None)


def test_require_finds_or_makes(pool: pmemcpy.Pool) -> None:
    assert pool.require_group("g").name == "g"
    assert pool.require_group("g").name == "g"
    made = pool.require_dataset("g/u", (2,), "f8", fillvalue=3)
    assert made[...].tolist() == [3, 3]
    assert pool.require_dataset("g/u", 2, "f4").dtype == np.float64
    for shape, dtype, exact in ((3, "f8", False), (2, "f4", True), (2, "c16", False)):
        with pytest.raises(TypeError, match="g/u"):
            pool.require_dataset("g/u", shape, dtype, exact)
    pool["n"] = 1
    with pytest.raises(TypeError, match="n is there"):
        pool.require_dataset("n", 1, int)


def test_everything_stored_has_a_value(pool: pmemcpy.Pool) -> None:
    """A list of numbers is an array, a list of text a value: only the one had a `.value`."""
    pool["numbers"] = [1, 2]
    pool["texts"] = ["a"]
    assert pool["numbers"].value.tolist() == [1, 2]
    assert pool["texts"].value == ["a"]

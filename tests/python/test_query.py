"""What pool.find gives; what the language means is tested beside it, in src/index."""

import numpy as np
import pmemcpy
import pytest


@pytest.fixture
def filled(pool: pmemcpy.Pool) -> pmemcpy.Pool:
    pool["ocean/TEMP"] = np.arange(60.0).reshape(6, 10)
    pool["ocean/TEMP"].attrs["units"] = "K"
    pool["ocean/SALT"] = np.ones((6, 10), "f4")
    pool["ocean/SALT"].attrs.update({"units": "psu", "run": {"author": "li", "dt": 0.5}})
    pool["answer"] = 42
    pool["answer"].attrs["levels"] = [1, 2, 3]
    return pool


def names(found: pmemcpy.Found) -> list[str]:
    return [one.name for one in found]


def test_gives_handles_that_load(filled: pmemcpy.Pool) -> None:
    temp, answer = filled.find("max > 41")
    assert (temp.name, answer.name) == ("answer", "ocean/TEMP") or (temp.name, answer.name) == ("ocean/TEMP", "answer")
    (temp,) = filled.find('units = "K"')
    np.testing.assert_array_equal(temp[...], np.arange(60.0).reshape(6, 10))
    (group,) = filled.find("kind = 'group'")
    assert isinstance(group, pmemcpy.Group) and "SALT" in group
    assert filled.find("run.author = 'li' and run.dt < 1").ids == ["ocean/SALT"]
    assert names(filled.find()) == ["answer", "ocean", "ocean/SALT", "ocean/TEMP"]
    assert names(filled.find("order by name desc limit 2")) == ["ocean/TEMP", "ocean/SALT"]


def test_of_a_group_is_what_is_in_it(filled: pmemcpy.Pool) -> None:
    filled["atmosphere/TEMP"] = np.zeros(3)
    filled["atmosphere/TEMP"].attrs["units"] = "K"
    ocean = filled["ocean"]
    assert names(ocean.find("units = 'K' or answer = 1")) == ["ocean/TEMP"]
    assert ocean.count("kind = 'array'") == 2
    assert names(filled.find("units = 'K'")) == ["atmosphere/TEMP", "ocean/TEMP"]


def test_gives_boxes_that_index(filled: pmemcpy.Pool) -> None:
    ((array, boxes),) = filled.find("value > 55").boxes()
    assert boxes == [(slice(5, 6), slice(6, 10))]
    assert array[boxes[0]].tolist() == [[56, 57, 58, 59]]


def test_counts(filled: pmemcpy.Pool) -> None:
    assert filled.count() == 4
    assert filled.count("kind = 'array'") == 2
    assert filled.count("count by units") == {"K": 1, "psu": 1, None: 2}
    assert filled.count("kind = 'array' count by shape") == {(6, 10): 2}
    assert filled.count("count by levels") == {1: 1, 2: 1, 3: 1, None: 3}
    (day,) = filled.count("name = 'answer' count by changed")
    assert abs(day - np.datetime64("now")) < np.timedelta64(1, "h")
    with pytest.raises(pmemcpy.InvalidArgumentError, match="ask count"):
        filled.find("count")


def test_says_at_once_what_is_wrong(filled: pmemcpy.Pool) -> None:
    with pytest.raises(pmemcpy.InvalidArgumentError, match=r"column 9.*in quotes"):
        filled.find("units = K")
    with pytest.raises(ValueError, match="column 4"):
        filled.find("a >")
    with pytest.raises(TypeError, match="bytes is a number"):
        filled.find("@bytes > 'x'")
    with pytest.raises(pmemcpy.TypeMismatchError, match="unlike things"):
        list(filled.find("units > 3"))
    with pytest.raises(pmemcpy.UnsupportedError), filled.step(1):
        pass
        filled.at(1).find()


def test_to_pandas_is_a_row_for_each(filled: pmemcpy.Pool) -> None:
    table = filled.find("not kind = 'group'").to_pandas()
    assert list(table.index) == ["answer", "ocean/SALT", "ocean/TEMP"]
    assert table.loc["ocean/TEMP", "attrs.units"] == "K"
    assert table.loc["answer", "attrs.levels"] == [1, 2, 3]
    assert table.loc["ocean/SALT", "shape"] == (6, 10)
    assert table.loc["ocean/SALT", "dtype"] == "float32"
    assert list(table["size_bytes"]) == [8, 240, 480]
    assert str(table["changed"].dtype) == "datetime64[ns]"
    assert len(filled.find("nothing = 1").to_pandas()) == 0


def test_to_xarray_is_a_dataset(filled: pmemcpy.Pool) -> None:
    for name in ("TEMP", "SALT"):
        filled[f"ocean/{name}"].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    dataset = filled.find("under 'ocean'").to_xarray()
    assert set(dataset.variables) == {"ocean/TEMP", "ocean/SALT"}
    assert dataset["ocean/TEMP"].dims == ("y", "x")
    assert dataset["ocean/TEMP"].attrs["units"] == "K"
    assert float(dataset["ocean/TEMP"].mean()) == 29.5
    dataset.close()
    assert "answer" in filled, "the pool is still open"
    filled["other"] = np.zeros((2, 2))
    filled["other"].attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    with pytest.raises(ValueError, match="conflicting sizes"):
        filled.find().to_xarray()


def test_asks_anew_each_time(filled: pmemcpy.Pool) -> None:
    found = filled.find("units = 'K'")
    assert len(list(found)) == 1
    filled["more"] = 1
    filled["more"].attrs["units"] = "K"
    assert len(list(found)) == 2
    assert repr(found).splitlines()[0] == "<pmemcpy find \"units = 'K'\">"
    assert len(repr(found).splitlines()) == 3


def test_ends_when_the_pool_is_closed(path: str) -> None:
    pool = pmemcpy.open(path, "x")
    pool["a"], pool["b"] = 1, 2
    found = iter(pool.find())
    next(found)
    pool.close()
    with pytest.raises(pmemcpy.Error):
        next(found)


def test_an_index_finds_the_same(filled: pmemcpy.Pool) -> None:
    assert filled.index.mode == "none"
    wanted = filled.find("units = 'K' or levels = 2").ids
    filled.set_index("async")
    filled.flush_index()
    assert filled.index.mode == "async" and filled.index.is_complete and filled.index.objects == 4
    found = filled.find("units = 'K' or levels = 2")
    assert found.ids == wanted and "found by the index: 2" in found.explain()
    filled["answer"].attrs["levels"] = [7]
    assert found.ids == ["ocean/TEMP"]
    del filled["ocean/TEMP"]
    assert found.ids == []
    with pytest.raises(pmemcpy.InvalidArgumentError, match="often"):
        filled.set_index("often")


def test_who_created_it_is_known(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 24, program="solver", ranks=4) as pool:
        pool["g/a"] = [1.0, 5.0]
        creation = pool["g/a"].creation
        assert (creation.program, creation.ranks) == ("solver", 4)
        assert pool["g"].creation.host == creation.host != ""
        assert np.datetime64("now") - creation.created_ns < np.timedelta64(1, "h")
        assert pool.find("creator.program = 'solver' and mean = 3").ids == ["g/a"]
        assert pool.find("mean = 3").to_pandas().loc["g/a", "program"] == "solver"
    with pmemcpy.open(path, "a") as pool:
        pool["b"] = 1
        assert pool["b"].creation.program not in ("", "solver")


def test_a_group_may_be_left_out_of_the_index(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 24) as pool:
        pool["scratch/a"] = 1
        with pytest.raises(pmemcpy.InvalidArgumentError, match="choose a mode"):
            pool.set_index_mode("scratch", "none")
        pool.set_index("sync")
        pool.set_index_mode("scratch", "none")
        pool.flush_index()
        assert pool["scratch"].index_mode("a") == "none"
        assert "looked at: 2" in pool.find("value = 1").explain()
        assert pool.find("value = 1").ids == ["scratch/a"]
        pool.set_index_mode("scratch", None)
        assert pool.index_mode("scratch") == "sync"


def test_a_new_pool_may_have_an_index(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 24, index="sync") as pool:
        pool["a"] = 1
        pool.flush_index()
        assert pool.index.objects == 1
        assert "pmemcpy:index" not in pool.attrs
        with pytest.raises(pmemcpy.InvalidArgumentError, match="the library's own"):
            pool.attrs["pmemcpy:index"] = "x"

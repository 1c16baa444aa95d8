"""Datasets of xarray go into a pool and come out identical: lazily, and without a copy where that can be."""

from typing import Any

import numpy as np
import pmemcpy
import pytest

xr = pytest.importorskip("xarray")
dask_array = pytest.importorskip("dask.array")
from pmemcpy.xarray import PoolBackend  # noqa: E402


def opened(path: str, **options: Any) -> Any:
    return xr.open_dataset(path, engine=PoolBackend, **options)


@pytest.fixture
def dataset() -> Any:
    time = np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[ns]")
    return xr.Dataset(
        {
            "u": (("time", "lat", "lon"), np.random.default_rng(1).random((3, 4, 5)), {"units": "m/s"}),
            "flag": (("lat",), np.array([True, False, True, False])),
            "name": (("lat",), np.array(["ab", "c", "grüße", ""])),
            "count": ((), 7),
            "half": (("lon",), np.arange(5, dtype="f4"), {"valid_range": np.array([0.0, 5.0])}),
        },
        coords={
            "time": time,
            "lat": ("lat", np.linspace(-10, 10, 4), {"standard_name": "latitude"}),
            "lon": np.arange(5),
            "area": (("lat", "lon"), np.ones((4, 5))),
        },
        attrs={"title": "a test", "version": 3},
    )


def test_a_dataset_comes_back_identical(path: str, dataset: Any) -> None:
    dataset.pmemcpy.to_pool(path)
    with opened(path) as found:
        xr.testing.assert_identical(found.load(), dataset)
        assert set(found.coords) == {"time", "lat", "lon", "area"}


def test_a_group_is_a_dataset_and_a_pool_a_tree(path: str, dataset: Any) -> None:
    with pmemcpy.open(path, "a") as pool:
        dataset.pmemcpy.to_pool(pool, "runs/1")
        dataset.isel(time=0, drop=True).pmemcpy.to_pool(pool, "runs/2")
    with opened(path, group="runs/1") as found:
        xr.testing.assert_identical(found.load(), dataset)
    tree = xr.open_datatree(path, engine=PoolBackend)
    xr.testing.assert_identical(tree["runs/2"].to_dataset().load(), dataset.isel(time=0, drop=True))
    tree.close()


def test_values_are_read_when_they_are_asked_for_and_where_they_lie(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["u"] = np.arange(12.0).reshape(3, 4)
        pool["n"] = 5
        with opened(path) as found:
            assert found["u"].dims == ("phony_dim_0", "phony_dim_1")
            assert found["n"].item() == 5
            pool["u"][0, 0] = -1  # after it was opened, before it is read
            assert found["u"][0, 0].item() == -1
            pool["u"] = np.ones((3, 4))
        with opened(path, in_place=True) as found:
            part = found["u"].isel(phony_dim_0=slice(None, None, 2)).values
            assert not part.flags.owndata
            assert not part.flags.writeable
            pool["u"] = np.zeros((3, 4))
            assert part.tolist() == [[1.0] * 4] * 2


def test_indexing_is_xarrays(path: str, dataset: Any) -> None:
    dataset.pmemcpy.to_pool(path)
    with opened(path) as found:
        for key in (
            {"lat": 2},
            {"lat": [0, 3], "lon": [4, 0, 1]},
            {"time": slice(None, None, -1)},
            {"lat": xr.DataArray([0, 1], dims="p"), "lon": xr.DataArray([2, 3], dims="p")},
        ):
            xr.testing.assert_identical(found["u"].isel(key).load(), dataset["u"].isel(key))
        xr.testing.assert_identical(found.sel(time="2026-01-02").load(), dataset.sel(time="2026-01-02"))


def test_dask_goes_by_blocks(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        array = pool.create("u", (6, 8))
        for i in range(0, 6, 2):
            for j in range(0, 8, 4):
                array[i : i + 2, j : j + 4] = np.full((2, 4), 10.0 * i + j)
        assert array.chunks == ((2, 2, 2), (4, 4))
        lazy = dask_array.from_array(array, chunks=array.chunks)
        np.testing.assert_array_equal((lazy * 2).compute(scheduler="threads"), array[...] * 2)
        np.testing.assert_array_equal((lazy + 1).compute(scheduler="processes"), array[...] + 1)
    with opened(path, chunks={}) as found:
        assert found["u"].chunks == ((2, 2, 2), (4, 4))
        assert found["u"].sum().compute().item() == lazy_sum()
    big = xr.Dataset({"v": (("x", "y"), dask_array.ones((40, 30), chunks=(10, 30)))})
    big.pmemcpy.to_pool(path, encoding={"v": {"codec": "lz4"}})
    with pmemcpy.open(path, "r") as pool:
        assert pool["v"].info.blocks == 4
        assert pool["v"].info.codec.startswith("lz4")
        assert pool["v"][...].sum() == 1200


def lazy_sum() -> float:
    return float(sum(8 * (10 * i + j) for i in range(0, 6, 2) for j in range(0, 8, 4)))


def test_dimensions_that_grow_and_steps(path: str, dataset: Any) -> None:
    dataset.encoding["unlimited_dims"] = {"time"}
    dataset.pmemcpy.to_pool(path, step=4)
    with pmemcpy.open(path, "r") as pool:
        assert pool.info.committed_step == 4
        assert pool["u"].is_unlimited and pool["time"].is_unlimited
    with opened(path) as found:
        assert found.encoding["unlimited_dims"] == {"time"}
        xr.testing.assert_identical(found.load(), dataset)


def test_what_goes_wrong_in_a_step_leaves_nothing_and_no_step(path: str, dataset: Any) -> None:
    broken = dataset.assign(zz=("x", np.array([{}, 1], object)))
    with pmemcpy.open(path, "w") as pool:
        with pytest.raises(pmemcpy.UnsupportedError):
            broken.pmemcpy.to_pool(pool, step=1)
        assert pool.ids() == []
        dataset.pmemcpy.to_pool(pool, step=1)
    xr.testing.assert_identical(opened(path).load(), dataset)


def test_a_group_of_nothing_but_attributes(path: str) -> None:
    xr.Dataset(attrs={"title": "empty"}).pmemcpy.to_pool(path, "notes/deep")
    assert opened(path, group="notes/deep").attrs == {"title": "empty"}


def test_cf_is_decoded(path: str) -> None:
    with pmemcpy.open(path, "a") as pool:
        pool["t"] = np.array([0, 36], "i4")
        pool["t"].attrs.update(units="hours since 2026-01-01", standard_name="time", _ARRAY_DIMENSIONS=["t"])
        pool["packed"] = np.array([1, 2, -99], "i2")
        pool["packed"].attrs.update(scale_factor=0.5, add_offset=10.0, _FillValue=np.int16(-99))
    with opened(path) as found:
        assert found["t"].values[1] == np.datetime64("2026-01-02T12:00")
        np.testing.assert_array_equal(found["packed"].values, [10.5, 11.0, np.nan])


def test_spans_of_time_and_odd_objects(path: str) -> None:
    spans = xr.Dataset({"dt": ("x", np.array([1, 2], "m8[h]").astype("m8[ns]"))})
    spans.pmemcpy.to_pool(path)
    with opened(path, decode_timedelta=True) as found:
        np.testing.assert_array_equal(found["dt"].values, spans["dt"].values)
    texts = xr.Dataset({"s": ("x", np.array(["a", "bcd"], object))})
    texts.pmemcpy.to_pool(path, "texts")
    with opened(path, group="texts") as found:
        assert found["s"].values.tolist() == ["a", "bcd"]
    with pytest.raises(pmemcpy.UnsupportedError):
        xr.Dataset({"o": ("x", np.array([{}, 1], object))}).pmemcpy.to_pool(path, "odd")
    with pytest.raises(ValueError, match="encoding"):
        texts.pmemcpy.to_pool(path, "texts", encoding={"nothing": {}})


def test_loaded_values_can_be_changed(path: str) -> None:
    """They were views of the pool, which can only be read; with every other engine `+=` works."""
    xr.Dataset({"a": ("x", [1.0, 2.0])}).pmemcpy.to_pool(path)
    found = xr.load_dataset(path, engine=PoolBackend)
    found.a.values += 1
    assert found.a.values.tolist() == [2, 3]
    with opened(path) as lazy:
        assert lazy.a.values.tolist() == [1, 2]


def test_what_a_pool_has_no_type_for_is_encoded_by_cf(path: str) -> None:
    cftime = pytest.importorskip("cftime")
    days = cftime.num2date([0, 59], "days since 2000-01-01", calendar="noleap")
    texts = {"none missing": ["x", "y"], "one missing": ["x", None], "empty too": ["", None]}
    data = {name: ("n", np.array(text, object)) for name, text in texts.items()}
    if hasattr(np.dtypes, "StringDType"):
        data["variable"] = ("n", np.array(["x", "grüße"], np.dtypes.StringDType()))
    xr.Dataset({"a": ("time", [1, 2]), **data}, coords={"time": days}).pmemcpy.to_pool(path)
    with opened(path) as found:
        assert found.time.values.tolist() == days.tolist()
        assert found["none missing"].values.tolist() == ["x", "y"]
        assert found["one missing"].isnull().values.tolist() == [False, True]
        assert found["one missing"].values[0] == "x"
        assert found["empty too"].values.tolist() == ["", ""]
        if "variable" in data:
            assert found["variable"].values.tolist() == ["x", "grüße"]


def test_encoding_is_that_of_cf_and_netcdf(path: str) -> None:
    values = xr.Dataset({"a": ("n", [1.0, 2.0, np.nan]), "u": (("x", "y"), np.zeros((4, 6)))})
    encoding = {
        "a": {"dtype": "i2", "scale_factor": 0.1, "_FillValue": -9},
        "u": {"zlib": True, "complevel": 4, "chunksizes": (2, 6)},
    }
    values.pmemcpy.to_pool(path, encoding=encoding)
    with pmemcpy.open(path) as pool:
        assert pool["a"][...].tolist() == [10, 20, -9]
        assert pool["a"].dtype == np.int16
        assert pool["u"].info.codec == "zlib:4:shuffle"
        assert pool["u"].chunks == ((2, 2), (6,))
    with opened(path) as found:
        np.testing.assert_allclose(found.a, values.a)
    for wrong, word in (
        ({"fletcher32": True}, "fletcher32"),
        ({"compressors": []}, "compressors"),
        ({"compression": "szip"}, "szip"),
        ({"chunks": (1, 1)}, "chunks"),
    ):
        with pytest.raises(ValueError, match=word):
            values.pmemcpy.to_pool(path, encoding={"a": wrong})


def test_a_name_with_a_slash_is_refused_before_anything_is_stored(path: str) -> None:
    """It became a group, and so was not in the dataset any more."""
    with pytest.raises(ValueError, match="a/b"):
        xr.Dataset({"a": ("n", [1]), "a/b": ("n", [1])}).pmemcpy.to_pool(path)
    with pmemcpy.open(path) as pool:
        assert list(pool) == []


@pytest.mark.parametrize("step", [None, 1])
def test_attributes_of_before_do_not_stay(path: str, step: int | None) -> None:
    xr.Dataset({"a": ("x", [1.0], {"old": 1})}, attrs={"t": 1}).pmemcpy.to_pool(path, step=step)
    xr.Dataset({"a": ("x", [2.0], {"new": 1})}).pmemcpy.to_pool(path, step=step and step + 1)
    with opened(path) as found:
        assert found.a.attrs == {"new": 1}
        assert found.attrs == {}


def test_what_is_no_pool_is_told(path: str, dataset: Any) -> None:
    with pytest.raises(FileNotFoundError):
        opened(path)
    dataset.pmemcpy.to_pool(path)
    with pytest.raises(KeyError):
        opened(path, group="nothing")
    assert PoolBackend().guess_can_open(path)
    assert not PoolBackend().guess_can_open("run.nc")

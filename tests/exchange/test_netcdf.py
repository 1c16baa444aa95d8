"""NetCDF files into a pool and out of it again, compared by ncdump: real ones of ferret-datasets, and awkward ones."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import netCDF4
import numpy as np
import pmemcpy
import pytest
import xarray as xr
from conftest import Command
from pmemcpy.xarray import PoolBackend

DATASETS = sorted(Path("/usr/share/ferret-vis/data").glob("*.[cn]*"))


def text_of(path: Path) -> str:
    """All of it as text: types, dimensions, attributes in their order, every value with all its digits."""
    done = subprocess.run(["ncdump", "-p", "9,17", path], capture_output=True, text=True, check=True)
    return done.stdout.partition("{")[2]  # the first line has the file's name


def assert_same(first: Path, second: Path) -> None:
    left, right = text_of(first), text_of(second)
    for line, other in itertools.zip_longest(left.splitlines(), right.splitlines()):
        assert line == other
    with netCDF4.Dataset(first) as one, netCDF4.Dataset(second) as other:
        assert one.data_model == other.data_model


@pytest.mark.skipif(not DATASETS, reason="ferret-datasets is not installed")
@pytest.mark.parametrize("file", DATASETS, ids=lambda path: path.name)
def test_real_data_come_back_as_they_were(command: Command, file: Path) -> None:
    assert_same(file, command.there_and_back(file, "back.nc"))


@pytest.mark.skipif(not DATASETS, reason="ferret-datasets is not installed")
def test_xarray_sees_the_same_in_the_pool(command: Command, folder: Path) -> None:
    file = next(path for path in DATASETS if path.name == "coads_climatology.cdf")
    command("import", file, "c.pmem")
    with (
        xr.open_dataset(file, decode_times=False) as expected,
        xr.open_dataset(folder / "c.pmem", engine=PoolBackend, decode_times=False) as found,
    ):
        xr.testing.assert_identical(expected, found)


def awkward(path: Path) -> None:
    with netCDF4.Dataset(path, "w") as file:
        file.title = "äöü"
        file.setncattr_string("history", "of NetCDF-4's own text")
        file.setncattr("zeta", np.arange(3, dtype="i2"))
        file.setncattr("alpha", np.float32(1.5))
        file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createDimension("unused", 9)
        file.createDimension("y", 3)
        u = file.createVariable(
            "u", "f4", ("time", "y", "x"), fill_value=-999.0, zlib=True, complevel=2, chunksizes=(1, 3, 4)
        )
        u.units = "m s-1"
        u[0:5] = np.arange(60).reshape(5, 3, 4)
        u[2, 1, 1] = np.ma.masked
        file.createVariable("x", "f8", ("x",))[:] = np.linspace(0, 1, 4)
        file.createVariable("big", ">i4", ("x",), endian="big")[:] = [1, 2, 3, 4]
        file.createVariable("letters", "S1", ("x",))[:] = np.array(list("abcd"), "S1")
        file.createVariable("words", str, ("y",))[:] = np.array(["", "β", "three words long"], object)
        file.createVariable("crs", "i4", ()).grid_mapping_name = "latitude_longitude"
        cloud = file.createEnumType("u1", "cloud_t", {"clear": 0, "cumulus": 2})
        file.createVariable("cloud", cloud, ("y",), fill_value=0)[:] = [0, 2, 0]
        particle = file.createCompoundType(np.dtype([("id", "i4"), ("x", "f8", (3,))], align=True), "particle_t")
        points = file.createVariable("points", particle, ("y",))
        points[:] = np.array([(1, (1, 2, 3)), (2, (4, 5, 6)), (3, (7, 8, 9))], particle.dtype)
        rows = file.createVLType("i4", "row_t")
        row = file.createVariable("rows", rows, ("y",))
        for i, values in enumerate(([1, 2], [], [3])):
            row[i] = np.array(values, "i4")
        group = file.createGroup("inner/most")
        group.comment = "in a group"
        group.createDimension("x", 2)
        group.createVariable("v", "u8", ("y", "x"))[:] = 2**63 + np.arange(6, dtype="u8").reshape(3, 2)


def test_awkward_things_come_back(command: Command, folder: Path) -> None:
    awkward(folder / "a.nc")
    assert_same(folder / "a.nc", command.there_and_back(folder / "a.nc", "b.nc", warnings=["rows: rows of any length"]))
    with pmemcpy.open(folder / "a.nc.pmem", "r") as pool:
        assert pool["u"].is_unlimited
        assert pool["u"].attrs["_FillValue"] == -999.0
        assert list(pool["words"][...]) == ["", "β", "three words long"]
        assert pool["crs"].attrs["grid_mapping_name"] == "latitude_longitude"
        assert pool.attrs["history"] == "of NetCDF-4's own text"
        assert pool["inner/most/v"][2, 1] == 2**63 + 5


@pytest.mark.parametrize("format", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC"])
def test_the_older_formats_stay_what_they_were(command: Command, folder: Path, format: str) -> None:
    with netCDF4.Dataset(folder / "a.nc", "w", format=format) as file:
        file.createDimension("t", None)
        file.createDimension("n", 5)
        file.createDimension("length", 8)
        file.Conventions = "CF-1.8"
        file.createVariable("v", "i2", ("t", "n"), fill_value=-1)[0:3] = np.arange(15).reshape(3, 5)
        file.createVariable("name", "S1", ("n", "length"))[:] = (
            np.array([b"one", b"two", b"three", b"four", b"f\xfcnf"], "S8").view("S1").reshape(5, 8)
        )
    assert_same(folder / "a.nc", command.there_and_back(folder / "a.nc", "b.nc"))


def test_what_a_program_stored_is_read_by_xarray(command: Command, folder: Path) -> None:
    times = np.array(["2026-01-01T00:00", "2026-01-01T06:00"], "M8[s]")
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["t"] = times
        pool["t"].attrs["_ARRAY_DIMENSIONS"] = ["t"]
        pool["u"] = np.arange(6.0).reshape(2, 3)
        pool["u"].attrs["_ARRAY_DIMENSIONS"] = ["t", "x"]
        pool["mask"] = np.array([True, False, True])
        pool["mask"].attrs["_ARRAY_DIMENSIONS"] = ["x"]
        pool["half"] = np.array([1.5, 2.5], "f2")
        pool["big"] = np.arange(3, dtype=">i4")
        pool["z"] = np.array([1 + 2j])
        pool["n"] = 3
        pool["text"] = "hello"
    command("export", "p.pmem", "p.nc", warnings=["half: NetCDF has no float16"])
    with xr.open_dataset(folder / "p.nc") as found:
        np.testing.assert_array_equal(found["t"].values.astype("M8[s]"), times)
        np.testing.assert_array_equal(found["u"].values, np.arange(6.0).reshape(2, 3))
        assert found["u"].dims == ("t", "x")
        assert found["mask"].dtype == bool
        np.testing.assert_array_equal(found["big"].values, [0, 1, 2])
        assert found["n"] == 3
        assert str(found["text"].values) == "hello"
    command("export", "p.pmem", "old.nc", "--format", "netcdf3", warnings=["half", "z: only NetCDF-4 has types"])
    with netCDF4.Dataset(folder / "old.nc") as file:
        assert file.data_model == "NETCDF3_64BIT_DATA"
        np.testing.assert_array_equal(file["u"][:], np.arange(6.0).reshape(2, 3))


def test_the_classic_formats_have_no_groups(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["g/u"] = np.arange(3)
    command.fails("export", "p.pmem", "p.nc", "--format", "netcdf3", code="unsupported", words=["no groups", "'g'"])
    assert not (folder / "p.nc").exists()
    command("export", "p.pmem:g", "p.nc", "--format", "netcdf3")


# Its variables went onto the dimension of the outer group, which grew, and so did other variables.
def test_a_groups_own_dimension_may_hide_another(command: Command, folder: Path) -> None:
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        file.createDimension("n", None)
        file.createDimension("same", 3)
        file.createVariable("r", "i4", ("n",))[:] = [1]
        inner = file.createGroup("g")
        inner.createDimension("n", 3)
        inner.createDimension("same", 3)
        inner.createVariable("v", "i4", ("n",))[:] = [7, 8, 9]
    assert_same(folder / "a.nc", command.there_and_back(folder / "a.nc", "b.nc"))


def test_variables_may_share_a_type_of_rows(command: Command, folder: Path) -> None:
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        file.createDimension("n", 2)
        rows = file.createVLType("i4", "row_t")
        for name, first in (("a", 1), ("b", 4)):
            variable = file.createVariable(name, rows, ("n",))
            variable[0] = np.array([first], "i4")
            variable[1] = np.array([first + 1, first + 2], "i4")
    warnings = ["a: rows of any length", "b: rows of any length"]
    assert_same(folder / "a.nc", command.there_and_back(folder / "a.nc", "b.nc", warnings=warnings))


# An empty array stayed, of which an export made a variable of fill values.
def test_of_a_variable_whose_filter_is_missing_nothing_stays(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        file.createDimension("x", 1000)
        try:
            packed = file.createVariable("z", "f4", ("x",), compression="zstd")
        except RuntimeError:
            pytest.skip("this netCDF4 has no filter that ours lacks")
        packed[:] = 7
        packed.units = "m"
        file.createVariable("ok", "f4", ("x",))[:] = 1
    monkeypatch.delenv("HDF5_PLUGIN_PATH", raising=False)
    command("import", "a.nc", "p.pmem", warnings=["z: "])
    command("export", "p.pmem", "b.nc")
    with netCDF4.Dataset(folder / "b.nc") as file:
        assert list(file.variables) == ["ok"]


assert shutil.which("ncdump"), "apt-get install netcdf-bin: ./run setup does"


def test_attributes_without_elements_keep_their_type(command: Command, folder: Path) -> None:
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["u"] = np.arange(3.0)
        pool["u"].attrs.update({"rows": np.zeros((0, 3)), "row": np.zeros(0, "i2"), "list": []})
    command("export", "p.pmem", "p.nc", warnings=["u@rows: an attribute of several dimensions"])
    command("import", "p.nc", "q.pmem", "--max-size", "256MiB")
    with pmemcpy.open(folder / "q.pmem", "r") as pool:
        found = dict(pool["u"].attrs)
        assert (found["row"].dtype, found["row"].shape) == (np.dtype("i2"), (0,))
        assert (found["rows"].dtype, found["rows"].shape) == (np.dtype("f8"), (0,))
        assert found["list"] == []

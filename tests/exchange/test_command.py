"""import and export as somebody tired uses them: wrong names, broken files, a full disk, a pool in use."""

from __future__ import annotations

import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import h5py
import netCDF4
import numpy as np
import pmemcpy
import pytest
from conftest import COMMAND, ROWS, Command


def small(path: Path, **arrays: object) -> Path:
    with h5py.File(path, "w") as file:
        for name, values in (arrays or {"a": np.arange(100.0)}).items():
            file[name] = values
    return path


def test_without_a_pool_it_is_named_after_the_file(command: Command, folder: Path) -> None:
    (folder / "data").mkdir()
    small(folder / "data/run7.h5")
    command("import", "data/run7.h5")
    with pmemcpy.open(folder / "run7.pmem", "r") as pool:
        assert list(pool) == ["a"]


def test_of_several_files_each_goes_into_a_pool_of_its_name(command: Command, folder: Path) -> None:
    # "`import run*.nc` takes one file."
    for year in (2022, 2023):
        small(folder / f"run{year}.h5", a=np.arange(float(year)))
    command("import", "run2022.h5", "run2023.h5")
    for year in (2022, 2023):
        with pmemcpy.open(folder / f"run{year}.pmem", "r") as pool:
            assert pool["a"].shape == (year,)


def test_of_several_files_in_one_pool_each_goes_into_a_group_of_its_name(command: Command, folder: Path) -> None:
    for year in (2022, 2023):
        small(folder / f"run{year}.h5", a=np.arange(float(year)))
    command("import", "run2022.h5", "run2023.h5", "all.pmem", "--into", "runs")
    with pmemcpy.open(folder / "all.pmem", "r") as pool:
        assert pool.ids() == ["runs/run2022/a", "runs/run2023/a"]
    (folder / "broken.pmem").write_text("no pool")
    command.fails("import", "run2022.h5", "broken.pmem", code="corrupt", words=["broken.pmem"])
    assert not (folder / "run2022.pmem").exists()


@pytest.mark.parametrize("target", ["x.h5", "x.nc", "x.zarr", "x.npy"])
def test_damage_becomes_no_file_that_looks_good(command: Command, folder: Path, target: str) -> None:
    # administration.md names the export as a backup; `cp` refused, and this did not.
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 24) as pool:
        pool["a"] = np.full(10_000, 1234.5)
    path = folder / "p.pmem"
    content = bytearray(path.read_bytes())
    content[content.find(np.full(10, 1234.5).tobytes()) + 8 * 500] ^= 1
    path.write_bytes(content)
    source = "p.pmem:a" if target.endswith(".npy") else "p.pmem"
    command.fails("export", source, target, code="corrupt", words=["'a'"])
    assert not (folder / target).exists()


def test_into_a_group_of_a_pool_that_is_there(command: Command, folder: Path) -> None:
    small(folder / "a.h5")
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["a"] = 1
    command.fails("import", "a.h5", "p.pmem", code="already_exists", words=["'a'", "another group"])
    command("import", "a.h5", "p.pmem", "--into", "runs/first")
    command.fails("import", "a.h5", "p.pmem", "--into", "runs/first", code="already_exists", words=["runs/first/a"])
    command("import", "a.h5", "p.pmem", "--into", "runs/second")
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["a", "runs/first/a", "runs/second/a"]
        assert pool["a"].value == 1


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("missing.h5", None, "not_found", ["missing.h5"]),
        ("empty.h5", b"", "unsupported", ["empty.h5", "none of the formats"]),
        ("text.nc", b"netcdf text { }", "unsupported", ["text.nc"]),
        ("short.nc", b"CDF\x01\x00\x00", "corrupt", ["short.nc", "NetCDF says"]),
        ("short.h5", b"\x89HDF\r\n\x1a\n" + bytes(40), "corrupt", ["short.h5", "HDF5 says"]),
    ],
)
def test_what_is_no_such_file(
    command: Command, folder: Path, name: str, content: bytes | None, code: str, words: list[str]
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    command.fails("import", name, "p.pmem", code=code, words=words)
    assert not (folder / "p.pmem").exists()


def test_a_file_that_was_cut_off_leaves_nothing(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        file["first"] = np.arange(1000)
        file.create_dataset("second", data=np.random.default_rng(1).random(100_000), chunks=(1000,), compression="gzip")
    whole = (folder / "a.h5").read_bytes()
    broken = bytearray(whole)
    with h5py.File(folder / "a.h5") as file:
        place = file["second"].id.get_chunk_info(50)
    broken[place.byte_offset : place.byte_offset + place.size] = bytes(place.size)
    (folder / "b.h5").write_bytes(broken)
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool["mine"] = 1
    command.fails("import", "b.h5", "p.pmem", "--into", "g", code="corrupt", words=["b.h5", "second"])
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool.ids() == ["mine"]
        assert pool.groups() == []
        assert pool.verify() == []
    command("import", "a.h5", "p.pmem", "--into", "g")  # and the next one is as good as the first


def test_every_cut_of_a_file_is_an_error_or_a_whole(command: Command, folder: Path) -> None:
    small(folder / "a.h5", a=np.arange(50), b=np.array([b"x"]))
    whole = (folder / "a.h5").read_bytes()
    for length in range(0, len(whole), 97):
        (folder / "cut.h5").write_bytes(whole[:length])
        done = command.run("import", "cut.h5", "cut.pmem")
        assert done.returncode in (2, 5, 6, 8), (length, done)
        assert not (folder / "cut.pmem").exists()


def test_a_pool_that_is_full(command: Command, folder: Path) -> None:
    small(folder / "a.h5", a=np.zeros(1 << 21))
    command.fails("import", "a.h5", "p.pmem", "--max-size", "12MiB", code="no_space", words=["p.pmem"])
    assert not (folder / "p.pmem").exists()


def test_somebody_elses_step_is_not_committed_with_it(command: Command, folder: Path) -> None:
    small(folder / "a.h5")
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 28) as pool:
        pool.begin(1)
        pool["half"] = 1
        command.fails("import", "a.h5", "p.pmem", code="busy", words=["in a step"])
        pool.commit(1)
        command("import", "a.h5", "p.pmem")
        assert pool.ids() == ["a", "half"]


def test_export_does_not_write_over_anything(command: Command, folder: Path) -> None:
    small(folder / "a.h5")
    command("import", "a.h5", "p.pmem")
    before = (folder / "a.h5").read_bytes()
    command.fails("export", "p.pmem", "a.h5", code="already_exists", words=["a.h5", "overwrite"])
    assert (folder / "a.h5").read_bytes() == before
    command("export", "p.pmem", "a.h5", "--overwrite")
    command.fails("export", "p.pmem", "a.what", code="invalid_argument", words=["a.what", ".h5"])
    command.fails("export", "p.pmem:nothing", "b.h5", code="not_found", words=["nothing"])
    command.fails("export", "p.pmem", "b.h5", "--format", "excel", code="invalid_argument", words=["excel", "netcdf"])
    assert sorted(p.name for p in folder.iterdir() if not p.name.endswith(".rt")) == ["a.h5", "p.pmem"]


def test_a_killed_import_leaves_the_pool_as_it_was(command: Command, folder: Path) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        for i in range(300):
            file[f"g{i % 7}/v{i}"] = np.full(20_000, i)
    with pmemcpy.open(folder / "p.pmem", "x", max_bytes=1 << 30) as pool:
        pool["mine"] = 1
    killed = 0
    for delay in np.linspace(0.005, 0.25, 12):
        running = subprocess.Popen([COMMAND, "import", "a.h5", "p.pmem"], cwd=folder, stdout=subprocess.DEVNULL)
        time.sleep(delay)
        running.send_signal(signal.SIGKILL)
        if running.wait() == 0:
            break
        killed += 1
        with pmemcpy.open(folder / "p.pmem", "r+") as pool:
            there = pool.ids()
        if len(there) == 301:  # it had committed, and not yet ended
            break
        assert there == ["mine"]
    else:
        command("import", "a.h5", "p.pmem")
    assert killed > 0
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert len(pool.ids()) == 301
        assert pool.verify() == []


def test_memory_does_not_grow_with_the_file(folder: Path, command: Command) -> None:
    with h5py.File(folder / "a.h5", "w") as file:
        big = file.create_dataset("big", (ROWS, 1 << 17), "f8", chunks=(1, 1 << 17))
        row = np.arange(1 << 17, dtype="f8")
        for i in range(ROWS):
            big[i] = row + i
    command.in_little_memory("import", "a.h5", "p.pmem", "--max-size", f"{2 * ROWS}MiB")
    command.in_little_memory("export", "p.pmem", "b.h5")
    with h5py.File(folder / "b.h5") as file:
        np.testing.assert_array_equal(file["big"][ROWS - 1], row + ROWS - 1)


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """Two MiB."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "none", str(disk)]
    if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("nobody may mount a small disk here")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("extension", ["h5", "nc", "npy", "npz", "zarr"])
def test_a_full_disk_is_said_and_leaves_no_part(
    command: Command, folder: Path, small_disk: Path, extension: str
) -> None:
    small(folder / "a.h5", a=np.random.default_rng(1).random(1 << 19))
    command("import", "a.h5", "p.pmem")
    done = command.run("export", "p.pmem:a", f"disk/b.{extension}")
    assert done.returncode == 4, done
    assert f"b.{extension}" in done.stderr
    assert list(small_disk.iterdir()) == []


# What is compressed is written when NetCDF closes the file; that failed, and ended the process by a signal at its exit.
def test_a_full_disk_is_said_when_netcdf_writes_last_of_all(command: Command, folder: Path, small_disk: Path) -> None:
    random = np.random.default_rng(1)
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        file.createDimension("t", None)
        file.createDimension("x", 1 << 14)
        for i in range(4):
            variable = file.createVariable(f"v{i}", "f8", ("t", "x"), zlib=True, chunksizes=(1, 1 << 14))
            variable[:] = random.random((5, 1 << 14))
    command("import", "a.nc", "p.pmem")
    done = command.run("export", "p.pmem", "disk/b.nc")
    assert done.returncode == 4, done
    assert "b.nc" in done.stderr
    assert list(small_disk.iterdir()) == []


def test_a_file_may_not_grow_as_large(command: Command, folder: Path) -> None:
    small(folder / "a.h5", a=np.zeros(1 << 20))
    command("import", "a.h5", "p.pmem")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    done = subprocess.run(
        [COMMAND, "export", "p.pmem", "b.h5"], cwd=folder, preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert done.returncode == 6, done
    assert "b.h5" in done.stderr and "too large" in done.stderr
    assert not list(folder.glob("b.*"))


def test_what_a_file_has_in_an_order_is_listed_in_it(command: Command, folder: Path) -> None:
    names = ["time", "lon", "lat", "TEMP", "SALT", "depth"]
    with netCDF4.Dataset(folder / "a.nc", "w") as file:
        file.createDimension("n", 2)
        for name in names:
            file.createVariable(name, "f4", ("n",))[:] = [1, 2]
    command("import", "a.nc")
    assert command.run("ls", "a.pmem", "--sort", "created").stdout.split() == names
    assert command.run("ls", "a.pmem").stdout.split() == sorted(names)


def test_times_are_the_dates_that_cftime_has(command: Command, folder: Path) -> None:
    draw = np.random.default_rng(1582)
    calendars = ("standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day")
    wanted: dict[str, list[str]] = {}
    with netCDF4.Dataset(folder / "times.nc", "w") as file:
        file.createDimension("n", 50)
        for i in range(60):
            unit, hours = [("seconds", 1 / 3600), ("minutes", 1 / 60), ("hours", 1), ("days", 24)][i % 4]
            since = f"{draw.integers(1, 2100)}-{draw.integers(1, 13)}-{draw.integers(1, 29)} {draw.integers(24)}:30:00"
            calendar = calendars[i % 6]
            variable = file.createVariable(f"t{i}", "f8", ("n",))
            variable.units = f"{unit} since {since}"
            variable.calendar = calendar
            # Whole minutes, of up to 400 years later.
            numbers = np.round(draw.integers(0, 3_500_000, 50) * 60.0) / 60 / hours
            variable[:] = numbers
            dates = netCDF4.num2date(numbers, variable.units, calendar)
            wanted[f"t{i}"] = [date.strftime("%Y-%m-%dT%H:%M").replace(" ", "0") for date in dates]
    command("import", "times.nc", "times.pmem")
    for name, dates in wanted.items():
        got = command("cat", "times.pmem", name, "--times")["values"]
        assert [date if "T" in date else date + "T00:00" for date in got] == dates, name

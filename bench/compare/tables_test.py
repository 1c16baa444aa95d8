"""Results as somebody reads them."""

import tables
from summary_test import array_run, object_run


def row_of(text, name):
    cells = next(line for line in text.splitlines() if line.startswith(f"| {name} ")).strip("|").split("|")
    return [cell.strip() for cell in cells]


def test_a_cell_has_the_speed_and_in_brackets_the_part_of_the_limit():
    runs = [array_run("memcpy", "read-open", [0.1]), array_run("hdf5", "read", [0.4])]
    text = tables.arrays(runs, {"read": "", "read-open": ""})
    assert row_of(text, "hdf5") == ["hdf5", "2.50 (0.25)", "-"]
    assert row_of(text, "memcpy") == ["memcpy", "-", "10.00 (1.00)"]


def test_the_limit_comes_first_then_pmemcpy_then_the_others_by_name():
    assert tables.in_order(["adios", "pmemcpy-unchecked", "lmdb", "pmemcpy", "streaming", "memcpy"]) == [
        "memcpy", "streaming", "pmemcpy", "pmemcpy-unchecked", "adios", "lmdb",
    ]  # fmt: skip


def test_a_library_that_cannot_do_it_has_a_row_of_dashes_and_its_reason_below():
    refused = {"work": "w", "ranks": 2, "contender": "posix", "phase": "read", "unsupported": "not as written"}
    text = tables.arrays([array_run("hdf5", "read", [0.5]), refused], {"read": ""})
    assert row_of(text, "posix") == ["posix", "-"]
    assert "- posix: not as written" in text


def test_one_rank_is_no_plural():
    text = tables.arrays([array_run("hdf5", "read", [0.5]) | {"ranks": 1}], {"read": ""})
    assert text.startswith("### w, 1 rank\n")


def test_objects_have_operations_a_second_and_the_multiple_of_lmdb():
    runs = [object_run("lmdb", "load", 0.001), object_run("pmemcpy", "load", 0.0005)]
    text = tables.objects(runs, ["load"])
    assert "### objects of 256 B, 1 process\n" in text
    assert row_of(text, "pmemcpy") == ["pmemcpy", "2,000,000 (2.00)"]


def test_who_had_fewer_objects_is_named():
    text = tables.objects([object_run("pmemcpy", "load", 1.0), object_run("netcdf", "load", 1.0, count=10)], ["load"])
    assert "- netcdf: 10 objects, for more would take minutes" in text
    assert "- pmemcpy:" not in text


def test_a_reason_says_which_works_it_is_about_and_the_name_once():
    refused = [
        {key: value for key, value in object_run("hdf5", work, 0).items() if key != "seconds"}
        | {"unsupported": "hdf5: at most 1 process(es)"}
        for work in ("store", "erase")
    ]
    text = tables.objects([object_run("pmemcpy", "store", 1.0), *refused], ["store", "erase"])
    assert "- hdf5: at most 1 process(es) (erase, store)" in text
    assert row_of(text, "hdf5") == ["hdf5", "-", "-"]


def test_names_are_in_milliseconds_by_how_many_there_are_and_too_long_is_a_dash():
    runs = [object_run("pmemcpy", "open", 0.0012) | {"objects": count} for count in (100, 10_000)]
    runs += [object_run("netcdf", "open", 0.05) | {"objects": 100}]
    late = {key: value for key, value in object_run("netcdf", "open", 0).items() if key != "seconds"}
    runs += [late | {"objects": 10_000, "unsupported": "did not end within 300 s"}]
    text = tables.names(runs, ["open"])
    assert row_of(text, "pmemcpy") == ["pmemcpy", "1.20", "1.20"]
    assert row_of(text, "netcdf") == ["netcdf", "50.00", "-"]
    assert "- netcdf: did not end within 300 s (open), 10,000 variables" in text


def test_sizes_are_told_in_the_largest_whole_unit():
    assert [tables.size_text(size) for size in (64, 4096, 1536, 4 << 20)] == ["64 B", "4 KiB", "1536 B", "4 MiB"]


def test_series_are_told_by_the_median_of_their_repetitions():
    def run(contender: str, pause_us: int, seconds: float, delay: float) -> dict:
        delays = [delay, 2 * delay, 3 * delay]
        about = {"contender": contender, "size": 65536, "steps": 1000, "pause_us": pause_us}
        return about | {"seconds": seconds, "followed_seconds": 2 * seconds, "delay_seconds": delays, "not_there": 3}

    runs = [run("pmemcpy", 0, seconds, 1) for seconds in (0.1, 0.5, 0.2)]
    runs += [run("pmemcpy", 1000, 2, delay) for delay in (10e-6, 20e-6, 500e-6)]
    runs += [{"contender": "zarr", "size": 65536, "unsupported": "did not end within 300 s"}]
    text = tables.series(runs)
    assert row_of(text, "pmemcpy") == ["pmemcpy", "5,000", "2,500", "20", "40", "60", "3.0"]
    assert row_of(text, "zarr") == ["zarr", "-", "-", "-", "-", "-", "-"]
    assert "- zarr: did not end within 300 s (follow)" in text

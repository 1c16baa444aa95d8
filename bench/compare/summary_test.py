"""From seconds to what is said."""

import pytest
import summary


def array_run(contender, phase, seconds, size=1_000_000_000, **more):
    run = {"work": "w", "ranks": 2, "contender": contender, "phase": phase, "seconds": seconds, "bytes": size}
    return run | {"page_faults": 0, **more}


def object_run(contender, work, seconds, count=1000, **more):
    run = {"size": 256, "processes": 1, "objects": 1000, "count": count, "contender": contender, "work": work}
    return run | {"seconds": seconds, **more}


def test_a_figure_is_the_median_of_all_repetitions_between_the_slowest_and_the_fastest():
    runs = [array_run("hdf5", "read", [1.0]), array_run("hdf5", "read", [0.5, 4.0])]
    figure = summary.figures(runs)["w", 2, "hdf5", "read"]
    assert (figure.gigabytes_a_second, figure.slowest, figure.fastest) == (1.0, 0.25, 2.0)


def test_page_faults_are_told_of_one_repetition():
    runs = [array_run("hdf5", "read", [1.0, 1.0], page_faults=10), array_run("hdf5", "read", [1.0], page_faults=7)]
    assert summary.figures(runs)["w", 2, "hdf5", "read"].page_faults == 6


@pytest.mark.parametrize(
    ("phase", "ratio"),
    [("create", 0.25), ("overwrite-open", 0.25), ("read", 0.125), ("read-open", 0.125)],
)
def test_what_writes_is_told_of_the_fastest_copy_to_memory_and_what_reads_of_the_fastest_from_it(phase, ratio):
    runs = [
        array_run("memcpy", "overwrite-open", [0.5]), array_run("streaming", "overwrite-open", [0.25]),
        array_run("memcpy", "read-open", [0.125]), array_run("streaming", "read-open", [0.5]),
        array_run("hdf5", phase, [1.0]),
    ]  # fmt: skip
    assert summary.figures(runs)["w", 2, "hdf5", phase].of_limit == ratio


def test_the_limit_of_other_ranks_is_not_taken():
    runs = [array_run("memcpy", "read-open", [0.5]) | {"ranks": 1}, array_run("hdf5", "read", [1.0])]
    assert summary.figures(runs)["w", 2, "hdf5", "read"].of_limit is None


def test_what_a_library_cannot_do_has_a_reason_and_no_figure():
    runs = [{"work": "w", "ranks": 2, "contender": "adios", "phase": "create", "unsupported": "no strides"}]
    assert summary.figures(runs) == {}
    assert summary.unsupported(runs) == {("w", 2, "adios", "create"): "no strides"}


def test_a_rate_is_a_multiple_of_that_of_lmdb_with_a_transaction_each():
    runs = [object_run("lmdb", "load", 1.0), object_run("lmdb-batch", "load", 0.1), object_run("pmemcpy", "load", 0.5)]
    rates = summary.rates(runs)
    assert rates[256, 1, "pmemcpy", "load"].per_second == 2000
    assert rates[256, 1, "pmemcpy", "load"].of_reference == 2
    assert rates[256, 1, "lmdb", "load"].of_reference == 1


def test_a_contender_with_fewer_objects_is_told_by_what_it_did():
    runs = [object_run("netcdf", "store", 1.0, count=100)]
    assert summary.rates(runs)[256, 1, "netcdf", "store"].per_second == 100


def test_without_lmdb_there_is_no_multiple():
    assert summary.rates([object_run("pmemcpy", "load", 0.5)])[256, 1, "pmemcpy", "load"].of_reference is None


def test_an_opening_is_the_median_of_its_seconds():
    runs = [object_run("zarr", "open", seconds) for seconds in (1.0, 3.0, 2.0)]
    assert summary.looks(runs) == {(1000, "zarr", "open"): 2.0}

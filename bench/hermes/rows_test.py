"""What is said of runs: ratios of medians, targets, dashes."""

import json

import experiments
import pytest
import rows
from neighbours import as_json

SIZES = experiments.Sizes(
    operations=1000, processes=(1,), bytes_copied=1 << 20, bytes_stored=64 << 20, pfs_bytes_per_second=32 << 20
)


def metadata_run(contender, insert, get=1.0, update=1.0, **more):
    about = {"experiment": "figure5", "files": 1000, "processes": 1, "contender": contender}
    return about | {"insert_s": insert, "get_s": get, "update_s": update} | more


def message_run(contender, publish, subscribe=1.0):
    about = {"experiment": "figure6", "messages": 1000, "processes": 2, "contender": contender}
    return about | {"publish_s": publish, "subscribe_s": subscribe}


# As long as data-intensive work computes, if it computes no longer than it is told to.
COMPUTING = experiments.PHASES * SIZES.computing_seconds(1 / 32)


def buffering_run(contender, write, read=0.0, flush=0.0, **about):
    seconds = {"write_s": write, "read_s": read, "flush_s": flush, "computing_s": COMPUTING}
    return {"contender": contender} | seconds | about


def named(found, name):
    (row,) = (row for row in found if row.name == name)
    return row


def test_a_ratio_is_of_medians_and_more_is_better():
    runs = [metadata_run("pmemcpy", seconds) for seconds in (0.5, 0.25, 9.0)]
    runs += [metadata_run("memcached", 2.0), metadata_run("redis", 0.75)]
    found = rows.figure5(runs)
    row = named(found, "insert, 1 process, beside memcached")
    assert (row.ratio, row.ours, row.theirs, row.target, row.is_met) == (4.0, 2000.0, 500.0, 2.0, True)
    assert named(found, "insert, 1 process, beside redis").is_met is False


def test_insert_get_and_update_are_told_apart():
    runs = [metadata_run("pmemcpy", 1.0, 1.0, 1.0), metadata_run("mpi", 8.0, 6.0, 14.0)]
    found = rows.figure5(runs)
    ratios = {part: named(found, f"{part}, 1 process, beside mpi").ratio for part in ("insert", "get", "update")}
    assert ratios == {"insert": 8.0, "get": 6.0, "update": 14.0}
    assert named(found, "get, 1 process, beside mpi").target == 7.0


def test_sending_ahead_has_no_target_for_nobody_who_waits_for_an_answer_can():
    found = rows.figure5([metadata_run("pmemcpy", 1.0), metadata_run("redis-pipelined", 1.0)])
    row = named(found, "insert, 1 process, beside redis-pipelined")
    assert (row.ratio, row.target, row.is_met) == (1.0, None, None)


def test_a_peer_that_is_not_there_is_a_row_with_its_reason():
    missing = {"experiment": "figure5", "processes": 1, "contender": "redis", "unsupported": "it is not installed"}
    row = named(rows.figure5([metadata_run("pmemcpy", 1.0), missing]), "get, 1 process, beside redis")
    assert (row.ratio, row.is_met, row.note) == (None, None, "redis: it is not installed")
    assert (row.ours, row.theirs) == (1000.0, None)


def test_fewer_runs_than_of_others_are_told():
    runs = [metadata_run("pmemcpy", 1.0)] * 3 + [metadata_run("mpi", 9.0)]
    assert named(rows.figure5(runs), "insert, 1 process, beside mpi").note == "1 run of mpi"


def test_ways_that_the_paper_does_not_have_are_judged_as_its_own_are():
    runs = [metadata_run(name, seconds) for name, seconds in (("pmemcpy", 1.0), ("mpi", 9.0), ("mpi-handed-over", 3.0))]
    found = rows.figure5(runs)
    as_printed, faster = (named(found, f"insert, 1 process, beside {name}") for name in ("mpi", "mpi-handed-over"))
    assert (as_printed.target, as_printed.paper, as_printed.is_met) == (7.0, 7.0, True)
    assert (faster.target, faster.paper, faster.is_met) == (7.0, None, False)


WHO_TOOK = {"pmemcpy": 1.0, "pmemcpy-collected": 0.5, "nats": 2.0}


def test_nats_has_other_targets_for_publishing_than_for_subscribing():
    found = rows.figure6([message_run(name, took, took) for name, took in WHO_TOOK.items()])
    publish, subscribe, collected = (
        named(found, f"{what}, beside nats")
        for what in (
            "publish, 2 and 2 processes",
            "subscribe, 2 and 2 processes",
            "publish, 2 and 2 processes, collected",
        )
    )
    assert (publish.ratio, publish.target) == (2.0, None)
    assert (subscribe.ratio, subscribe.target, subscribe.is_met) == (2.0, 3.0, False)
    assert (collected.ratio, collected.target, collected.is_met) == (4.0, 2.0, True)


def memory_run(contender, rate, smallest=64 << 10, largest=2 << 20, is_copied=True, **more):
    about = {"experiment": "figure4", "order": "bursts", "is_copied": is_copied, "smallest": smallest}
    return about | {"largest": largest, "contender": contender, "operations_per_s": rate} | more


def test_memory_is_judged_at_sizes_of_all_kinds_and_told_with_a_copy_and_size_by_size():
    everyone = (("pmemcpy", 40.0), ("malloc", 10.0), ("tcmalloc", 40.0))
    runs = [memory_run(*each, is_copied=is_copied) for each in everyone for is_copied in (False, True)]
    runs += [memory_run(name, rate, 65536, 65536) for name, rate in (("pmemcpy", 3.0), ("malloc", 2.0))]
    found = rows.figure4(runs)
    assert named(found, "64 KiB to 2 MiB, bursts, got and given back, beside malloc").is_met
    assert named(found, "64 KiB to 2 MiB, bursts, got and given back, beside tcmalloc").is_met is False
    row = named(found, "64 KiB to 2 MiB, bursts, copied into, beside malloc")
    assert (row.ratio, row.target, row.paper) == (4.0, None, 3.0)
    row = named(found, "64 KiB, bursts, copied into, beside malloc")
    assert (row.ratio, row.target) == (1.5, None)


def figure8_runs(work, **seconds):
    return [
        buffering_run(scheme, value, flush=1.0, experiment="figure8", work=work, ranks=2)
        for name, value in seconds.items()
        for scheme in [name.replace("_", "-")]
    ]


def test_compute_intensive_work_has_the_targets_of_its_write_time():
    runs = figure8_runs("compute-intensive", top=1.0, max_bandwidth=1.2, reorganizing=6.0, none=9.0, elevator=3.0)
    found = rows.figure8(runs, SIZES)
    name = "compute-intensive, write, max-bandwidth beside "
    expected = {"top": False, "reorganizing": True, "none": False, "elevator": True}
    assert {theirs: named(found, name + theirs).is_met for theirs in expected} == expected
    assert named(found, name + "datawarp").note == "datawarp: was not measured"
    assert named(found, "compute-intensive, write and flush, max-bandwidth beside none").ratio == 10 / 2.2


def test_balanced_work_is_reported_and_not_judged():
    found = rows.figure8(figure8_runs("balanced", top=1.0, max_bandwidth=1.2, max_locality=6.0), SIZES)
    assert all(row.target is None for row in found)
    assert named(found, "balanced, write, max-bandwidth beside max-locality").ratio == 5.0


def test_data_intensive_work_is_judged_against_the_best_schedule():
    found = rows.figure8(figure8_runs("data-intensive", top=0.02, max_bandwidth=0.8, max_locality=0.5), SIZES)
    row = named(found, "data-intensive, write, max-locality beside max-bandwidth")
    assert (row.ratio, row.target) == (1.6, 1.0)
    row = named(found, "data-intensive, write, max-locality beside the best schedule")
    assert row.target == 0.85
    assert row.ratio == pytest.approx(row.theirs / 0.5)
    # Half of what is stored has no room above the burst buffer, which with the file system takes 4.8 * 32 MiB/s. What
    # moves down while the application computes is not waited for, but there is nothing to move before it has stored.
    assert 32 / (4.8 * 32) < row.theirs + COMPUTING < 1.05 * 32 / (4.8 * 32)


def test_the_best_schedule_has_as_long_between_the_stores_as_there_was():
    name = "data-intensive, write, max-locality beside the best schedule"
    runs = figure8_runs("data-intensive", top=0.02, max_locality=0.5)
    longer = [run | {"computing_s": COMPUTING + 0.01} for run in runs]
    told, as_it_took = (named(rows.figure8(each, SIZES), name) for each in (runs, longer))
    assert told.theirs - as_it_took.theirs == pytest.approx(0.01, rel=0.1)


def test_flushing_is_judged_by_what_it_costs_and_by_the_bandwidth():
    runs = [
        buffering_run(scheme, value, flush=1.0, experiment="background", work=work, ranks=2)
        for work in ("compute-intensive", "data-intensive")
        for scheme, value in (("top", 0.9), ("flushing", 0.95))
    ]
    costs, other, speed = rows.background(runs, SIZES)
    assert (costs.ratio, costs.is_met) == (pytest.approx(0.9 / 0.95), True)
    assert other.target is None
    # Two seconds at the bandwidth; it took 1.95 and what was computed.
    assert speed.ratio == pytest.approx(2 / (1.95 + COMPUTING))


def test_only_the_sixteenth_read_sixteen_times_is_judged():
    runs = [
        buffering_run(scheme, 1.0, seconds, experiment="figure9", reads=reads, ranks=2)
        for reads in (1, 16)
        for scheme, seconds in (("hot-data", 1.0), ("max-bandwidth", 2.0), ("none", 40.0), ("elevator", 10.0))
    ]
    found = rows.figure9(runs, SIZES)
    assert named(found, "read x16, hot-data beside none").is_met
    assert named(found, "read x16, hot-data beside elevator").is_met is False
    assert named(found, "read x1, hot-data beside none").target is None
    assert named(found, "read x16, max-bandwidth beside none").target is None


def test_applications_are_judged_with_and_without_flushing():
    runs = [
        buffering_run(scheme, *seconds, experiment="figure11", ranks=4)
        for scheme, seconds in (("max-bandwidth", (0.5, 0.5, 1.0)), ("none", (4.0, 4.0, 0.0)))
    ]
    found = rows.figure11(runs, SIZES)
    row = named(found, "write and read, 4 ranks, max-bandwidth beside none")
    assert (row.ratio, row.target) == (8.0, 7.5)
    row = named(found, "write and read and flush, 4 ranks, max-bandwidth beside none")
    assert (row.ratio, row.target, row.paper) == (4.0, 2.65, 1313 / 494)
    assert {row.name.split(",")[1] for row in found} == {" 4 ranks"}


def test_sections_that_were_not_asked_for_have_no_rows():
    assert list(rows.all_rows([metadata_run("pmemcpy", 1.0)], SIZES)) == ["figure5"]


def test_rows_are_json_and_tables_with_the_seconds_of_each_kind_of_io():
    runs = figure8_runs("balanced", top=1.0, none=2.5)
    row = rows.all_rows(runs, SIZES)["figure8"][0]
    assert {"name", "ratio", "target", "met"} <= set(json.loads(json.dumps(as_json(row))))
    text = rows.markdown(runs, SIZES)
    assert text.startswith("### Figure 8: ")
    assert "| balanced, none |   2.5 |    0 |     1 |    3.5 |" in text

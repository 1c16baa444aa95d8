"""What is said of runs: ratios, targets, dashes."""

import json

import rows
from experiments import questions_about
from neighbours import Row, as_json


def particle_run(contender, work, seconds, **more):
    about = {"experiment": "figure6", "size": 1 << 20, "count": 10, "processes": 4, "prepared": False}
    return about | {"contender": contender, "work": work, "seconds": seconds, "indexed_seconds": seconds} | more


def row_named(found, beginning):
    return next(row for row in found if row.name.startswith(beginning))


def test_a_ratio_is_of_medians_and_of_the_stand_ins_fastest_way():
    runs = [particle_run("pmemcpy-none", "write", s) for s in (1.0, 9.0, 2.0)]
    runs += [particle_run("miqs", "write", 8.0), particle_run("miqs-compact", "write", 5.0)]
    row = row_named(rows.works(runs, "figure6", True), "write 1 MiB, 4 processes, none")
    assert (row.ratio, row.ours, row.theirs, row.against) == (2.5, 5.0, 2.0, "miqs-compact")
    assert row.target == 2.0
    assert row.is_met


def test_what_cannot_be_done_is_a_row_with_its_reason():
    runs = [particle_run("miqs", "write", 8.0)]
    runs.append({**particle_run("pmemcpy-sync", "write", 0), "unsupported": "no index"})
    row = row_named(rows.works(runs, "figure6", True), "write 1 MiB, 4 processes, sync")
    assert (row.ratio, row.note, row.is_met) == (None, "no index", None)


def test_prepared_memory_is_a_row_of_its_own():
    runs = [particle_run(name, "write", 1.0, prepared=p) for name in ("pmemcpy-none", "miqs") for p in (False, True)]
    names = [row.name for row in rows.works(runs, "figure6", True) if row.ratio]
    assert names == ["write 1 MiB, 4 processes, none", "write 1 MiB, 4 processes, prepared, none"]


def test_an_asynchronous_index_tells_when_it_is_up_to_date():
    runs = [particle_run("pmemcpy-async", "write", 1.0, indexed_seconds=1.25), particle_run("miqs", "write", 2.0)]
    row = row_named(rows.works(runs, "figure6", True), "write 1 MiB, 4 processes, async")
    assert (row.ratio, row.note) == (2.0, "the index is up to date 250.0 ms later")


def test_the_share_of_storage_is_what_is_not_computing():
    about = {"experiment": "figure8", "size": 4096, "work": "use", "computing_seconds": 1.0}
    runs = [about | {"contender": "pmemcpy-view", "seconds": 1.25}, about | {"contender": "miqs", "seconds": 4.0}]
    (row,) = rows.shares(runs)
    assert (row.ours, row.theirs, row.ratio) == (0.2, 0.75, 12.0)


def test_a_section_that_was_not_asked_for_has_no_rows():
    assert list(rows.all_rows([particle_run("pmemcpy-none", "write", 1.0)])) == ["figure6"]


def test_stores_with_an_index_are_told_beside_those_without():
    about = {"experiment": "stores", "size": 1 << 19, "count": 2, "work": "write"}
    runs = [
        about | {"contender": "pmemcpy-none", "seconds": 1.0},
        about | {"contender": "pmemcpy-async", "seconds": 1.25},
    ]
    row_async, row_sync = rows.stores(runs)
    assert (row_async.ratio, row_async.target, row_async.is_met) == (0.8, 0.95, False)
    assert (row_sync.ratio, row_sync.note) == (None, "was not measured")


def table1_runs(scale, ours="pmemcpy-async"):
    about = {"experiment": "table1", "scale": scale, "repetition": 0}

    def asked(name, rate):
        answers = {what: {"per_second": rate, "compared": 1, "fingerprint": "1"} for what in rows.QUERIES}
        return about | {"contender": name, "work": "ask", "answers": answers}

    def ended(name, seconds, what):
        parts = {"open_seconds": 0.0, "ask_seconds": 0.25, "read_seconds": 0.25}
        return about | parts | {"contender": name, "work": "end-to-end", "what": what, "seconds": seconds}

    runs = [asked(ours, 300.0), asked("miqs-compact", 200.0), asked("miqs-made", 3000.0)]
    for what in rows.QUERIES:
        runs += [ended(ours, 1.0, what), ended("miqs-compact", 5.0, what), ended("hdf5", 2.0, what)]
    return runs


def test_end_to_end_has_its_target_from_a_tenth_of_the_size_on():
    for scale, target in ((0.01, None), (0.1, 10.0)):
        found = rows.table1(table1_runs(scale))
        row = row_named(found, "Q1 at")
        assert (row.ratio, row.target) == (1.5, 1.0)
        row = row_named(found, "Q1 to Q3 on average")  # which no target is for: one query may not make up for another
        assert (round(row.ratio, 9), row.target) == (1.5, None)
        row = row_named(found, "Q1, lists made for it")
        assert (row.ratio, row.target) == (0.1, None)
        row = row_named(found, "Q2 from end to end, at")
        assert (row.ratio, row.target) == (5.0, target)
        assert row_named(found, "Q2 from end to end, HDF5 without an index").ratio == 2.0
        assert row_named(found, "Q2 from open to end, index made before").paper == 8.25 / 0.19


def test_without_an_index_the_rows_say_so():
    assert row_named(rows.table1(table1_runs(0.1, "pmemcpy-none")), "Q1 at").note == "without an index"


def test_look_ups_are_beside_what_is_wanted_and_beside_each_peer():
    def asked(name, rate):
        answers = {what: {"per_second": rate} for what in ("point", "range", "substring")}
        return {"experiment": "lookups", "records": 10**6, "contender": name, "work": "ask", "answers": answers}

    runs = [
        asked("pmemcpy-async", 25_000.0),
        asked("lmdb", 50_000.0),
        asked("sqlite", 1.0),
        asked("sqlite-alone", 5_000.0),
    ]
    point = [row for row in rows.lookups(runs) if row.name.startswith("point")]
    assert [(row.against, row.ratio, row.target) for row in point] == [
        ("what is wanted", 0.5, 1.0), ("lmdb", 0.5, 0.8), ("sqlite-alone", 5.0, 3.0),
    ]  # fmt: skip
    names = [row.name for row in rows.lookups(runs)]
    assert len(set(names)) == len(names)
    text = row_named(rows.lookups(runs), "text in names")
    assert (text.ours, text.ratio, text.target) == (0.04, 5000.0, 1.0)


def test_the_target_for_text_in_names_is_for_a_million():
    answers = {what: {"per_second": 10.0} for what in ("point", "range", "substring")}
    run = {"experiment": "lookups", "records": 10**5, "contender": "pmemcpy-async", "work": "ask", "answers": answers}
    assert row_named(rows.lookups([run]), "text in names").target is None


def test_different_answers_to_the_same_question_are_told():
    def asked(name, fingerprint, compared=20):
        answers = {"point": {"compared": compared, "fingerprint": fingerprint}}
        return {"experiment": "lookups", "repetition": 0, "contender": name, "answers": answers}

    assert rows.disagreements([asked("a", "1"), asked("b", "1")]) == []
    assert rows.disagreements([asked("a", "1"), asked("slow", "2", compared=3)]) == []
    assert len(rows.disagreements([asked("a", "1"), asked("b", "2")])) == 1


def test_rows_are_json_and_a_table():
    by_section = {"stores": [Row("a", 0.5, 0.95, 1234.0, 2468.0, "MiB/s", "b"), Row("c", None, note="why")]}
    entry = json.loads(json.dumps(as_json(by_section["stores"][0])))
    assert (entry["name"], entry["ratio"], entry["target"], entry["met"]) == ("a", 0.5, 0.95, False)
    text = rows.markdown(by_section)
    assert "| a | 1,234 |  2,468 | MiB/s |       b | 0.5 missed |   0.95 |     - |     |" in text
    assert text.startswith("### What the index costs a store\n")


def test_questions_are_about_texts_that_people_have_written():
    listed = [
        {"id": "a", "values": {"units": "K", "missing": -1e34, "_exchange": "x"}},
        {"id": "b", "values": {"units": "K", "title": ""}},
    ]
    assert questions_about(listed)[0] == ["units", "K"]
    assert [question[1] for question in questions_about(listed)[1:]] == ["contains"] * 2

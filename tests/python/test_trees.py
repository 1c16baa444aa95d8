"""Nested dicts, lists and tuples with arrays in them come back as they were, or are refused with a way to do it."""

import collections
import contextlib
import datetime as dt
import enum
import math
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pmemcpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

ml_dtypes = pytest.importorskip("ml_dtypes")


def same(found: Any, stored: Any) -> bool:
    if type(found) is not type(stored):
        return False
    if isinstance(stored, dict):
        return list(found) == list(stored) and all(same(found[key], stored[key]) for key in stored)
    if isinstance(stored, (list, tuple)):
        return len(found) == len(stored) and all(map(same, found, stored))
    if isinstance(stored, np.ndarray):
        return found.dtype == stored.dtype and found.shape == stored.shape and found.tobytes() == stored.tobytes()
    return bool(found == stored) or (found != found and stored != stored)


STATE = {
    "model": {
        "emb": np.arange(12).astype(ml_dtypes.bfloat16).reshape(3, 4),
        "fp8": np.array([0.5, 1, -2, 448], ml_dtypes.float8_e4m3fn),
        "e5": np.array([[1, 2]], ml_dtypes.float8_e5m2),
        "q": np.array([-8, 7, 0], ml_dtypes.int4),
        "names": np.array(["grüße", "b"]),
        "raw": np.array([b"ab", b""]),
        "one": np.array(2.5, "f4"),
        "none": np.zeros((0, 3), "i2"),
        "at": np.array(["2026-01-01", "NaT"], "M8[s]"),
        "spans": np.array([1, 2], "m8[25s]"),
        "big": np.arange(3, dtype=">i4"),
        "fields": np.array([(1, 2.0)], [("a", "i4"), ("b", "f8")]),
    },
    "optimizer": {
        "state": {0: {"avg": np.ones(3), "step": np.float32(7)}, 1: {"avg": np.zeros(3), "step": np.int64(8)}},
        "groups": [{"lr": 1e-3, "betas": (0.9, 0.999), "params": [0, 1], "frozen": None}, {}],
    },
    ("a", 1, None): [np.arange(2), (np.arange(3), "text"), [math.nan, -math.inf]],
    "loss": math.nan,
    "a/b": {"..": 1, "": 2, "c#dims": 3, "0": 4, 0: 5, True: 6, None: 7, 1.5: 8},
    "half": ml_dtypes.bfloat16(1.5),
    "values": [True, 2**63, -1, b"\0", bytearray(b"x"), 1j, np.bool_(True), np.str_("s"), np.uint64(3)],
    "times": [dt.datetime(2026, 1, 2, 3, 4, 5, 6), dt.date(2026, 1, 2), dt.timedelta(days=-1, microseconds=5)],
    "numpys": (np.datetime64("NaT", "s"), np.timedelta64(3, "h"), np.complex64(1j)),
    "empty": {},
    "nothing": [],
}


def test_a_tree_comes_back_as_it_was(pool: pmemcpy.Pool) -> None:
    """`pool["state"] = {...}` made lists of Python floats of arrays, and text of keys, without a word."""
    pool.store_tree("runs/state", STATE)
    assert isinstance(pool["runs/state/model/emb"], pmemcpy.Array)
    assert pool["runs/state/model/emb"].dtype == ml_dtypes.bfloat16
    assert pool["runs/state/model/fp8"].dtype == ml_dtypes.float8_e4m3fn
    assert pool["runs/state/optimizer/state/0/step"].value == 7
    assert same(pool.load_tree("runs/state"), STATE)
    assert same(pool["runs"].load_tree("state"), STATE)
    pool.store_tree("more", [STATE])
    assert same(pool.load_tree("more"), [STATE])
    other = collections.OrderedDict(b=pool["runs/state/model/emb"], a=pool["runs/state/optimizer/state/0/step"])
    pool.store_tree("others", other)
    assert same(pool.load_tree("others"), {"b": STATE["model"]["emb"], "a": np.float32(7)})


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.floats(), st.text("aé/.#"), st.binary(max_size=3),
    st.builds(np.float32, st.floats(width=32)), st.builds(np.arange, st.integers(0, 3)),
)  # fmt: skip
KEYS = st.one_of(st.text("a/.#0", max_size=3), st.integers(-1, 3), st.booleans(), st.none(), st.tuples(st.integers()))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=8,
)


@given(tree=st.dictionaries(KEYS, TREES, max_size=4))
def test_a_tree_stored_over_another_leaves_nothing_of_it(lasting: pmemcpy.Pool, tree: dict[Any, Any]) -> None:
    lasting.store_tree("t", tree)
    assert same(lasting.load_tree("t"), tree)
    leaves = [id for id in lasting["t"].ids()]
    lasting.store_tree("t", tree)
    assert lasting["t"].ids() == leaves
    assert same(lasting.load_tree("t"), tree)


def test_the_older_tree_is_there_until_a_step_is_committed(path: str) -> None:
    with pmemcpy.open(path, "x", max_bytes=1 << 26) as pool, pmemcpy.open(path) as reader:
        for step in (1, 2, 3):
            with pool.step(step):
                pool.store_tree("model", {"w": np.full(3, float(step)), "b": [np.full(2, step)], "step": step})
                if step > 1:
                    assert reader.load_tree("model")["step"] == step - 1
                    assert reader.load_tree("model")["w"][0] == step - 1
            assert reader.load_tree("model")["b"][0].tolist() == [step, step]
        with pytest.raises(pmemcpy.UnsupportedError, match="step"), pool.step(4):
            pool.store_tree("model", {"w": np.zeros(4)})
        assert reader.load_tree("model")["step"] == 3


def test_a_tree_that_was_not_stored_to_its_end_is_none(pool: pmemcpy.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.store_tree("t", {"a": np.zeros(3), "b": np.zeros(3)})
    stored = pmemcpy.Group.store

    def dies(group: pmemcpy.Group, name: str, data: Any, **options: Any) -> None:
        if name == "b":
            raise KeyboardInterrupt
        stored(group, name, data, **options)

    monkeypatch.setattr(pmemcpy.Group, "store", dies)
    with pytest.raises(KeyboardInterrupt):
        pool.store_tree("t", {"a": np.ones(3), "b": np.ones(3)})
    monkeypatch.undo()
    with pytest.raises(pmemcpy.BusyError, match="store it anew"):
        pool.load_tree("t")
    pool.store_tree("t", {"a": np.ones(3)})
    assert pool.load_tree("t")["a"].tolist() == [1, 1, 1]
    assert pool["t"].ids() == ["a"]


def test_a_load_notices_that_another_tree_came(pool: pmemcpy.Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.store_tree("t", {"a": np.zeros(3), "b": np.zeros(3)})
    loaded = pmemcpy.Group.load
    news = [{"a": np.ones(3), "b": np.ones(3)}, {"a": np.ones(3), "b": 7}, {"b": np.full(4, 2.0)}]

    def slow(group: pmemcpy.Group, name: str) -> Any:
        found = loaded(group, name)
        if news:
            pool.store_tree("t", news.pop(0))
        return found

    monkeypatch.setattr(pmemcpy.Group, "load", slow)
    assert same(pool.load_tree("t"), {"b": np.full(4, 2.0)})


STORES_TREES = """
import sys, numpy as np, pmemcpy
with pmemcpy.open(sys.argv[1], "r+") as pool:
    for n in range(1, 1_000_000):
        rows = {i: np.full(3, n) for i in range(n % 5)}
        pool.store_tree("t", {"n": n, "a": np.full(100 + n % 3, n), "rows": rows})
"""


def test_no_load_gives_a_mixture_while_another_process_stores_and_is_killed(path: str) -> None:
    """An array that was replaced by a longer one between two looks made an OutOfRangeError of the load."""
    whole = 0
    with pmemcpy.open(path, "x", max_bytes=1 << 27) as pool:
        pool.store_tree("t", {"n": 0, "a": np.zeros(100), "rows": {}})
        writer = subprocess.Popen([sys.executable, "-c", STORES_TREES, path])
        end = time.monotonic() + 60
        while whole < 50 and time.monotonic() < end:
            with contextlib.suppress(pmemcpy.BusyError):
                tree = pool.load_tree("t")
                n = tree["n"]
                assert tree["a"].shape == (100 + n % 3,)
                assert list(tree["rows"]) == list(range(n % 5))
                assert all((each == n).all() for each in (tree["a"], *tree["rows"].values()))
                whole += n > 0
        writer.kill()
        writer.wait()
        assert whole == 50
        pool.store_tree("t", {"n": 0})
        assert pool.load_tree("t") == {"n": 0}
        assert pool.verify() == []


def test_a_tree_can_be_erased_and_takes_nothing_else(pool: pmemcpy.Pool) -> None:
    pool["mine/u"] = np.zeros(3)
    pool["n"] = 1
    for refused in (lambda: pool.store_tree("mine", {"a": np.zeros(3)}), lambda: pool.store_tree("n", {"a": 1})):
        with pytest.raises(pmemcpy.AlreadyExistsError):
            refused()
    for none in (lambda: pool.erase_tree("mine"), lambda: pool.load_tree("mine"), lambda: pool.load_tree("n")):
        with pytest.raises(pmemcpy.NotFoundError, match="store_tree"):
            none()
    pool.store_tree("t", STATE["optimizer"])
    pool.erase_tree("t")
    assert list(pool) == ["mine", "n"]
    with pytest.raises(pmemcpy.NotFoundError):
        pool.load_tree("t")


class Colour(enum.IntEnum):
    RED = 1


Pair = collections.namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("leaf", "way"),
    [
        (Pair(1, 2), "tuple"),
        (Colour.RED, "Colour"),
        ({Colour.RED: 1}, "Colour"),
        ({np.int64(1): 1}, "int64"),
        (np.array(["a", None], object), "tolist"),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "filled"),
        (dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "isoformat"),
        ({1, 2}, "set"),
        ([2**70, b""], "64 bits"),
        (np.zeros(2, np.longdouble), "float64"),
    ],
)
def test_what_would_not_come_back_is_refused_before_anything_is_stored(pool: pmemcpy.Pool, leaf: Any, way: str) -> None:
    with pytest.raises((TypeError, ValueError, pmemcpy.UnsupportedError), match=way):
        pool.store_tree("t", {"first": np.zeros(3), "odd": leaf})
    assert list(pool) == []


@pytest.mark.parametrize(
    "value",
    [
        {"w": np.zeros(3)},
        {"a": [np.zeros(3)]},
        [np.zeros(3), np.zeros(4)],
        {1: "a"},
        {"a": [{2: 1}]},
        {"x": math.nan},
    ],
)
def test_an_assignment_turns_no_array_into_json(lasting: pmemcpy.Pool, value: Any) -> None:
    for mapping in (lasting, lasting.attrs):
        with pytest.raises((TypeError, ValueError), match="store_tree"):
            mapping["refused"] = value
        assert "refused" not in mapping
    if isinstance(value, dict):
        lasting.store_tree("kept", value)
        assert same(lasting.load_tree("kept"), value)


def test_what_prints_a_value_prints_little_of_it(pool: pmemcpy.Pool) -> None:
    pool["large"] = {str(i): i for i in range(100_000)}
    pool["text"] = "a" * 5_000_000
    pool.attrs["large"] = [str(i) for i in range(10_000)]
    for shown in (repr(pool["large"]), str(pool["large"]), repr(pool["text"]), repr(pool.attrs), repr(pool.find())):
        assert len(shown) < 600
    assert len(repr(pool["large"])) <= 200
    assert str(pool["text"]) == "a" * 5_000_000  # as int() and float() give the value itself
    pool["cfg"] = {"dt": 0.1}
    assert repr(pool["cfg"]) == "<pmemcpy value 'cfg': {'dt': 0.1}>"

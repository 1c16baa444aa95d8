"""Attributes that a function finds in what is stored."""

from typing import Any

import numpy as np
import pmemcpy
import pytest


def peak(found: Any) -> dict[str, float] | None:
    return {"peak": float(found[...].max())} if isinstance(found, pmemcpy.Array) else None


def test_extracts_what_is_there_and_what_comes(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        pool["before"] = np.array([1.0, 5.0])
        pool["text"] = "no array"
        with pool.extract("peak", "", peak) as extractor:
            extractor.wait()
            assert pool["before"].attrs["peak"] == 5.0 and "peak" not in pool["text"].attrs
            pool["g/after"] = np.arange(10)
            pool["before"][...] = 7.0
            extractor.wait()
            assert pool.find("peak >= 7").ids == ["before", "g/after"]
            assert extractor.info.failed == 0
        with pytest.raises(pmemcpy.InvalidArgumentError, match="closed"):
            extractor.wait()


def test_tells_what_a_function_raised(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        pool["a"] = 1

        def fails(found: Any) -> None:
            raise ValueError("too small: " + found.name)

        with pool.extract("fails", "kind = 'value'", fails) as extractor:
            extractor.wait()
            assert extractor.info.failed == 1 and "too small: a" in extractor.info.trouble
        with pytest.raises(pmemcpy.InvalidArgumentError, match="cannot be called"):
            pool.extract("a/b", "", peak)
        with pytest.raises(pmemcpy.InvalidArgumentError, match="column"):
            pool.extract("a", "= 3", peak)


# wait() hung, and close() ended the process: the thread waited for itself.
@pytest.mark.parametrize(("call", "trouble"), [("wait", "inside the function"), ("close", "cannot close")])
def test_an_extractor_that_would_wait_for_itself_says_so(path: str, call: str, trouble: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        extractors: list[pmemcpy.Extractor] = []

        def waits(found: Any) -> None:
            getattr(extractors[0], call)()

        with pool.extract("waits", "kind = 'value'", waits) as extractor:
            extractors.append(extractor)
            pool["a"] = 1
            extractor.wait()
            assert extractor.info.failed == 1 and trouble in extractor.info.trouble


# It was forgotten for the end of the program before it was refused, so its thread outlived Python.
def test_an_extractor_that_is_refused_is_closed_at_the_end(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[object] = []
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        extractors: list[pmemcpy.Extractor] = []
        refused: list[pmemcpy.Error] = []

        def closes(found: Any) -> None:
            with pytest.raises(pmemcpy.UnsupportedError, match="cannot close") as raised:
                extractors[0].close()
            refused.append(raised.value)

        with pool.extract("closes", "kind = 'value'", closes) as extractor:
            extractors.append(extractor)
            with monkeypatch.context() as patched:
                patched.setattr("atexit.unregister", forgotten.append)
                pool["a"] = 1
                extractor.wait()
            assert len(refused) == 1 and forgotten == []


def test_a_program_ends_that_does_not_close_it(path: str) -> None:
    import subprocess
    import sys

    program = (
        "import sys, pmemcpy; pool = pmemcpy.open(sys.argv[1], 'a', max_bytes=1 << 26);"
        "e = pool.extract('x', '', lambda found: {'seen': True}); pool['a'] = 1; e.wait()"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True, timeout=60)
    with pmemcpy.open(path, "r") as pool:
        assert pool["a"].attrs["seen"]

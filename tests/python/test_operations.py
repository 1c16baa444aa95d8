"""What is done with arrays when they are stored."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest

Numbers = np.ndarray[Any, Any]


def spectrum(u: Numbers) -> Numbers:
    assert not u.flags.writeable
    return np.asarray(abs(np.fft.rfft(u, axis=-1)))


def test_make_variables_of_what_is_stored(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        u = np.array([[3.0, 1.0], [2.0, 3.0]])
        pool["g/u"] = u
        pool.hint("g/u", "max", "sum", "deduplicate", "sort", "histogram", bins=2)
        pool.wait_for_operations()
        assert pool.operation_state("g/u").progress == "done"
        assert float(pool["g/u.max"]) == 3.0 and float(pool["g/u.sum"]) == 9.0
        np.testing.assert_array_equal(pool["g/u.unique.sorted"][...], [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(pool["g/u.histogram"][...], np.histogram(u, 2)[0])
        assert pool["g/u.max"].attrs["operation_source"] == "g/u"
        pool["g/u"][0, 0] = 7.0
        pool.wait_for_operations()
        assert float(pool["g/u.max"]) == 7.0
        assert [state.id for state in pool.operation_states()] == ["g/u"]
        pool.hint("g/u")
        assert pool.operation_state("g/u").progress == "none"


def test_are_python_functions_too(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        u = np.random.default_rng(1).normal(size=(3, 16))
        pool["u"] = u
        pool.operation("spectrum", spectrum)
        pool.operation("mean", lambda found: found.mean())
        assert pool.operate("u", "spectrum") == ["u.spectrum"]
        np.testing.assert_array_equal(pool["u.spectrum"][...], abs(np.fft.rfft(u, axis=-1)))
        pool.hint("u", "mean")
        pool.wait_for_operations()
        assert float(pool["u.mean"]) == u.mean()
        assert [one.in_process for one in pool.registered_operations] == [True, True]


def test_tell_what_a_function_raised(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        pool["u"] = np.arange(4)

        def fails(found: Numbers) -> Numbers:
            raise ValueError("too small")

        def closes(found: Numbers) -> Numbers:
            pool.close()
            return found

        pool.operation("fails", fails)
        pool.operation("closes", closes)
        pool.operation("text", lambda found: "no array")
        for name, trouble in (("fails", "too small"), ("closes", "in the middle")):
            pool.hint("u", name)
            pool.wait_for_operations()
            state = pool.operation_state("u")
            assert state.progress == "failed" and trouble in state.trouble
        assert pool.operate("u", "text") == ["u.text"]
        with pytest.raises(pmemcpy.InvalidArgumentError, match="no operation 'none'"):
            pool.hint("u", "none")
        with pytest.raises(pmemcpy.InvalidArgumentError, match="limit a process"):
            pool.operation("slow", fails, seconds=1)
        with pytest.raises(pmemcpy.BusyError, match="hint of 'u'"):
            pool.remove_operation("closes")
        pool.remove_operation("fails")


# The function waited for the lock of its array, and for the thread that it ran in, which nobody could end.
def test_of_a_function_that_would_wait_for_itself_fail_at_once(path: str) -> None:
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        pool["u"] = np.arange(4)
        pool["v"] = np.arange(4)

        def operates(found: Numbers) -> Numbers:
            pool.operate("u", "max")
            return found

        def operates_on_another(found: Numbers) -> Numbers:
            pool.operate("v", "max")
            return found

        def waits(found: Numbers) -> Numbers:
            pool.wait_for_operations()
            return found

        for function in (operates, operates_on_another, waits):
            pool.operation(function.__name__, function)
            with pytest.raises(RuntimeError, match="inside a registered function"):
                pool.operate("u", function.__name__)
            pool.hint("u", function.__name__)
            pool.wait_for_operations()
            assert "inside a registered function" in pool.operation_state("u").trouble
        assert pool.operate("u", "max") == ["u.max"]


def test_are_source_files_too(path: str, tmp_path: Path) -> None:
    source = tmp_path / "negate.c"
    source.write_text(
        "#include <pmemcpy/operation.h>\n"
        "PMEMCPY_OPERATION(call) {\n"
        "    int64_t *out = call->output(call, PMEMCPY_INT64, call->input.ndims, call->input.dims);\n"
        "    for (uint64_t i = 0; i < call->input.elements; ++i) out[i] = -((const int64_t *)call->input.data)[i];\n"
        "    return 0;\n"
        "}\n"
    )
    with pmemcpy.open(path, "a", max_bytes=1 << 26) as pool:
        pool["u"] = np.arange(6).reshape(2, 3)
        pool.operation("negated", source, seconds=50)
        pool.operate("u", "negated")
        np.testing.assert_array_equal(pool["u.negated"][...], -np.arange(6).reshape(2, 3))
        assert pool.registered_operations[0].seconds == 50


def test_a_program_ends_that_does_not_close_its_pool(path: str) -> None:
    program = (
        "import sys, numpy, pmemcpy; pool = pmemcpy.open(sys.argv[1], 'a', max_bytes=1 << 26);"
        "pool['u'] = numpy.arange(4); pool.operation('f', lambda u: u + 1); pool.hint('u', 'f')"
    )
    subprocess.run([sys.executable, "-c", program, path], check=True, timeout=60)

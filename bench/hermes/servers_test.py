"""Servers are there for one run, and gone after it."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import servers
from neighbours import programs

LISTENER = """
import socket, sys, time
with socket.socket(socket.AF_UNIX) as s:
    s.bind(sys.argv[1]); s.listen(); time.sleep(1000)
"""


@pytest.fixture(autouse=True)
def stand_in(monkeypatch):
    """The peers need not be installed where tests run."""
    monkeypatch.setitem(
        servers.COMMANDS, "redis", lambda folder: [sys.executable, "-c", LISTENER, str(folder / "socket")]
    )


def answers(path):
    with socket.socket(socket.AF_UNIX) as trial:
        return trial.connect_ex(path) == 0


def test_a_server_answers_and_is_gone_afterwards(tmp_path):
    with servers.running("redis", tmp_path) as path:
        assert answers(path)
    assert not answers(path)
    assert list(tmp_path.iterdir()) == []


def test_a_server_goes_when_the_run_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), servers.running("redis", tmp_path) as path:
        raise ZeroDivisionError
    assert not answers(path)


def test_a_server_does_not_outlive_a_benchmark_that_is_killed(tmp_path):
    script = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import servers\n"
        "from pathlib import Path\n"
        f"servers.COMMANDS['redis'] = lambda folder: [sys.executable, '-c', {LISTENER!r}, str(folder / 'socket')]\n"
        "with servers.running('redis', Path(sys.argv[2])) as path:\n"
        "    print(path, flush=True); time.sleep(1000)\n"
    )
    here = str(Path(__file__).resolve().parent)
    with subprocess.Popen(
        [sys.executable, "-c", script, here, str(tmp_path)], stdout=subprocess.PIPE, text=True
    ) as benchmark:
        path = benchmark.stdout.readline().strip()
        assert answers(path)
        benchmark.send_signal(signal.SIGKILL)
        benchmark.wait()
    for _ in range(600):
        if not answers(path):
            return
        time.sleep(0.1)
    pytest.fail("it still answers")


def test_a_server_that_is_not_installed_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.setitem(servers.COMMANDS, "redis", lambda _: ["no-such-server"])
    with pytest.raises(servers.IsMissing, match="no-such-server is not installed"), servers.running("redis", tmp_path):
        pass


def test_what_a_server_that_did_not_start_has_said_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(servers.COMMANDS, "redis", lambda _: ["sh", "-c", "echo no memory >&2; exit 1"])
    with pytest.raises(programs.Failed, match="no memory"), servers.running("redis", tmp_path):
        pass

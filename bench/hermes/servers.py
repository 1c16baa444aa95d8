"""The peers that are servers: each is started for one run, on a Unix socket or 127.0.0.1, and ended with it."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from neighbours import programs

PATIENCE_SECONDS = 20
# The kernel ends the server when this process ends in a way that nobody can answer.
WITH_ITS_STARTER = ("setpriv", "--pdeathsig", "KILL")


class IsMissing(Exception):
    """The server is not installed."""


def memcached(folder: Path) -> list[str]:
    as_root = ["-u", "root"] if os.geteuid() == 0 else []
    # Four threads are its default, and the paper's. It may fill more than any run stores.
    return ["memcached", "-s", str(folder / "socket"), "-m", "4096", "-t", "4", *as_root]


def redis(folder: Path) -> list[str]:
    where = ["--port", "0", "--unixsocket", str(folder / "socket"), "--dir", str(folder)]
    return ["redis-server", *where, "--save", "", "--appendonly", "no"]


def nats(folder: Path) -> list[str]:
    # A port that is free, which it tells in a file. No subscriber is cut off for being slower than who publishes.
    (folder / "conf").write_text(
        f'host: 127.0.0.1\nport: -1\nports_file_dir: "{folder}"\nmax_pending: 2000000000\nwrite_deadline: "60s"\n'
    )
    return ["nats-server", "-c", str(folder / "conf")]


COMMANDS = {"memcached": memcached, "redis": redis, "nats": nats}


@contextmanager
def running(name: str, folder: Path) -> Iterator[str]:
    """Where clients find it: the path of a socket, or a URL. Errors: IsMissing; programs.Failed with what it said."""
    if name not in COMMANDS:
        raise ValueError(f"no server {name}")
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=folder) as own:
        command = COMMANDS[name](Path(own))
        if shutil.which(command[0]) is None:
            raise IsMissing(f"{command[0]} is not installed")
        with (Path(own) / "log").open("w") as log:
            process = subprocess.Popen(
                [*WITH_ITS_STARTER, *command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        try:
            yield wait_for(name, process, Path(own))
        finally:
            programs.end(process)


def wait_for(name: str, process: subprocess.Popen, own: Path) -> str:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        where = url_of_nats(own) if name == "nats" else socket_that_answers(own / "socket")
        if where:
            return where
        time.sleep(0.02)
    raise programs.Failed(f"{name} did not start: {(own / 'log').read_text()[-1000:]}")


def socket_that_answers(path: Path) -> str | None:
    with socket.socket(socket.AF_UNIX) as trial:
        return str(path) if trial.connect_ex(str(path)) == 0 else None


def url_of_nats(own: Path) -> str | None:
    for file in own.glob("*.ports"):
        try:
            return json.loads(file.read_text())["nats"][0]
        except (json.JSONDecodeError, KeyError):
            return None  # it is being written
    return None

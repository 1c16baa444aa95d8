#!/usr/bin/env python3
"""Follow a pool with `pmemcpy watch` and `pmemcpy top` while another program stores in it.

usage: follow_test.py PMEMCPY FILL SIMULATE [unittest arguments]
"""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path

from with_pool import PMEMCPY, WithPool, need_terminals

SIMULATE = sys.argv[3]
PATIENCE = 60  # seconds


def interruptible() -> None:
    """A test that was started in the background ignores ^C, and what it starts would too."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Simulation:
    """A program that has a pool open and stores in it."""

    def __init__(self, pool: Path) -> None:
        self.process = subprocess.Popen([SIMULATE, pool], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"

    def do(self, *commands: str) -> None:
        for command in commands:
            self.process.stdin.write(command + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "done\n"

    def end(self) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.end_quietly()

    def end_quietly(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if not pipe.closed:
                pipe.close()
        self.process.wait(PATIENCE)


class Watching:
    """`pmemcpy watch`, whose lines are read as they come."""

    def __init__(self, *arguments: object) -> None:
        words = [PMEMCPY, "watch", *(str(argument) for argument in arguments)]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible
        )

    def line_while(self, do: Callable[[], object]) -> str:
        """The next line, which comes because of what `do` does, again and again: nobody tells when watch has begun."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            do()
            if select.select([self.process.stdout], [], [], 0.1)[0]:
                return self.process.stdout.readline()
        raise AssertionError("watch says nothing")

    def news_while(self, do: Callable[[], object]) -> dict:
        return json.loads(self.line_while(do))

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said


class Terminal:
    """The command on a terminal of its own."""

    def __init__(self, *arguments: object, environment: dict[str, str] | None = None) -> None:
        words = [PMEMCPY, *(str(argument) for argument in arguments)]
        need_terminals()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            interruptible()
            os.environ.update({"TERM": "xterm", **(environment or {})})
            os.execv(words[0], words)
        self.seen = b""

    def read(self) -> bool:
        """False when nobody is at the other end any more."""
        if not select.select([self.fd], [], [], 0.1)[0]:
            return True
        try:
            more = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += more
        return bool(more)

    def wait_for(self, wanted: bytes, do: Callable[[], object] = lambda: None, times: int = 1) -> None:
        end = time.monotonic() + PATIENCE
        while self.seen.count(wanted) < times:
            do()
            if not self.read() or time.monotonic() > end:
                raise AssertionError(f"{wanted!r} is not in {self.seen!r}")

    def end(self, keys: bytes) -> int:
        os.write(self.fd, keys)
        end = time.monotonic() + PATIENCE
        while self.read() and time.monotonic() < end:
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


class Following(WithPool):
    def simulate(self, pool: Path | None = None) -> Simulation:
        simulation = Simulation(pool or self.pool)
        self.addCleanup(simulation.end_quietly)
        return simulation

    def watch(self, *arguments: object) -> Watching:
        watching = Watching(*arguments)
        self.addCleanup(watching.process.stderr.close)
        self.addCleanup(watching.process.stdout.close)
        self.addCleanup(watching.process.wait, PATIENCE)
        self.addCleanup(watching.process.kill)
        return watching


class Watch(Following):
    def test_tells_of_one_variable_at_once(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "ocean/u", "--json", "--count", 3)
        for first in (True, False, False):
            news = watching.news_while(lambda: simulation.do("u"))
            self.assertEqual((news["event"], news["id"]), ("stored", "ocean/u"))
            self.assertEqual((news["bytes"], news["dims"]), (800, [100]))
            self.assertTrue(first or news["bytes_per_s"] > 0, news)
        self.assertEqual(watching.process.wait(PATIENCE), 0)
        news = self.watch(self.pool, "ocean/u", "--json").news_while(lambda: simulation.do("clock", "u"))
        self.assertEqual(news["id"], "ocean/u")  # and not of others

    def test_tells_of_all_in_lines(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "--interval", "20ms")
        ids = {watching.line_while(lambda: simulation.do("u", "clock")).split()[-1] for _ in range(6)}
        self.assertEqual(ids, {"ocean/u", "clock"})
        line = watching.line_while(lambda: simulation.do("u", "clock"))
        self.assertRegex(line, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}  step +-  +\d+ B  +\S+( \S+)?  \S+\n$")
        self.assertEqual(watching.end(signal.SIGINT), (130, ""))

    def test_tells_of_steps_and_of_what_is_in_a_group(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "ocean", "--json", "--interval", "20ms")
        step = iter(range(1, 1000))
        news = watching.news_while(lambda: simulation.do("clock", f"step {next(step)}"))
        self.assertEqual(news["id"], "ocean/u")
        self.assertGreaterEqual(news["step"], 1)

    def test_tells_once_of_each_step_that_was_committed(self) -> None:
        # "`watch` shows "erased" thrice for each look and misses steps."
        simulation = self.simulate()
        watching = self.watch(self.pool, "--json", "--interval", "20ms")
        step = iter(range(1, 1000))
        told = []
        while len(told) < 3:
            news = watching.news_while(lambda: simulation.do(f"step {next(step)}"))
            told += [news["step"]] if news["event"] == "committed" else []
        self.assertEqual(told, sorted(set(told)))

    def test_tells_what_is_erased_and_waits_for_what_comes(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "clock", "--json")
        self.assertEqual(watching.news_while(lambda: simulation.do("clock"))["event"], "stored")
        simulation.do("erase clock")
        events = [watching.news_while(lambda: None)["event"]]
        while events[-1] != "erased":  # there may have been news of several stores
            events.append(watching.news_while(lambda: None)["event"])
        self.assertEqual(set(events[:-1]) - {"stored"}, set())
        self.assertEqual(watching.news_while(lambda: simulation.do("clock"))["event"], "stored")

    def test_ends_in_time(self) -> None:
        self.assertEqual(self.text("watch", self.pool, "answer", "--timeout", "0.2"), "")
        self.assertEqual(self.text("watch", self.pool, "--timeout", "200ms", "--interval", "50ms"), "")
        self.assertEqual(self.text("watch", self.pool, "answer", "--timeout", "0.2", "--count", 1, status=1), "")
        self.refused(2, "watch", self.pool, "--timeout", "soon")
        self.refused(2, "watch", self.pool, "--interval", "1ms")
        self.refused(1, "watch", self.folder / "none")

    def test_ends_by_signals(self) -> None:
        simulation = self.simulate()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            watching = self.watch(self.pool, "clock")
            watching.line_while(lambda: simulation.do("clock"))
            self.assertEqual(watching.end(number), (128 + number, ""))

    def test_survives_the_death_of_who_stores(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "ocean/u", "--json")
        watching.news_while(lambda: simulation.do("u"))
        simulation.kill()
        simulation = self.simulate()
        self.assertEqual(watching.news_while(lambda: simulation.do("u"))["id"], "ocean/u")
        self.assertEqual(watching.end(), (143, ""))

    def test_goes_on_with_another_pool_in_the_place_of_the_first(self) -> None:
        for arguments in (("clock",), ("--interval", "20ms")):
            pool = self.folder / "young"
            simulation = self.simulate(pool)
            watching = self.watch(pool, *arguments, "--json")
            watching.news_while(lambda s=simulation: s.do("clock"))
            simulation.end()
            pool.unlink()
            event = ""
            while event != "gone":
                event = watching.news_while(lambda: None)["event"]
            simulation = self.simulate(pool)
            events = []
            while "stored" not in events:
                events.append(watching.news_while(lambda s=simulation: s.do("clock"))["event"])
            self.assertEqual(events[0], "replaced")
            simulation.end()
            self.assertEqual(watching.end()[0], 143)
            pool.unlink()

    def test_lets_go_of_what_is_gone(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "clock")
        watching.line_while(lambda: simulation.do("clock"))
        simulation.end()
        self.pool.unlink()
        maps = Path(f"/proc/{watching.process.pid}/maps")
        end = time.monotonic() + PATIENCE
        while str(self.pool) in maps.read_text():
            self.assertLess(time.monotonic(), end, "the pool is still mapped")
            time.sleep(0.05)
        self.assertIn("is gone", watching.end()[1])

    def test_ends_when_the_pool_is_cut_short(self) -> None:
        watching = self.watch(self.pool, "--interval", "20ms")
        simulation = self.simulate()
        watching.line_while(lambda: simulation.do("u"))
        simulation.kill()
        os.truncate(self.pool, 4096)
        _, said = watching.process.communicate(timeout=PATIENCE)
        self.assertIn(watching.process.returncode, (5, 6))
        self.assertTrue(said.startswith("pmemcpy: "), said)

    def test_draws_a_table_on_a_terminal(self) -> None:
        simulation = self.simulate()
        terminal = Terminal("watch", self.pool, "--interval", "50ms")
        terminal.wait_for(b"q: quit")
        terminal.wait_for(b"KiB/s", lambda: simulation.do("u"))
        drawn = b"\033[H"
        terminal.wait_for(drawn, times=terminal.seen.count(drawn) + 1)  # so that the one before is there to its end
        newest = terminal.seen.split(drawn)[-2]
        self.assertLess(newest.index(b"ocean/u"), newest.index(b"answer"))
        self.assertEqual(terminal.end(b"q"), 0)
        self.assertTrue(terminal.seen.endswith(b"\033[?1049l"), terminal.seen[-40:])

    def test_draws_nothing_into_a_pipe(self) -> None:
        self.assertNotIn("\033", self.text("watch", self.pool, "--interval", "20ms", "--timeout", "0.1"))


class Top(Following):
    def test_shows_who_has_the_pool_open(self) -> None:
        simulation = self.simulate()
        watching = self.watch(self.pool, "clock")
        watching.line_while(lambda: simulation.do("clock"))
        top = self.json("top", self.pool)
        modes = {process["pid"]: process["mode"] for process in top["processes"]}
        self.assertEqual(modes, {simulation.process.pid: "write", watching.process.pid: "read"})
        self.assertGreater(top["used_bytes"], 0)
        self.assertLessEqual(top["used_bytes"], top["max_bytes"])
        text = self.text("top", self.pool)
        self.assertRegex(text, rf"{simulation.process.pid}  \S+ +writing .*{Path(SIMULATE).name}")
        self.assertIn("attached: 1 for writing, 1 for reading", text)
        self.assertEqual(self.text("top", self.pool, "--once").splitlines()[0], text.splitlines()[0])

    def test_shows_a_pool_that_nobody_has_open(self) -> None:
        self.assertEqual(self.json("top", self.pool)["processes"], [])
        self.assertIn("attached: 0 for writing", self.text("top", self.pool))
        directory = f"{self.folder}/directory/"
        self.text("create", directory, "--size", "64MiB")
        simulation = self.simulate(Path(directory))
        pids = [process["pid"] for process in self.json("top", directory)["processes"]]
        self.assertEqual(pids, [simulation.process.pid])

    def test_is_drawn_anew_on_a_terminal(self) -> None:
        simulation = self.simulate()
        step = iter(range(1, 1000))
        for keys, status in ((b"q", 0), (b"\x03", 130)):
            terminal = Terminal("top", self.pool, "--interval", "50ms")
            terminal.wait_for(b"/s)", lambda: simulation.do(f"step {next(step)}"))
            terminal.wait_for(b"in use")
            self.assertEqual(terminal.end(keys), status)
            self.assertTrue(terminal.seen.endswith(b"\033[?1049l"), terminal.seen[-40:])

    def test_waits_for_a_pool_that_is_gone(self) -> None:
        terminal = Terminal("top", self.pool, "--interval", "50ms")
        terminal.wait_for(b"in use")
        self.pool.unlink()
        terminal.wait_for(b"is gone")
        self.assertEqual(terminal.end(b"q"), 0)

    def test_takes_no_interval_for_one_look(self) -> None:
        self.assertIn("--interval", self.refused(2, "top", self.pool, "--once", "--interval", "1"))
        self.refused(1, "top", self.folder / "none")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

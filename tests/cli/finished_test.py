#!/usr/bin/env python3
"""Finished files in the flush target: as the command is told of them, and as other programs find them.

usage: finished_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

from with_pool import PMEMCPY, WithPool, main

SPEED = "{bandwidth: 1 GB/s, latency: 1 us}"


class WithFlushTarget(WithPool):
    """The pool has a flush target, in which files are finished."""

    def setUp(self) -> None:
        super().setUp()
        # By this name it is looked for in PATH.
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "pmemcpy").symlink_to(Path(PMEMCPY).resolve())
        before = os.environ["PATH"]
        self.addCleanup(os.environ.__setitem__, "PATH", before)
        os.environ["PATH"] = f"{programs}:{before}"
        self.below = self.folder / "pfs"
        self.below.mkdir()
        self.files = self.below / f"{self.pool.name}.finished"

    def set_hierarchy(self, flush: str, pool: Path | None = None) -> None:
        path = self.folder / "hierarchy.yaml"
        path.write_text(
            f"targets:\n  - {{name: pool, kind: tmpfs, write: {SPEED}, read: {SPEED}}}\n"
            f"  - {{name: pfs, kind: shared, path: {self.below}, write: {SPEED}, read: {SPEED}}}\n"
            f"mode: none\nflush: {{{flush}}}\n"
        )
        self.text("tiers", pool or self.pool, path)

    def names(self) -> list[str]:
        """Of finished files, without what is kept beside them."""
        return sorted(each.name for each in self.files.iterdir() if each.suffix) if self.files.exists() else []


class Finished(WithFlushTarget):
    def test_each_variable_and_group_at_the_top_is_a_file_of_its_own(self) -> None:
        self.set_hierarchy("as: zarr, on: exit")
        self.text("drain", self.pool)
        tops = sorted({line.split("/")[0] for line in self.text("ls", self.pool, "-r").split("\n") if line})
        self.assertEqual(self.names(), [f"{top}.zarr" for top in sorted(t.split()[0] for t in tops)])
        back = self.folder / "back.pmem"
        self.text("import", self.files / "ocean.zarr", back)
        self.assertEqual(self.text("cat", back, "TEMP"), self.text("cat", self.pool, "ocean/TEMP"))

    def test_what_has_not_changed_is_not_written_again(self) -> None:
        self.set_hierarchy("as: hdf5, on: exit")
        self.text("drain", self.pool)
        times = {each: each.stat().st_mtime_ns for each in self.files.glob("*.h5")}
        self.text("stage", self.pool, "ocean", "pfs")  # where it lies makes no difference
        self.text("drain", self.pool)
        self.assertEqual({each: each.stat().st_mtime_ns for each in self.files.glob("*.h5")}, times)
        self.text("rm", self.pool, "answer")
        self.text("mv", f"{self.pool}:line", f"{self.pool}:ocean/line")
        self.text("drain", self.pool)
        changed = {each.stem for each in times if each.stat().st_mtime_ns != times[each]}
        self.assertEqual(changed, {"ocean"})
        self.assertIn("answer.h5", self.names())  # what is erased in the pool stays where it was taken

    def test_closing_leaves_them_where_that_is_a_trigger(self) -> None:
        self.set_hierarchy("as: hdf5, on: exit")
        self.text("cp", f"{self.pool}:line", f"{self.pool}:another")
        self.assertIn("another.h5", self.names())
        back = self.folder / "back.pmem"
        self.text("import", self.files / "another.h5", back)
        self.assertEqual(self.text("cat", back, "another"), self.text("cat", self.pool, "line"))

    def test_the_background_finishes_what_is_quiet(self) -> None:
        self.set_hierarchy("as: zarr, every: 0.2 s")
        daemon = subprocess.Popen([PMEMCPY, "daemon", str(self.pool)], stderr=subprocess.PIPE)
        try:
            end = time.monotonic() + 60
            while "ocean.zarr" not in self.names():
                self.assertLess(time.monotonic(), end)
                self.assertIsNone(daemon.poll())
                time.sleep(0.05)
        finally:
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(timeout=60)
            daemon.stderr.close()

    def test_what_a_killed_program_has_left_goes(self) -> None:
        self.set_hierarchy("as: zarr, on: exit")
        self.text("drain", self.pool)
        part = self.files / "ocean.zarr.partAbCdEf"
        part.mkdir()
        (part / ".pmemcpy-export").touch()
        (part / "ocean.zarr").write_text("{}")
        self.text("cp", f"{self.pool}:line", f"{self.pool}:another")
        self.assertFalse(part.exists())

    def test_a_file_is_whole_whoever_is_killed_when(self) -> None:
        """Killed at moments drawn at random, each on what the one before has left; with the program that it runs, and
        without."""
        self.set_hierarchy("as: hdf5, every: 1000 s")
        random.seed(1)
        line = self.text("cat", self.pool, "line")
        for kill in range(24):
            self.text("cp", f"{self.pool}:line", f"{self.pool}:line{kill}")
            drain = subprocess.Popen([PMEMCPY, "drain", str(self.pool)], start_new_session=True)
            time.sleep(random.uniform(0, 0.15))
            if kill % 2:
                os.killpg(drain.pid, signal.SIGKILL)
            else:
                drain.kill()
            drain.wait()
            if kill % 6 == 5:
                self.assert_whole(line)
        self.text("drain", self.pool)
        self.assertEqual(self.assert_whole(line), 25)
        self.assertEqual([each for each in self.files.iterdir() if ".part" in each.name], [])

    def assert_whole(self, line: str) -> int:
        """Each file of a line that has its name; returns how many there are."""
        files = list(self.files.glob("line*.h5")) if self.files.exists() else []
        for file in files:
            back = self.folder / "back.pmem"
            self.text("import", file, back)
            self.assertEqual(self.text("cat", back, file.stem), line)
            back.unlink()
        return len(files)

    def test_trouble_is_told_and_keeps_nobody_from_the_others(self) -> None:
        (self.files / "line.h5").mkdir(parents=True)
        self.set_hierarchy("as: hdf5, on: close")
        self.assertIn("finishing 'line'", self.refused(6, "drain", self.pool))
        self.assertIn("ocean.h5", self.names())
        self.assertIn("finishing 'line'", self.text("info", self.pool))
        (self.files / "line.h5").rmdir()
        self.text("drain", self.pool)
        self.assertNotIn("finishing", self.text("info", self.pool))

    def test_without_the_program_in_path_it_says_so(self) -> None:
        os.environ["PATH"] = "/nonexistent"
        self.set_hierarchy("as: hdf5, on: exit")
        self.assertIn("no such program in PATH", self.refused(6, "drain", self.pool))

    def test_another_pool_of_that_name_keeps_its_files(self) -> None:
        self.set_hierarchy("as: hdf5, on: exit")
        self.text("drain", self.pool)
        other = self.folder / "elsewhere" / self.pool.name
        other.parent.mkdir()
        self.text("create", other)
        self.text("cp", f"{self.pool}:line", f"{other}:line")
        self.set_hierarchy("as: hdf5, on: exit", other)
        self.assertIn(str(self.pool), self.refused(7, "drain", other))

    def test_odd_formats_are_refused(self) -> None:
        with self.assertRaises(AssertionError) as refused:
            self.set_hierarchy("as: npy")
        self.assertIn("hdf5, netcdf or zarr", str(refused.exception))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A hierarchy under a pool, as the command sets and shows it; what it does is tested in tests/conformance.

usage: tiers_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import signal
import subprocess
import time
from pathlib import Path

from with_pool import PMEMCPY, WithPool, main

SPEEDS = "write: {bandwidth: %s, latency: 1 us}, read: {bandwidth: %s, latency: 1 us}"


class Tiers(WithPool):
    def hierarchy(self, **changes: str) -> str:
        below = Path(self.pool).parent / "below"
        below.mkdir(exist_ok=True)
        fast, slow = SPEEDS % ("8 GB/s", "8 GB/s"), SPEEDS % (changes.get("slow", "1 GB/s"), "1 GB/s")
        path = Path(self.pool).parent / "hierarchy.yaml"
        path.write_text(
            f"targets:\n  - {{name: pool, kind: tmpfs, {fast}}}\n"
            f"  - {{name: nvme, kind: {changes.get('kind', 'file')}, path: {changes.get('path', below)}, {slow}}}\n"
        )
        return str(path)

    def test_a_pool_without_one_has_itself(self) -> None:
        self.assertIn("the pool", self.text("tiers", self.pool))
        self.assertIsNone(self.json("tiers", self.pool)["policy"])
        self.assertIn("has no hierarchy", self.refused(2, "stage", self.pool, "/", "nvme"))

    def test_is_set_shown_followed_and_taken_away(self) -> None:
        self.assertEqual(self.text("tiers", self.pool, self.hierarchy()), "")
        known = self.json("tiers", self.pool)
        self.assertEqual((known["policy"], [t["name"] for t in known["targets"]]), ("max-bandwidth", ["pool", "nvme"]))
        self.assertIn("latency: 1 us", self.text("tiers", self.pool, "--yaml"))
        before = self.text("cat", self.pool, "ocean/TEMP")
        self.assertGreater(self.json("stage", self.pool, "ocean", "nvme")["moved_bytes"], 0)
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP"), before)
        self.assertEqual(self.text("verify", self.pool).count("damaged"), 0)
        self.assertGreater(self.json("tiers", self.pool)["targets"][1]["used_bytes"], 0)
        self.assertIn("holds blocks of", self.refused(7, "tiers", self.pool, "--remove"))
        self.text("stage", self.pool, "/", "pool")
        self.text("tiers", self.pool, "--remove")
        self.assertEqual(self.text("cat", self.pool, "ocean/TEMP"), before)

    def test_a_pool_may_be_made_on_several_devices(self) -> None:
        there = Path(self.pool).parent
        (there / "a").mkdir()
        (there / "b").mkdir()
        path = str(there / "joined.pmem")
        said = self.text("create", path, "--size", "32M", "--on", str(there / "a"), "--on", str(there / "b"))
        self.assertIn(f"and on {there / 'a'}\n", said)
        known = self.json("tiers", path)
        names = [target["name"] for target in known["targets"]]
        self.assertEqual((known["policy"], names), ("user-defined", ["pool", str(there / "a"), str(there / "b")]))
        self.text("cp", f"{self.pool}:ocean", f"{path}:ocean")
        self.text("stage", path, "ocean", str(there / "b"))
        self.assertEqual(self.text("cat", path, "ocean/TEMP"), self.text("cat", self.pool, "ocean/TEMP"))
        for words in (("--on", str(there / "missing")), ("--on", str(there / "a"), "--on", str(there / "a"))):
            self.refused(2, "create", str(there / "new.pmem"), *words)
            self.assertFalse((there / "new.pmem").exists())
        self.refused(8, "create", str(there / "new") + "/", "--on", str(there / "a"))
        self.assertFalse((there / "new").exists())

    def test_is_drained_and_says_what_survives(self) -> None:
        self.assertIn("no target to flush to", self.refused(2, "drain", self.pool))
        path = self.hierarchy(kind="shared")
        Path(path).write_text(Path(path).read_text() + "mode: none\n")
        self.text("tiers", self.pool, path)
        receipts = self.json("receipt", self.pool, "ocean/TEMP")
        self.assertEqual({r["is_flushed"] for r in receipts}, {False})
        self.assertIn("pool", self.text("receipt", self.pool, "ocean/TEMP"))
        self.assertGreater(self.json("drain", self.pool, "ocean")["flushed_bytes"], 0)
        self.assertEqual(self.json("drain", self.pool, "ocean")["flushed_bytes"], 0)
        receipts = self.json("receipt", self.pool, "ocean/TEMP")
        self.assertEqual({(r["is_flushed"], r["target"]) for r in receipts}, {(True, "pool")})
        self.assertEqual(self.json("tiers", self.pool)["unflushed_blocks"], 0)
        self.assertIn("nothing", self.refused(1, "receipt", self.pool, "nothing"))

    def test_flushes_by_itself(self) -> None:
        path = self.hierarchy()
        Path(path).write_text(Path(path).read_text() + "flush: {every: 50 ms, on: [period, close]}\n")
        self.text("tiers", self.pool, path)
        self.assertEqual(self.json("tiers", self.pool)["unflushed_blocks"], 0)
        self.assertNotIn("not flushed", self.text("tiers", self.pool))

    def test_a_daemon_does_the_work_until_it_is_told_to_end(self) -> None:
        path = self.hierarchy()
        self.text("tiers", self.pool, path)
        self.assertIn("names no processors", self.refused(2, "daemon", self.pool, "--cores", "none"))
        with subprocess.Popen([PMEMCPY, "daemon", self.pool, "--cores", "0-63"], stderr=subprocess.PIPE) as daemon:
            while self.json("tiers", self.pool)["unflushed_blocks"] > 0:
                self.assertIsNone(daemon.poll())
                time.sleep(0.01)
            self.assertIn("has an organizer already", self.refused(7, "daemon", self.pool))
            daemon.terminate()
            self.assertEqual(daemon.wait(), 128 + signal.SIGTERM)
            self.assertEqual(daemon.stderr.read(), b"")

    def test_a_mode_is_set_of_what_a_glob_matches_and_told(self) -> None:
        path = self.hierarchy()
        Path(path).write_text(Path(path).read_text() + "mode: none\nflush: {on: exit}\n")
        self.assertIn("has no hierarchy", self.refused(2, "tiers", self.pool, "--mode", "ocean/**=none"))
        self.text("tiers", self.pool, path)
        self.assertEqual(self.json("info", self.pool)["mode"], "none")
        self.assertEqual(self.json("info", self.pool)["unflushed_bytes"], 0)
        self.assertEqual(self.json("tiers", self.pool)["flush_on"], ["exit"])
        self.assertIn("nothing", self.text("info", self.pool))
        self.text("tiers", self.pool, "--mode", "ocean/**=write-back")
        self.assertEqual(self.json("tiers", self.pool)["unflushed_blocks"], 0)  # whoever set it was the last to leave
        self.text("tiers", self.pool, "--mode", "/=scratch")
        receipts = self.json("receipt", self.pool, "ocean/TEMP")
        self.assertEqual({r["mode"] for r in receipts}, {"write-back"})
        self.assertIn('match: "ocean/**"', self.text("tiers", self.pool, "--yaml"))
        self.assertEqual({i.split("/")[0] for i in self.text("ls", self.pool, "-r").split()} & {"ocean"}, {"ocean"})
        self.assertIn("'never' is no mode", self.refused(2, "tiers", self.pool, "--mode", "u=never"))
        self.assertIn("not of the form", self.refused(2, "tiers", self.pool, "--mode", "u"))
        self.assertIn("either a FILE", self.refused(2, "tiers", self.pool, "--mode", "u=none", "--remove"))

    def test_who_else_uses_a_target_is_shown(self) -> None:
        path = Path(self.hierarchy())
        path.write_text(path.read_text().replace("kind: file,", "kind: file, share: 3, together: 64 MiB,"))
        self.text("tiers", self.pool, str(path))
        self.assertNotIn("is shared", self.text("tiers", self.pool))
        other = str(Path(self.pool).parent / "other.pmem")
        self.text("create", other)
        self.text("cp", f"{self.pool}:ocean", f"{other}:ocean")
        self.text("tiers", other, str(path))
        self.text("stage", other, "ocean", "nvme")
        below = self.json("tiers", self.pool)["targets"][1]
        self.assertEqual((below["share"], below["together_bytes"]), (3, 64 << 20))
        self.assertEqual([o["pool"] for o in below["others"]], [str(Path(other).resolve())])
        self.assertGreater(below["others"][0]["used_bytes"], 0)
        self.assertFalse(below["others"][0]["is_open"])
        self.assertIn("other.pmem has", self.text("tiers", self.pool))
        self.assertIn("share 3, not open", self.text("tiers", self.pool))
        self.assertIn("1 other pools, in its targets", self.text("info", self.pool))
        self.assertEqual(self.json("info", self.pool)["shared_with"], 1)
        path.write_text(path.read_text().replace("share: 3", "share: 0"))
        self.assertIn("line 3: a share is", self.refused(2, "tiers", self.pool, str(path)))

    def test_a_pool_that_is_lost_is_made_again_of_what_was_flushed(self) -> None:
        self.text("tiers", self.pool, self.hierarchy())
        self.text("drain", self.pool)
        before = {id: self.text("cat", self.pool, id) for id in ("ocean/TEMP", "answer", "settings", "list")}
        below = Path(self.pool).parent / "below"
        new = self.folder / "again"
        self.assertIn("belongs to the pool", self.refused(7, "rebuild", new, below))
        Path(self.pool).unlink()
        known = self.json("rebuild", new, below)
        self.assertEqual((known["lost"], known["hierarchy_trouble"]), (str(self.pool), ""))
        self.assertGreater(known["blocks"], 0)
        self.assertEqual(known["damage"], [])
        self.assertEqual({id: self.text("cat", new, id) for id in before}, before)
        self.assertEqual(self.json("tiers", new)["policy"], "max-bandwidth")
        self.assertIn("already", self.refused(3, "rebuild", new, below))
        self.assertIn(
            "nothing was flushed",
            self.refused(1, "rebuild", self.folder / "third", self.folder),
        )

    def test_a_rebuilt_pool_may_be_larger_and_have_another_hierarchy(self) -> None:
        path = self.hierarchy()
        self.text("tiers", self.pool, path)
        self.text("drain", self.pool)
        Path(self.pool).unlink()
        Path(path).write_text(Path(path).read_text() + "mode: none\n")
        new = self.folder / "again"
        known = self.json(
            "rebuild",
            new,
            Path(self.pool).parent / "below",
            "--hierarchy",
            path,
            "--size",
            "1 GiB",
        )
        self.assertEqual(known["hierarchy_trouble"], "")
        self.assertEqual(
            (self.json("tiers", new)["mode"], self.json("info", new)["max_bytes"]),
            ("none", 1 << 30),
        )

    def test_what_is_flushed_is_handed_to_a_command(self) -> None:
        Path(self.pool).chmod(0o600)
        path = self.hierarchy()
        ready, archive = self.folder / "ready", self.folder / "archive"
        archive.mkdir()
        stager = self.folder / "stager"
        stager.write_text(f"#!/bin/sh\n[ -e {ready} ] || {{ echo no tape >&2; exit 3; }}\ncp $1 {archive}/\n")
        stager.chmod(0o755)
        Path(path).write_text(Path(path).read_text() + f"mode: none\nflush: {{command: '{stager} {{file}}'}}\n")
        self.text("tiers", self.pool, path)
        self.assertIn("no tape", self.refused(6, "drain", self.pool))
        self.assertIn(
            "exit code 3: no tape",
            self.json("tiers", self.pool)["targets"][1]["command_trouble"],
        )
        self.assertIn("not handed over", self.text("info", self.pool))
        self.assertGreater(self.json("tiers", self.pool)["unstaged_files"], 0)
        self.assertIn("not handed to the command", self.text("tiers", self.pool))
        ready.touch()
        self.text("drain", self.pool)
        self.assertEqual(self.json("tiers", self.pool)["unstaged_files"], 0)
        self.assertEqual(
            {r["is_staged"] for r in self.json("receipt", self.pool, "ocean/TEMP")},
            {True},
        )
        self.assertIn("handed over", self.text("receipt", self.pool, "ocean/TEMP"))
        self.assertEqual(self.json("info", self.pool)["command_trouble"], "")
        self.assertIn(
            "there are {file}",
            self.refused(2, "tiers", self.pool, self.with_command(path, "put {fiel}")),
        )

    @staticmethod
    def with_command(path: str, command: str) -> str:
        other = Path(path).with_name("other.yaml")
        other.write_text(Path(path).read_text().partition("flush:")[0] + f"flush: {{command: '{command}'}}\n")
        return str(other)

    def test_mistakes_are_named(self) -> None:
        self.assertIn("line 3", self.refused(2, "tiers", self.pool, self.hierarchy(kind="floppy")))
        path = self.hierarchy()
        Path(path).write_text(Path(path).read_text() + "mode: sometimes\n")
        self.assertIn("'sometimes' is no mode", self.refused(2, "tiers", self.pool, path))
        self.assertIn("is faster to write", self.refused(2, "tiers", self.pool, self.hierarchy(slow="9 GB/s")))
        self.assertIn("no directory", self.refused(1, "tiers", self.pool, self.hierarchy(path="/nowhere/at/all")))
        self.assertIn("no hierarchy at", self.refused(1, "tiers", self.pool, "nothing.yaml"))


if __name__ == "__main__":
    main()

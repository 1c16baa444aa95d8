#!/usr/bin/env python3
"""Copy and move with the real command, between pools and inside of one.

usage: copy_test.py PMEMCPY FILL SIMULATE [unittest arguments]
"""

import json
import signal
import struct
import subprocess
import sys
import unittest
from pathlib import Path

from follow_test import Simulation, interruptible
from with_pool import IDS, PMEMCPY, TEMP, WithPool, run

MANY = 5000  # variables: as many as take longer to copy than to look once


class WithTwo(WithPool):
    """Besides the pool that fill.cpp made, an empty one."""

    def setUp(self) -> None:
        super().setUp()
        self.other = self.folder / "other"
        self.text("create", self.other, "--size", "64MiB", "--chunk", "64KiB")

    def ids(self, pool: Path) -> list[str]:
        return self.text("ls", pool).split()

    def described(self, pool: Path, id: str) -> dict:
        """All that info tells, but for what a copy has its own of."""
        info = self.json("info", pool, id)
        for block in info.get("blocks", []):
            for own in ("version", "written_ns", "writer_pid", "step"):
                del block[own]
        own_keys = ("written_ns", "created_ns", "creator", "stored_bytes", "step")
        return {key: value for key, value in info.items() if key not in own_keys}

    def raw(self, pool: Path, id: str, *arguments: str) -> bytes:
        done = run("cat", "--raw", pool, id, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Cp(WithTwo):
    def test_copies_a_whole_pool(self) -> None:
        self.assertEqual(self.text("cp", self.pool, self.other), "")
        self.assertEqual(self.ids(self.other), IDS)
        for id in IDS:
            self.assertEqual(self.described(self.pool, id), self.described(self.other, id), id)
            if id != "hole":
                self.assertEqual(self.raw(self.pool, id), self.raw(self.other, id), id)
        self.assertEqual(self.json("info", self.other, "ocean")["attributes"]["title"]["value"], "test")
        self.assertEqual(self.json("verify", self.other)["damage"], [])

    def test_copies_one_variable(self) -> None:
        self.text("cp", f"{self.pool}:ocean/TEMP", self.other)
        self.text("cp", f"{self.pool}:ocean/TEMP", f"{self.other}:t")
        self.text("cp", f"{self.pool}:ocean/TEMP", f"{self.pool}:answer", f"{self.other}:group/")
        self.assertEqual(self.ids(self.other), ["group/TEMP", "group/answer", "ocean/TEMP", "t"])
        self.assertEqual(struct.unpack("=24d", self.raw(self.other, "t")), tuple(x for row in TEMP for x in row))

    def test_copies_a_group(self) -> None:
        self.text("cp", f"{self.pool}:ocean", f"{self.other}:sea")
        self.assertEqual(self.ids(self.other), ["sea/TEMP"])
        self.assertEqual(self.json("info", self.other, "sea")["attributes"]["title"]["value"], "test")

    def test_copies_and_moves_an_empty_group(self) -> None:
        self.text("rm", self.pool, "ocean/TEMP")
        self.text("cp", f"{self.pool}:ocean", f"{self.other}:dry/sea")
        self.assertEqual(self.json("info", self.other, "dry/sea")["attributes"]["title"]["value"], "test")
        self.text("mv", f"{self.pool}:ocean", f"{self.other}:moved/")
        self.assertEqual(self.json("info", self.other, "moved/ocean")["kind"], "group")
        self.assertNotIn("ocean", self.json("ls", "-g", self.pool))

    def test_copies_inside_a_pool(self) -> None:
        self.text("cp", f"{self.pool}:line", f"{self.pool}:copies/line")
        self.assertEqual(self.raw(self.pool, "line"), self.raw(self.pool, "copies/line"))
        self.assertIn("itself", self.refused(2, "cp", "-f", f"{self.pool}:line", self.pool))

    def test_makes_the_pool_when_asked(self) -> None:
        new = self.folder / "new:12"
        self.assertIn("new:12", self.refused(1, "cp", self.pool, new))
        self.text("cp", self.pool, new, "--create", "--size", "32MiB")
        self.assertEqual(self.ids(new), IDS)
        self.assertEqual(self.json("info", new)["max_bytes"], 32 << 20)
        self.text("cp", f"{new}:answer", f"{self.other}:by:colons")
        self.assertEqual(self.ids(self.other), ["by:colons"])
        self.refused(3, "cp", self.pool, new, "--create")
        self.assertIn("--create", self.refused(2, "cp", self.pool, new, "--size", "1MiB"))

    def test_into_a_directory_and_out_of_it(self) -> None:
        directory = f"{self.folder}/directory/"
        self.text("cp", self.pool, directory, "--create", "--size", "64MiB")
        self.assertEqual(struct.unpack("=1000q", Path(directory, "line").read_bytes()), tuple(range(1000)))
        self.text("cp", directory, self.other)
        self.assertEqual(self.ids(self.other), IDS)
        self.assertEqual(self.raw(self.other, "columns"), self.raw(self.pool, "columns"))

    def test_replaces_only_by_force_and_says_so_before_it_begins(self) -> None:
        self.text("cp", f"{self.pool}:name", self.other)
        said = self.refused(3, "cp", self.pool, self.other)
        self.assertIn("--force", said)
        self.assertEqual(self.ids(self.other), ["name"])
        self.text("cp", "-f", f"{self.pool}:answer", f"{self.other}:name")
        self.assertEqual(self.text("cat", self.other, "name"), "42\n")
        self.text("cp", self.pool, self.other, "--force")
        self.assertEqual(self.text("cat", self.other, "name"), "ocean\n")
        self.refused(3, "cp", "-f", f"{self.pool}:answer", f"{self.other}:ocean")  # a group

    def test_refuses_what_makes_no_sense(self) -> None:
        self.assertIn("where to", self.refused(2, "cp", self.pool))
        self.refused(1, "cp", f"{self.pool}:nobody", self.other)
        self.refused(1, "cp", f"{self.folder}/none:x", self.other)
        self.refused(2, "cp", self.pool, f"{self.other}:one-name")
        self.refused(2, "cp", f"{self.pool}:answer", f"{self.pool}:name", f"{self.other}:one-name")
        self.refused(2, "cp", f"{self.pool}:answer", f"{self.other}:a//b")
        self.assertEqual(self.ids(self.other), [])

    def test_tells_in_json_what_it_did(self) -> None:
        done = self.json("cp", f"{self.pool}:answer", f"{self.other}:x")
        self.assertEqual(done, {"copied": [{"from": "answer", "to": "x", "bytes": 4}]})

    def test_does_not_copy_damage(self) -> None:
        image = bytearray(self.pool.read_bytes())
        image[image.index(struct.pack("=6d", *TEMP[2]))] ^= 1
        self.pool.write_bytes(image)
        self.refused(5, "cp", f"{self.pool}:ocean/TEMP", self.other)
        self.assertEqual(self.ids(self.other), [])

    def test_leaves_nothing_behind_when_the_pool_is_full(self) -> None:
        small = self.folder / "small"
        self.text("create", small, "--size", "1MiB", "--chunk", "64KiB")
        copies = 0
        while (done := run("cp", f"{self.pool}:line", f"{small}:{copies}")).returncode == 0:
            copies += 1
        self.assertEqual((done.returncode, copies > 10), (4, True), done.stderr)
        self.assertEqual(len(self.ids(small)), copies)
        self.assertFalse([id for id in self.ids(small) if id.startswith(".")])
        self.assertEqual(self.json("verify", small)["damage"], [])


class Mv(WithTwo):
    def test_gives_another_name(self) -> None:
        self.text("mv", f"{self.pool}:answer", f"{self.pool}:reply")
        self.assertNotIn("answer", self.ids(self.pool))
        self.assertEqual(self.text("cat", self.pool, "reply"), "42\n")
        self.refused(3, "mv", f"{self.pool}:reply", f"{self.pool}:name")
        self.text("mv", "-f", f"{self.pool}:reply", f"{self.pool}:name")
        self.assertEqual(self.text("cat", self.pool, "name"), "42\n")

    def test_moves_a_group_with_its_attributes(self) -> None:
        self.text("mv", f"{self.pool}:ocean", f"{self.pool}:world/")
        groups = self.json("ls", "-g", self.pool)
        self.assertNotIn("ocean", groups)
        self.assertIn("world/ocean/TEMP", groups)
        self.assertEqual(self.json("info", self.pool, "world/ocean")["attributes"]["title"]["value"], "test")

    def test_moves_to_another_pool(self) -> None:
        temp = self.raw(self.pool, "ocean/TEMP")
        moved = self.json("mv", f"{self.pool}:ocean", f"{self.pool}:list", self.other)["moved"]
        self.assertEqual([entry["to"] for entry in moved], ["ocean/TEMP", "list"])
        self.assertEqual(self.ids(self.other), ["list", "ocean/TEMP"])
        self.assertFalse({"list", "ocean/TEMP", "ocean"} & set(self.json("ls", "-g", self.pool)))
        self.assertEqual(self.raw(self.other, "ocean/TEMP"), temp)

    def test_moves_what_a_killed_one_has_set_aside(self) -> None:
        temp = self.raw(self.pool, "ocean/TEMP")
        self.text("mv", f"{self.pool}:ocean/TEMP", f"{self.pool}:ocean/.moved-17-TEMP")
        self.text("mv", f"{self.pool}:ocean/TEMP", self.other)
        self.assertEqual(self.ids(self.other), ["ocean/TEMP"])
        self.assertEqual(self.raw(self.other, "ocean/TEMP"), temp)
        self.text("mv", f"{self.pool}:answer", f"{self.pool}:.moved-17-answer")
        self.text("mv", f"{self.pool}:answer", f"{self.pool}:reply")
        self.assertEqual(self.text("cat", self.pool, "reply"), "42\n")

    def test_keeps_what_cannot_be_moved(self) -> None:
        self.assertIn("shell's mv", self.refused(2, "mv", self.pool, self.other))
        self.refused(1, "mv", f"{self.pool}:nobody", self.other)
        self.refused(2, "mv", f"{self.pool}:answer", f"{self.pool}:answer")
        self.text("cp", f"{self.pool}:name", self.other)
        self.refused(3, "mv", f"{self.pool}:name", self.other)
        self.assertEqual(self.ids(self.pool), IDS)


class Interrupted(WithTwo):
    def test_a_copy_that_is_told_to_stop_leaves_nothing_half_done(self) -> None:
        source = self.folder / "source"
        simulation = Simulation(source)
        simulation.do(f"many {MANY}")
        simulation.end()
        process = subprocess.Popen(
            [PMEMCPY, "cp", source, self.other, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=interruptible,
        )
        while not self.ids(self.other) and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        copied = [entry["to"] for entry in json.loads(out)["copied"]]
        self.assertEqual(self.ids(self.other), copied)  # and nothing that begins with .copying
        self.assertLess(len(copied), MANY)
        self.assertEqual(self.json("verify", self.other)["damage"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

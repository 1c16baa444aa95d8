#!/usr/bin/env python3
"""The places of a node measured by the command; what it does with devices of all kinds is tested in src/profiler.

usage: profile_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import shutil
from pathlib import Path

from with_pool import WithPool, main, run

QUICK = ["--size", "4MiB", "--processes", "2"]
ANY_SPEED = ["--factor", "1e9"]


class Profile(WithPool):
    def setUp(self) -> None:
        super().setUp()
        self.upper, self.lower = self.folder / "upper", self.folder / "lower place"
        self.upper.mkdir()
        self.lower.mkdir()
        self.file = self.folder / "hierarchy.yaml"

    def profile(self) -> str:
        return self.text("profile", self.upper, self.lower, "-o", self.file, *QUICK)

    def test_two_directories_give_a_file_that_tiers_accepts(self) -> None:
        self.assertIn("pool", self.profile())
        self.assertEqual(self.text("tiers", self.pool, self.file), "")
        targets = self.json("tiers", self.pool)["targets"]
        self.assertEqual(len(targets), 2)
        self.assertIn(targets[1]["path"], [str(self.upper), str(self.lower)])
        self.assertIn("measured:", self.text("tiers", self.pool, "--yaml"))
        # The pool's own folder, and the ledger of all who share the directory.
        there = Path(targets[1]["path"])
        self.assertEqual(
            sorted([*self.upper.iterdir(), *self.lower.iterdir()]),
            sorted([*there.glob("pmemcpy-ledger.*"), *there.glob("pmemcpy-*[0-9a-f]")]),
        )

    def test_leaves_nothing_behind(self) -> None:
        self.profile()
        self.assertEqual([*self.upper.iterdir(), *self.lower.iterdir()], [])

    def test_without_a_file_prints_it(self) -> None:
        text = self.text("profile", self.upper, "--pool", self.upper, *QUICK)
        self.assertTrue(text.startswith("targets:\n  - name: pool\n"), text)

    def test_as_json(self) -> None:
        found = self.json("profile", self.upper, self.folder / "missing", *QUICK)
        self.assertEqual([t["name"] for t in found["targets"]], ["pool"])
        self.assertEqual(found["targets"][0]["measured"]["at"], str(self.upper))
        self.assertGreater(found["targets"][0]["write"]["bytes_per_second"], 0)
        self.assertEqual(found["targets"][0]["measured"]["processes"], 2)
        self.assertEqual([s["path"] for s in found["set_aside"]], [str(self.folder / "missing")])

    def test_lists_the_mounts(self) -> None:
        places = self.json("profile", "--list")
        self.assertTrue(all(p["path"].startswith("/") for p in places))
        self.assertFalse([p for p in places if p["file_system"] in ("proc", "sysfs", "cgroup2")])
        self.assertIn("file system", self.text("profile", "--list"))

    def test_says_what_is_gone(self) -> None:
        self.profile()
        self.assertEqual({f["state"] for f in self.json("profile", "--check", self.file, *QUICK, *ANY_SPEED)}, {"fits"})
        shutil.rmtree(self.lower)
        ended = run("profile", "--check", self.file, *QUICK, *ANY_SPEED)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"there is no directory {self.lower}", ended.stdout.decode())
        ended = run("profile", "--check", self.file, "--json", *QUICK, *ANY_SPEED)
        self.assertEqual(sorted(f["state"] for f in json.loads(ended.stdout)), ["fits", "gone"])

    def test_measures_again_and_keeps_the_rest(self) -> None:
        self.profile()
        text = self.file.read_text().replace("policy: max-bandwidth", "policy: max-locality")
        self.file.write_text(text.replace("file_system: tmpfs", "file_system: ext2").replace("size: ", "size: 1"))
        self.text("profile", "--again", self.file, *QUICK, *ANY_SPEED)
        again = self.file.read_text()
        self.assertNotIn("ext2", again)
        self.assertIn("policy: max-locality", again)
        self.assertEqual(self.text("tiers", self.pool, self.file), "")

    def test_mistakes_are_named(self) -> None:
        self.profile()
        self.assertIn("there already", self.refused(3, "profile", self.upper, "-o", self.file))
        self.assertIn("one directory", self.refused(2, "profile", self.upper, f"{self.upper}/"))
        self.assertIn("could be measured", self.refused(2, "profile", self.folder / "missing"))
        self.assertIn("is no directory", self.refused(2, "profile", self.file))
        self.assertIn("at a time", self.refused(2, "profile", "--list", "--check", self.file))
        self.assertIn("write no file", self.refused(2, "profile", "--list", "-o", self.file))
        self.assertIn("more than none", self.refused(2, "profile", self.upper, "--time", "0s"))
        self.assertIn("no hierarchy at", self.refused(2, "profile", "--check", self.folder / "missing"))
        self.file.write_text("targets:\n  - name: pool\n    kind: tmpfs\n")
        self.assertIn("`pmemcpy profile`", self.refused(2, "tiers", self.pool, self.file))


if __name__ == "__main__":
    main()

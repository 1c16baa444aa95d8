#!/usr/bin/env python3
"""Private objects on each way out of a pool: only their owner can open the copies, and the command says so.

usage: private_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import os
import stat
from pathlib import Path

from finished_test import WithFlushTarget
from with_pool import main, run

SECRET = b"secrettitle"  # an attribute, which no format compresses


def opened_by_others(top: Path) -> list[str]:
    """The files below a directory that users but their owner get to, and that hold the secret."""
    found = []
    for path in sorted(top.iterdir()):
        if path.is_symlink() or not path.stat().st_mode & 0o077:
            continue
        if path.is_dir():
            found += opened_by_others(path)
        elif SECRET in path.read_bytes():
            found.append(str(path))
    return found


class Private(WithFlushTarget):
    def setUp(self) -> None:
        self.addCleanup(os.umask, os.umask(0o022))
        super().setUp()
        self.text("set", self.pool, "ocean/TEMP.title", SECRET.decode())
        self.text("scope", self.pool, "ocean/TEMP", "private")
        self.assertEqual(opened_by_others(self.folder), [])

    def test_every_file_that_an_export_makes_is_for_its_owner(self) -> None:
        table = [
            ("export", "ocean.h5", self.pool),
            ("export", "ocean.nc", f"{self.pool}:ocean"),
            ("export", "ocean.zarr", f"{self.pool}:ocean"),
            ("export", "ocean.npz", f"{self.pool}:ocean"),
            ("export", "TEMP.npy", f"{self.pool}:ocean/TEMP"),
            ("cat", "TEMP.txt", self.pool, "ocean/TEMP", "-o"),
            ("plot", "TEMP.png", self.pool, "ocean/TEMP", "-o"),
        ]
        for verb, name, *words in table:
            for is_there in (False, True):
                with self.subTest(verb=verb, name=name, is_there=is_there):
                    out = self.folder / name
                    more = ["--overwrite"] if is_there and verb == "export" else []
                    if is_there and out.is_file():
                        out.chmod(0o644)
                    done = run(verb, *words, out, *more)
                    if b"this build" in done.stderr:
                        self.skipTest("a format is not there")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(b"only you may open it", done.stderr)
                    mode = stat.S_IMODE(out.stat().st_mode)
                    self.assertEqual(oct(mode), oct(0o700 if out.is_dir() else 0o600))
                    self.assertEqual(opened_by_others(self.folder), [])
        report = self.json("export", self.pool, self.folder / "again.h5")
        self.assertEqual(report["private"], 1)

    # Only the array's own scope was asked for, and others could open a picture with private coordinates.
    def test_a_picture_with_private_coordinates_is_for_its_owner(self) -> None:
        shared = self.folder / "shared.png"
        self.text("cp", f"{self.pool}:line", f"{self.pool}:other")
        self.text("set", self.pool, "other._ARRAY_DIMENSIONS", '["line"]')
        self.text("plot", self.pool, "other", "-o", shared)
        self.assertEqual(stat.S_IMODE(shared.stat().st_mode), 0o644)
        self.text("scope", self.pool, "line", "private")
        out = self.folder / "private.png"
        done = run("plot", self.pool, "other", "-o", out)
        self.assertIn(b"only you may open it", done.stderr)
        self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o600)

    def test_an_export_of_what_is_shared_is_open_as_ever(self) -> None:
        out = self.folder / "shared.h5"
        done = run("export", "--only-shared", self.pool, out)
        self.assertEqual((done.returncode, stat.S_IMODE(out.stat().st_mode)), (0, 0o644), done.stderr)
        self.assertNotIn(b"only you", done.stderr)
        self.assertNotIn(SECRET, out.read_bytes())
        self.assertIn(
            "no shared 'ocean/TEMP'",
            self.refused(1, "export", "--only-shared", f"{self.pool}:ocean/TEMP", out, "--overwrite"),
        )
        self.text("export", f"{self.pool}:line", self.folder / "line.npy")
        self.assertEqual(stat.S_IMODE((self.folder / "line.npy").stat().st_mode), 0o644)
        for words in (["line"], ["name"], ["line", "--raw"]):
            self.text("cat", self.pool, *words, "-o", self.folder / "line.txt")
            self.assertEqual(stat.S_IMODE((self.folder / "line.txt").stat().st_mode), 0o644)
            self.assertEqual((self.folder / "line.txt").read_bytes(), run("cat", self.pool, *words).stdout)

    def test_copies_in_other_pools_are_private(self) -> None:
        other = self.folder / "other"
        self.text("create", other, "--size", "64MiB", "--chunk", "64KiB")
        table = [
            ("cp", f"{self.pool}:ocean/TEMP", f"{other}:copy"),
            ("cp", f"{self.pool}:ocean/TEMP", f"{self.pool}:copy"),
            ("cp", self.pool, f"{other}:all/"),
            ("cp", "--create", "--size", "64MiB", self.pool, self.folder / "made"),
            ("mv", f"{self.pool}:copy", f"{other}:moved"),
        ]
        for words in table:
            with self.subTest(words=words):
                self.text(*words)
                self.assertEqual(opened_by_others(self.folder), [])
        scopes = self.text("scope", other)
        for name in ("copy", "all/ocean/TEMP", "moved"):
            self.assertEqual(self.text("cat", other, name), self.text("cat", self.pool, "ocean/TEMP"))
            self.assertRegex(scopes, rf"(?m)^private .*{name}$|^{name}\s.*private")

    def test_a_repaired_pool_has_none_and_that_is_told(self) -> None:
        done = run("repair", self.pool, self.folder / "new")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{self.pool}.private-{os.geteuid()} holds private objects".encode(), done.stderr)
        self.assertEqual(opened_by_others(self.folder), [])

    # The program that finishes files saw them, as the user whose process ran it.
    def test_finished_files_have_none(self) -> None:
        self.set_hierarchy("as: hdf5, on: exit")
        self.text("drain", self.pool)
        self.assertIn("ocean.h5", self.names())
        self.assertEqual(opened_by_others(self.folder), [])
        for file in self.files.glob("*.h5"):
            self.assertTrue(file.stat().st_mode & 0o004, file)


if __name__ == "__main__":
    main()

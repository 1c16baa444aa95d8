"""The recipes of docs/administration.md, with the tools that an administrator has.

usage: administration_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import grp
import os
import shutil
import subprocess
from pathlib import Path

from with_pool import IDS, PMEMCPY, WithPool, main, run


def sh(*words: object) -> None:
    subprocess.run([str(word) for word in words], check=True, timeout=60)


class Copies(WithPool):
    def is_whole(self, copy: Path) -> None:
        self.assertEqual(self.text("ls", copy).split(), IDS)
        self.text("verify", copy)

    def test_by_tools_that_know_holes_take_what_the_pool_takes(self) -> None:
        copied = self.folder / "copied"
        sh("cp", "--sparse=always", self.pool, copied)
        self.is_whole(copied)
        sh("tar", "-C", self.folder, "-cSf", self.folder / "tar", "pool")
        (self.folder / "out").mkdir()
        sh("tar", "-C", self.folder / "out", "-xSf", self.folder / "tar")
        self.is_whole(self.folder / "out" / "pool")
        for copy in (copied, self.folder / "out" / "pool", self.folder / "tar"):
            self.assertLessEqual(copy.stat().st_blocks, self.pool.stat().st_blocks + 64)

    def test_moved_without_its_run_time_file_a_pool_is_whole(self) -> None:
        (self.folder / "there").mkdir()
        sh("mv", self.pool, self.folder / "there" / "pool")
        sh("rm", self.folder / "pool.rt")
        self.is_whole(self.folder / "there" / "pool")
        self.text("rm", self.folder / "there" / "pool", "answer")

    def test_by_the_command_is_larger(self) -> None:
        larger = self.folder / "larger"
        limit = self.json("info", self.pool)["max_bytes"]
        self.text("cp", self.pool, larger, "--create", "--size", str(2 * limit))
        self.text("diff", self.pool, larger)
        sh("mv", larger, self.pool)
        self.is_whole(self.pool)
        self.assertGreaterEqual(self.json("info", self.pool)["max_bytes"], 2 * limit - (2 << 20))


class Rights(WithPool):
    def test_follow_the_pool_and_its_folder(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("wants root, to give files away")
        games = grp.getgrnam("games").gr_gid
        os.chown(self.pool, -1, games)
        self.pool.chmod(0o660)
        self.text("rm", self.pool, "answer")
        beside = (self.folder / "pool.rt").stat()
        self.assertEqual((beside.st_gid, beside.st_mode & 0o777), (games, 0o660))
        shared = self.folder / "shared"
        shared.mkdir()
        os.chown(shared, -1, games)
        shared.chmod(0o2770)
        self.text("create", shared / "new", "--size", "16MiB")
        self.assertEqual((shared / "new").stat().st_gid, games)


class Epilog(WithPool):
    def test_exports_each_pool_and_removes_the_place(self) -> None:
        if shutil.which("bash") is None or run("export", self.pool, self.folder / "try.npz").returncode == 3:
            self.skipTest("nothing can be exported by this build")
        place, scratch = self.folder / "job-7", self.folder / "scratch"
        place.mkdir()
        scratch.mkdir()
        sh("mv", self.pool, place / "run.pmem")
        loop = f"""
            for pool in {place}/*.pmem; do
                [ -e "$pool" ] || continue
                {PMEMCPY} export "$pool" "{scratch}/$(basename "$pool" .pmem).h5" || exit 1
            done
            rm -rf {place}"""
        done = subprocess.run(["bash", "-c", loop], capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((scratch / "run.h5").exists())
        self.assertFalse(place.exists())


if __name__ == "__main__":
    main()

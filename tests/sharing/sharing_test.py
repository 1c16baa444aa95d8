#!/usr/bin/env python3
"""Two users share a namespace: what a grant opens, and what it leaves closed.

The users are made for this test, with names that nobody has, and are gone after it. That takes root; others skip it.

usage: sharing_test.py PMEMCPY COLLEAGUE [unittest arguments]
"""

import json
import os
import pwd
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PATIENCE = 60  # seconds
SKIPPED = 77
UNSUPPORTED = 8
SHM = Path("/dev/shm")


class User:
    """A user of this machine who was not there before."""

    def __init__(self) -> None:
        self.name = f"pmemcpy-{secrets.token_hex(4)}"
        subprocess.run(["useradd", "--no-create-home", "--user-group", self.name], check=True, capture_output=True)
        known = pwd.getpwnam(self.name)
        self.uid, self.gid = known.pw_uid, known.pw_gid

    def remove(self) -> None:
        subprocess.run(["userdel", "--force", self.name], check=True, capture_output=True)


class Case(unittest.TestCase):
    """A root for namespaces that all may use, two users, and a third one whom nobody lets in."""

    place = str(SHM) if SHM.is_dir() else None

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(tempfile.mkdtemp(prefix="pmemcpy-sharing-", dir=cls.place))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.folder.chmod(0o755)
        cls.owner, cls.friend, cls.stranger = User(), User(), User()
        for user in (cls.owner, cls.friend, cls.stranger):
            cls.addClassCleanup(user.remove)
        # The folder that was built in may be closed to others.
        cls.libraries = cls.folder / "lib"
        cls.libraries.mkdir()
        needed = subprocess.run(["ldd", *PROGRAMS], capture_output=True, text=True, check=True).stdout
        for library in set(re.findall(r"=> (\S*libpmemcpy\S*)", needed)):
            shutil.copy(library, cls.libraries / Path(library).name)
        cls.pmemcpy, cls.colleague = (shutil.copy(program, cls.folder) for program in PROGRAMS)
        cls.skip_where_it_cannot_be()

    @classmethod
    def skip_where_it_cannot_be(cls) -> None:
        root = cls.folder / "probe"
        root.mkdir()
        for words in (
            ["ns", "create", "a"],
            ["ns", "grant", "a", "--user", cls.friend.name, "--read"],
            ["create", "a:"],
        ):
            environment = {**os.environ, "PMEMCPY_ROOT": str(root)}
            done = subprocess.run([PROGRAMS[0], *words], env=environment, capture_output=True, text=True)
            if done.returncode == UNSUPPORTED:
                raise unittest.SkipTest(done.stderr)
            assert done.returncode == 0, done.stderr

    def setUp(self) -> None:
        self.root = self.folder / f"root-{secrets.token_hex(4)}"
        self.root.mkdir()
        self.root.chmod(0o1777)

    def words(self, user: User, *words: object) -> dict:
        environment = {
            "PATH": os.environ["PATH"],
            "PMEMCPY_ROOT": str(self.root),
            "LD_LIBRARY_PATH": str(self.libraries),
        }
        return {
            "args": [str(word) for word in words],
            "user": user.uid,
            "group": user.gid,
            "extra_groups": [],
            "umask": 0o022,
            "cwd": self.root,
            "env": environment,
            "text": True,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }

    def run_as(self, user: User, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run(**self.words(user, *words), timeout=PATIENCE)

    def text(self, user: User, *words: object, status: int = 0) -> str:
        """What the command prints."""
        done = self.run_as(user, self.pmemcpy, *words)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stdout

    def refused(self, user: User, status: int, *words: object) -> str:
        done = self.run_as(user, self.pmemcpy, *words)
        self.assertEqual(done.returncode, status, (words, done.stdout, done.stderr))
        return done.stderr

    def does(self, user: User, pool: object, *words: object) -> str:
        """What the user's own program prints: of an error the code."""
        done = self.run_as(user, self.colleague, pool, *words)
        self.assertIn(done.returncode, (0, 1), (words, done.stdout, done.stderr))
        return done.stdout.strip()

    def opens(self, user: User, path: Path, way: str) -> bool:
        """Whether a plain program gets at the file."""
        return self.run_as(user, "sh", "-c", f': {way} "$1"', "sh", path).returncode == 0

    def make(self, name: str = "climate") -> Path:
        self.text(self.owner, "ns", "create", name)
        self.assertEqual(self.does(self.owner, f"{name}:", "fill"), "")
        return self.root / name

    def begin(self, user: User, *words: object) -> subprocess.Popen:
        process = subprocess.Popen(**self.words(user, self.colleague, *words), stdin=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "open\n")
        return process

    def goes_on(self, process: subprocess.Popen) -> str:
        said, _ = process.communicate("\n", timeout=PATIENCE)
        return said.strip()


class Shared(Case):
    def test_who_is_not_let_in_gets_nothing(self) -> None:
        space = self.make()
        for verb in ("load", "view", "hold", "fill"):
            self.assertEqual(self.does(self.friend, "climate:", verb), "permission_denied")
        self.assertEqual(self.does(self.friend, space / "shared.pmem", "load"), "permission_denied")
        said = self.refused(self.friend, 9, "ls", "climate:")
        self.assertIn(f"belongs to {self.owner.name}", said)
        self.assertIn(f"pmemcpy ns grant climate --user {self.friend.name} --read", said)
        self.refused(self.friend, 9, "cp", "climate:v", "climate:w")
        self.assertEqual(self.text(self.friend, "find", "--all"), "")
        for file in ("shared.pmem", "shared.pmem.rt", ".namespace"):
            self.assertFalse(self.opens(self.friend, space / file, "<"), file)
        self.refused(self.friend, 9, "ns", "drop", "climate", "--force")
        self.refused(self.friend, 9, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.refused(self.friend, 9, "ns", "quota", "climate")
        self.refused(self.friend, 3, "ns", "create", "climate")

    def test_a_newcomer_sees_which_there_are_and_whom_to_ask(self) -> None:
        self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        (told,) = json.loads(self.text(self.stranger, "ns", "list", "--json"))
        self.assertEqual((told["namespace"], told["owner"], told["access"]), ("climate", self.owner.name, None))
        self.assertEqual(told["grants"], [{"user": self.friend.name, "permission": "read"}])
        self.assertNotIn("pools", told)
        self.assertIn("not look into it", self.text(self.stranger, "ns", "list", "climate"))
        (told,) = json.loads(self.text(self.friend, "ns", "list", "--json"))
        self.assertEqual((told["access"], [pool["pool"] for pool in told["pools"]]), ("read", ["shared"]))

    def test_a_reader_reads_and_writes_nothing(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.assertEqual(self.does(self.friend, "climate:", "load"), "1")
        self.assertEqual(self.does(self.friend, "climate:", "view"), "2.5")
        self.assertEqual(self.text(self.friend, "ls", "climate:"), "group/A\nv\n")
        self.assertEqual(self.text(self.friend, "find", "climate:", "units = 'K'"), "group/A\n")
        self.assertEqual(self.text(self.friend, "find", "--all", "units = 'K'"), "climate:group/A\n")
        for verb in ("fill", "store"):
            self.assertEqual(self.does(self.friend, "climate:", verb, 3), "permission_denied")
        self.assertEqual(self.does(self.friend, "climate:new", "fill"), "permission_denied")
        self.assertIn("--write", self.refused(self.friend, 9, "rm", "climate:", "v"))
        self.assertIn("not write it", self.refused(self.friend, 9, "rm", "climate:", "v"))
        for file in ("shared.pmem", ".namespace"):
            self.assertTrue(self.opens(self.friend, space / file, "<"), file)
            self.assertFalse(self.opens(self.friend, space / file, "<>"), file)
        for way in ("<", "<>"):
            self.assertFalse(self.opens(self.friend, space / "shared.pmem.rt", way), "its locks would stop writers")
        self.assertNotEqual(self.run_as(self.friend, "rm", "-f", space / "shared.pmem").returncode, 0)
        self.assertNotEqual(self.run_as(self.friend, "touch", space / "mine").returncode, 0)
        self.assertEqual(self.does(self.stranger, "climate:", "load"), "permission_denied")

    def test_a_reader_reads_while_the_owner_writes(self) -> None:
        self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        writer = self.begin(self.owner, "climate:", "hold-writing")
        self.assertEqual(self.does(self.friend, "climate:", "load"), "1")
        reader = self.begin(self.friend, "climate:", "hold")
        self.assertEqual(self.goes_on(writer), "7")
        self.assertEqual(self.goes_on(reader), "7")

    def test_a_writer_writes_and_both_see_it(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:", "store", 5), "")
        self.assertEqual(self.does(self.owner, "climate:", "load"), "5")
        # Both at once, whoever came first and has made the run-time file.
        for first, second in ((self.owner, self.friend), (self.friend, self.owner)):
            process = self.begin(first, "climate:", "hold-writing")
            self.assertEqual(self.does(second, "climate:", "store", 6), "")
            self.assertEqual(self.goes_on(process), "7")
        # And a pool of his own there is the owner's too.
        self.assertEqual(self.does(self.friend, "climate:new", "fill"), "")
        self.assertEqual((space / "new.pmem").stat().st_uid, self.friend.uid)
        self.assertEqual(self.does(self.owner, "climate:new", "store", 8), "")
        self.assertEqual(self.does(self.friend, "climate:new", "store", 9), "")
        self.assertEqual(self.does(self.owner, "climate:new", "load"), "9")
        self.assertEqual(self.does(self.stranger, "climate:new", "load"), "permission_denied")

    def test_pools_in_directories_are_shared_all_the_same(self) -> None:
        self.make()
        self.assertEqual(self.does(self.owner, "climate:before", "make-folder"), "")
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.assertEqual(self.does(self.owner, "climate:after", "make-folder"), "")
        for pool in ("before", "after"):
            self.assertEqual(self.does(self.friend, f"climate:{pool}", "view"), "2.5")
            self.assertEqual(self.does(self.friend, f"climate:{pool}", "store", 2), "permission_denied")
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        for pool in ("before", "after"):
            self.assertEqual(self.does(self.friend, f"climate:{pool}", "fill"), "")
            self.assertEqual(self.does(self.owner, f"climate:{pool}", "view"), "2.5")
            self.assertEqual(self.does(self.owner, f"climate:{pool}", "fill"), "")

    def test_a_pool_that_is_made_after_the_grant_is_covered(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.assertEqual(self.does(self.owner, "climate:later", "fill"), "")
        self.assertEqual(self.does(self.friend, "climate:later", "load"), "1")
        self.assertEqual(self.does(self.friend, "climate:later", "store", 2), "permission_denied")
        self.assertFalse(self.opens(self.friend, space / "later.pmem.rt", "<"))
        self.assertEqual(
            self.text(self.friend, "find", "--all", "units = 'K'"), "climate:later:group/A\nclimate:group/A\n"
        )

    def test_a_group_is_let_in_as_a_whole(self) -> None:
        self.make()
        self.text(self.owner, "ns", "grant", "climate", "--group", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:", "store", 4), "")
        # Who is named is what his own grant says, whatever his groups are.
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.assertEqual(self.does(self.friend, "climate:", "load"), "4")
        self.assertEqual(self.does(self.friend, "climate:", "store", 5), "permission_denied")
        self.assertFalse(self.opens(self.friend, self.root / "climate/shared.pmem.rt", "<"))

    def test_who_is_shut_out_keeps_only_what_he_has_open(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        reader = self.begin(self.friend, "climate:", "hold")
        self.text(self.owner, "ns", "revoke", "climate", "--user", self.friend.name)
        self.assertEqual(self.does(self.friend, "climate:", "load"), "permission_denied")
        self.assertEqual(self.does(self.friend, space / "shared.pmem", "load"), "permission_denied")
        self.assertFalse(self.opens(self.friend, space / "shared.pmem", "<"))
        self.assertEqual(self.does(self.owner, "climate:", "store", 11), "")
        self.assertEqual(self.goes_on(reader), "11", "a mapping is not taken away")
        self.refused(self.owner, 1, "ns", "revoke", "climate", "--user", self.friend.name)

    def test_a_writer_who_is_shut_out_leaves_the_pools_to_the_others(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:his", "fill"), "")
        # Another name of a pool in a place of his own: a writer can make that, and it outlives the directory's closing.
        mine = self.folder / f"mine-{secrets.token_hex(4)}"
        mine.mkdir()
        os.chown(mine, self.friend.uid, self.friend.gid)
        self.assertEqual(self.run_as(self.friend, "ln", space / "shared.pmem", mine / "kept").returncode, 0)
        done = self.run_as(self.owner, self.pmemcpy, "ns", "revoke", "climate", "--user", self.friend.name)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("his.pmem", done.stderr, "a pool that belongs to him stays his")
        self.assertIn("shared.pmem", done.stderr, "and what has another name is told")
        self.assertEqual(self.does(self.friend, "climate:his", "load"), "permission_denied")
        # His run-time file must not keep the others out.
        self.assertEqual(self.does(self.owner, "climate:his", "store", 3), "")
        self.assertEqual(self.does(self.owner, "climate:his", "load"), "3")

    def test_a_grant_covers_what_belongs_to_the_one_who_runs_it(self) -> None:
        self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:his", "fill"), "")
        done = self.run_as(self.owner, self.pmemcpy, "ns", "grant", "climate", "--user", self.stranger.name, "--read")
        self.assertIn("his.pmem", done.stderr)
        self.assertEqual(self.does(self.stranger, "climate:", "load"), "1")
        self.assertEqual(self.does(self.stranger, "climate:his", "load"), "permission_denied")
        # Only what the owner has decided already.
        self.refused(self.friend, 9, "ns", "grant", "climate", "--user", self.stranger.name, "--write")
        self.assertEqual(self.text(self.friend, "ns", "grant", "climate", "--user", self.stranger.name, "--read"), "")
        self.assertEqual(self.does(self.stranger, "climate:his", "load"), "1")

    def test_the_owner_drops_what_others_have_made(self) -> None:
        self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:his", "make-folder"), "")
        self.refused(self.friend, 9, "ns", "drop", "climate", "--force")
        self.refused(self.owner, 7, "ns", "drop", "climate")
        self.text(self.owner, "ns", "drop", "climate", "--force")
        self.assertEqual(list(self.root.iterdir()), [])

    def test_what_a_friend_plants_is_not_shared_with_others(self) -> None:
        """The owner's own files elsewhere, which the friend names in the namespace, must not be opened by a grant."""
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        secret = self.folder / f"secret-{secrets.token_hex(4)}"
        secret.write_text("secret")
        os.chown(secret, self.owner.uid, self.owner.gid)
        secret.chmod(0o600)
        self.assertEqual(self.run_as(self.friend, "ln", "-s", secret, space / "soft.pmem").returncode, 0)
        os.link(secret, space / "hard.pmem")  # as where the kernel's protected_hardlinks is off
        done = self.run_as(self.owner, self.pmemcpy, "ns", "grant", "climate", "--user", self.stranger.name, "--read")
        self.assertEqual(done.returncode, 0, done.stderr)
        for user in (self.friend, self.stranger):
            for path in (secret, space / "soft.pmem", space / "hard.pmem"):
                self.assertFalse(self.opens(user, path, "<"), path)

    def sees_hidden(self, user: User) -> list[str]:
        """The files in which the user can read the word."""
        done = self.run_as(user, "grep", "-rls", "hidden", self.root)
        return done.stdout.splitlines()

    def test_what_is_private_is_nowhere_for_others(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--read")
        self.text(self.owner, "index", "climate:", "sync")
        self.assertEqual(self.does(self.owner, "climate:", "fill-secret"), "")
        self.text(self.owner, "index", "climate:", "--flush")
        self.assertEqual(self.text(self.friend, "cat", "climate:", "secret/word"), "hidden word\n")
        self.assertNotEqual(self.sees_hidden(self.friend), [])
        self.text(self.owner, "scope", "climate:", "secret", "private")
        self.assertEqual(self.sees_hidden(self.friend), [])
        self.assertNotEqual(self.sees_hidden(self.owner), [])
        for words in (
            ("cat", "climate:", "secret/word"),
            ("stat", "climate:", "secret/A"),
            ("ls", "climate:", "secret"),
        ):
            self.refused(self.friend, 3, *words)
        self.assertEqual(self.text(self.friend, "ls", "climate:"), "group/A\nv\n")
        self.assertEqual(self.text(self.friend, "find", "climate:", "name ~ '*secret*' or name = 'secret'"), "")
        self.assertEqual(self.text(self.friend, "find", "--all", "exists('hidden attribute')"), "")
        own = space / f"shared.pmem.private-{self.owner.uid}"
        for way in ("<", "<>"):
            self.assertFalse(self.opens(self.friend, own, way))
            self.assertFalse(self.opens(self.friend, f"{own}.rt", way))
        for verb in ("load", "view", "hold", "fill"):
            self.assertEqual(self.does(self.friend, own, verb), "permission_denied")
        self.refused(self.friend, 9, "scope", "climate:", "v", "private")
        # The owner sees one pool.
        self.assertEqual(self.text(self.owner, "ls", "climate:"), "group/A\nsecret/A\nsecret/word\nv\n")
        self.assertEqual(self.text(self.owner, "cat", "climate:", "secret/word"), "hidden word\n")
        self.assertEqual(
            self.text(self.owner, "find", "climate:", "attr('hidden attribute') = 'hidden value'"), "secret/word\n"
        )
        self.assertEqual(self.text(self.owner, "share", "climate:", "name ~ 'secret/w*'"), "1 variable is now shared\n")
        self.assertEqual(self.text(self.friend, "cat", "climate:", "secret/word"), "hidden word\n")
        self.refused(self.friend, 3, "cat", "climate:", "secret/A")

    def test_two_who_write_have_each_his_own(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        self.assertEqual(self.does(self.friend, "climate:", "fill-secret"), "")
        self.text(self.friend, "scope", "climate:", "secret", "private")
        self.assertEqual(self.text(self.owner, "ls", "climate:"), "group/A\nv\n")
        self.assertEqual(self.sees_hidden(self.owner), [])
        self.assertEqual(self.does(self.owner, "climate:", "fill-secret"), "")
        self.text(self.owner, "scope", "climate:", "secret", "private")
        self.text(self.owner, "rm", "climate:", "secret/A")
        self.assertEqual(self.text(self.friend, "ls", "climate:"), "group/A\nsecret/A\nsecret/word\nv\n")
        for user, other in ((self.owner, self.friend), (self.friend, self.owner)):
            self.assertFalse(self.opens(user, space / f"shared.pmem.private-{other.uid}", "<"))

    def test_a_place_for_what_is_private_that_somebody_else_has_made_is_refused(self) -> None:
        space = self.make()
        self.text(self.owner, "ns", "grant", "climate", "--user", self.friend.name, "--write")
        planted = space / f"shared.pmem.private-{self.owner.uid}"
        self.assertEqual(self.does(self.friend, planted, "fill"), "")
        said = self.refused(self.owner, 9, "scope", "climate:", "v", "private")
        self.assertIn("others may open it", said)

    def test_a_grant_to_nobody_is_an_error(self) -> None:
        self.make()
        self.assertIn("no user", self.refused(self.owner, 1, "ns", "grant", "climate", "--user", "no-such", "--read"))
        self.assertIn("no group", self.refused(self.owner, 1, "ns", "grant", "climate", "--group", "no-such", "--read"))
        said = self.refused(self.owner, 2, "ns", "grant", "climate", "--user", self.owner.name, "--read")
        self.assertIn("needs no grant", said)
        self.refused(self.owner, 2, "ns", "grant", "climate", "--user", self.friend.name)
        self.refused(self.owner, 2, "ns", "grant", "climate", "--read")
        self.refused(self.owner, 2, "ns", "list", "--read")


class SharedOnADisk(Shared):
    """The same where files are behind the page cache."""

    place = "/var/tmp"


def main() -> None:
    if os.geteuid() != 0:
        print("skipped: making two users, as this test does, takes root")
        sys.exit(SKIPPED)
    if shutil.which("useradd") is None:
        print("skipped: there is no useradd here")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])


if __name__ == "__main__":
    PROGRAMS = sys.argv[1:3]
    main()

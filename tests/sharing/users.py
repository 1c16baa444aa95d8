"""Users who were not there before, and what they do with pools: what the tests of sharing have in common.

The users are made for a test, with names that nobody has, and are gone after it. That takes root; others skip it.
"""

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
PROGRAMS = sys.argv[1:3]


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


def main() -> None:
    if os.geteuid() != 0:
        print("skipped: making two users, as this test does, takes root")
        sys.exit(SKIPPED)
    if shutil.which("useradd") is None:
        print("skipped: there is no useradd here")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

#!/usr/bin/env python3
"""What every verb prints: where it cannot be written, and of names that a terminal or a reader of lines mistakes.

usage: output_test.py PMEMCPY FILL FILL_SHARED [unittest arguments]
"""

import re
import signal
import subprocess
from pathlib import Path

from with_pool import FILL_KINDS, PMEMCPY, WithPool, main, run, run_on_terminal

FULL = Path("/dev/full")
ESCAPE, LINE, C1 = "a\x1b[31mred", "one\ntwo", "b\x9b31mred"
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class Output(WithPool):
    def setUp(self) -> None:
        super().setUp()
        shared = subprocess.run([FILL_KINDS, self.folder / "shared"], timeout=60)
        self.assertEqual(shared.returncode, -signal.SIGKILL)

    def tiered(self, name: str) -> Path:
        """A copy of the pool whose blocks lie in the directory `name`.below, too."""
        pool, below, hierarchy = self.folder / name, self.folder / f"{name}.below", self.folder / f"{name}.yaml"
        below.mkdir()
        speeds = "write: {bandwidth: 1 GB/s, latency: 1 us}, read: {bandwidth: 1 GB/s, latency: 1 us}"
        hierarchy.write_text(
            f"targets:\n  - {{name: pool, kind: tmpfs, {speeds}}}\n"
            f"  - {{name: low, kind: file, path: {below}, {speeds}}}\nmode: write-back\n"
        )
        self.text("cp", self.pool, pool, "--create", "--size", "64MiB")
        self.text("tiers", pool, hierarchy)
        self.text("drain", pool)
        return pool

    def calls(self) -> dict[str, list[list[object]]]:
        """Of each verb calls that print something."""
        pool, folder, tiered, other = self.pool, self.folder, self.tiered("tiered"), self.folder / "other"
        lost = self.tiered("lost")
        for file in folder.glob("lost"), folder.glob("lost.rt"):
            for left in file:
                left.unlink()
        below = folder / f"{lost.name}.below"
        self.text("cp", pool, other, "--create", "--size", "64MiB")
        self.text("set", other, "line.note", "another")
        self.text("export", pool, folder / "from.npz")
        root = ["--root", folder / "root"]
        (folder / "root").mkdir()
        return {
            "ls": [[pool], [pool, "-l"], [pool, "--values"], [pool, "--json"], [folder]],
            "tree": [[pool], [pool, "--json"]],
            "info": [[pool], [pool, "line"], [pool, "--json"]],
            "cat": [[pool, "line"], [pool, "line", "--json"], [pool, "line", "--format", "csv"], [pool, "name"]],
            "stat": [[pool, "line"], [pool, "line", "--json"]],
            "plot": [[pool, "line"]],
            "find": [[pool], [pool, "-l"], [pool, "--json"], [pool, "kind = 'array' count"], [pool, "--explain"]],
            "index": [[pool], [pool, "--json"]],
            "extract": [[pool], [pool, "--json"]],
            "create": [[folder / "new1", "--size", "16MiB"], [folder / "new2", "--size", "16MiB", "--json"]],
            "set": [],
            "cp": [[f"{pool}:line", f"{other}:copied", "--json"]],
            "mv": [[f"{other}:copied", f"{other}:moved", "--json"]],
            "rm": [[other, "moved", "--dry-run"], [other, "moved", "--json"]],
            "diff": [[pool, other], [pool, other, "--json"]],
            "import": [
                [folder / "from.npz", folder / "in1.pmem"],
                [folder / "from.npz", folder / "in2.pmem", "--json"],
            ],
            "export": [[pool, folder / "to.npz"], [pool, folder / "to2.npz", "--json"]],
            "watch": [],  # below
            "top": [[pool, "--once"], [pool, "--once", "--json"]],
            "du": [[pool], [pool, "--json"]],
            "trim": [[pool], [pool, "--json"]],
            "compact": [[pool], [pool, "--json"]],
            "verify": [[pool], [pool, "--json"]],
            "repair": [[pool, folder / "r1"], [pool, folder / "r2", "--json"]],
            "rebuild": [[folder / "again", below]],
            "ns": [["create", "a", "--json", *root], ["list", *root], ["list", "--json", *root]],
            "scope": [[pool], [pool, "--json"]],
            "share": [[pool, "kind = 'group'"], [pool, "kind = 'group'", "--json"]],
            "tiers": [[tiered], [tiered, "--json"], [tiered, "--yaml"]],
            "profile": [["--list"], ["--list", "--json"]],
            "stage": [[tiered, "/", "low"], [tiered, "/", "low", "--json"]],
            "drain": [[tiered], [tiered, "--json"]],
            "receipt": [[tiered, "line"], [tiered, "line", "--json"]],
            "advise": [[tiered, "--heat"], [tiered, "--json"], [tiered, "--yaml"]],
            "op": [["hint", pool, "line", "max", "--json"], ["run", pool, "line", "min"], ["list", pool]],
            "buckets": [[f"{folder}/shared.buckets"], [f"{folder}/shared.buckets", "--json"]],
            "messages": [[f"{folder}/shared.messages"], [f"{folder}/shared.messages", "--json"]],
            "daemon": [],
            "completion": [["bash"], ["zsh"], ["fish"]],
            "man": [[]],
        }

    def written_to(self, out: object, *words: object) -> subprocess.CompletedProcess:
        return subprocess.run([PMEMCPY, *map(str, words)], stdout=out, stderr=subprocess.PIPE, timeout=60)

    # Which of 0, 4 and 6 it was depended on the verb, and on how much it printed.
    def test_that_finds_no_space_is_exit_status_4_of_every_verb(self) -> None:
        if not FULL.exists():
            self.skipTest("no /dev/full here")
        helped = self.text("--help")
        verbs = set(re.findall(r"^  ([a-z]+)  ", helped, re.MULTILINE)) - {"help"}
        calls = self.calls()
        self.assertEqual(set(calls), verbs | {"man"})  # which --help does not list
        everything = [[verb, *words] for verb, several in calls.items() for words in several]
        everything += [["--help"], ["--version"], *([verb, "--help"] for verb in calls)]
        with FULL.open("wb") as full:
            for words in everything:
                with self.subTest(words=words):
                    done = self.written_to(full, *words)
                    self.assertEqual(done.returncode, 4, done.stderr)
                    self.assertIn(b"cannot write the output: No space left on device", done.stderr)

    def test_of_watch_that_finds_no_space_ends_it(self) -> None:
        if not FULL.exists():
            self.skipTest("no /dev/full here")
        with FULL.open("wb") as full:
            words = [PMEMCPY, "watch", str(self.pool), "--interval", "10ms", "--timeout", "30s"]
            watching = subprocess.Popen(words, stdout=full, stderr=subprocess.PIPE)
            while watching.poll() is None:
                self.text("cp", "-f", f"{self.pool}:line", f"{self.pool}:news")
        with watching.stderr as said:
            self.assertIn(b"cannot write the output: No space left on device", said.read())
        self.assertEqual(watching.returncode, 4)

    def test_to_a_file_that_finds_no_space_is_exit_status_4_too(self) -> None:
        if not FULL.exists():
            self.skipTest("no /dev/full here")
        for words in (
            ["cat", self.pool, "line", "-o", FULL],
            ["plot", self.pool, "line", "-o", FULL, "--size", "200x100"],
        ):
            self.refused(4, *words)

    def without(self, stream: int, *words: object) -> subprocess.CompletedProcess:
        """The command as a shell starts it with one of its three streams closed."""
        call = ["sh", "-c", f'"$@" {stream}>&-', "sh", PMEMCPY, *map(str, words)]
        return subprocess.run(call, capture_output=True, timeout=60)

    # The pool got the number of stderr, and the note was written into it: "a chain of names is broken".
    def test_without_a_stream_is_not_written_into_the_pool(self) -> None:
        self.text("cp", f"{self.pool}:line", f"{self.pool}:line.sum")  # so that the operation fails, with a note
        self.text("op", "hint", self.pool, "line", "sum", status=1)
        for stream in range(3):
            done = self.without(stream, "op", "wait", self.pool)
            self.assertEqual(done.returncode, 1, (stream, done.stderr))
            self.text("verify", self.pool)

    def test_without_a_stdout_is_exit_status_6(self) -> None:
        for stream, status in ((0, 0), (1, 6), (2, 0)):
            done = self.without(stream, "ls", self.pool)
            self.assertEqual(done.returncode, status, (stream, done.stderr))

    # It was a signal: an exception that nobody caught.
    def test_of_errors_to_a_stderr_that_takes_nothing_changes_no_exit_status(self) -> None:
        if not FULL.exists():
            self.skipTest("no /dev/full here")
        with FULL.open("wb") as full:
            for words, status in ((["ls", self.pool, "nothing"], 1), (["ls", self.pool, "line", "nothing"], 0)):
                done = subprocess.run([PMEMCPY, *map(str, words)], stdout=subprocess.PIPE, stderr=full, timeout=60)
                self.assertEqual(done.returncode, status)

    # They ended the command with 6 after the work was done, and commanded the terminal with the names of files.
    def test_of_notes_on_private_objects_changes_no_exit_status_and_has_no_control_characters(self) -> None:
        pool = self.folder / f"in{ESCAPE}"
        self.text("cp", self.pool, pool, "--create", "--size", "64MiB")
        self.text("scope", pool, "line", "private")
        for verb, *words in (["cat", "line", "-o"], ["export"], ["repair"]):
            outs = [self.folder / f"{ESCAPE}{verb}{number}.npz" for number in range(2)]
            done = run(verb, pool, *words, outs[0])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"private object", done.stderr)
            self.assertIsNone(CONTROL.search(done.stderr.decode()), done.stderr)
            if FULL.exists():
                with FULL.open("wb") as full:
                    call = [PMEMCPY, verb, str(pool), *words, str(outs[1])]
                    self.assertEqual(
                        subprocess.run(call, stdout=subprocess.PIPE, stderr=full, timeout=60).returncode, 0
                    )
                self.assertTrue(outs[1].exists())


class Names(WithPool):
    """A name may have any characters: one told the terminal to do something, one was two lines for a reader."""

    def setUp(self) -> None:
        super().setUp()
        for name in (ESCAPE, LINE, C1):
            self.text("cp", f"{self.pool}:line", f"{self.pool}:{name}")
            self.text("cp", f"{self.pool}:line", f"{self.pool}:in/{name}/x")

    def shown(self, *words: object) -> str:
        text = self.text(*words)
        self.assertIsNone(CONTROL.search(text), (words, text))
        return text

    def test_have_no_control_characters_in_text(self) -> None:
        other = self.folder / "other"
        self.text("create", other, "--size", "16MiB")
        for words in (
            ["ls", self.pool],
            ["ls", self.pool, "-l"],
            ["ls", self.pool, "--values"],
            ["du", self.pool],
            ["tree", self.pool],
            ["find", self.pool],
            ["find", self.pool, "-l"],
            ["info", self.pool, ESCAPE],
            ["info", self.pool, LINE],
            ["scope", self.pool],
            ["stat", self.pool, LINE],
            ["rm", self.pool, ESCAPE, "--dry-run"],
        ):
            self.shown(*words)
        done = run("diff", self.pool, other)
        self.assertIsNone(CONTROL.search(done.stdout.decode()))
        for words in (["cat", self.pool, f"{ESCAPE}x"], ["info", self.pool, f"{C1}x"], ["ls", self.pool, f"{LINE}x"]):
            self.assertIsNone(CONTROL.search(self.refused(1, *words)))
        self.assertNotIn("\x1b[31m", run_on_terminal("ls", self.pool))

    def test_are_one_line_each_which_is_a_glob_that_finds_them(self) -> None:
        lines = self.shown("ls", self.pool).splitlines()
        self.assertEqual(len(lines), len(self.json("ls", self.pool)))
        bell = "bell\x07"
        self.text("cp", f"{self.pool}:line", f"{self.pool}:{bell}")
        lines.append(self.shown("ls", self.pool, "bell").strip())
        for name in (bell, LINE, C1):
            line = CONTROL.sub("?", name.replace("\n", "?"))
            self.assertIn(line, lines)
            self.assertEqual(self.json("ls", self.pool, line), [name])

    def test_are_exact_in_json(self) -> None:
        for name in (ESCAPE, LINE, C1):
            self.assertIn(name, self.json("ls", self.pool))
            self.assertEqual(self.json("info", self.pool, name)["id"], name)


if __name__ == "__main__":
    main()

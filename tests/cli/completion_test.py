#!/usr/bin/env python3
"""Complete the command's words in bash, zsh and fish, and print its manual.

usage: completion_test.py PMEMCPY FILL SIMULATE [unittest arguments]
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

from with_pool import IDS, PMEMCPY, WithPool, need_terminals, run

PATIENCE = 60  # seconds

# Runs the function as bash would: the line is what stands before the cursor.
BASH = """
source "$1"
COMP_LINE=$2 COMP_POINT=${#2} COMP_WORDS=("${2%% *}") COMP_CWORD=1
COMPREPLY=()
_pmemcpy
((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
exit 0
"""


def verbs() -> list[str]:
    """Those that --help lists."""
    return re.findall(r"^  ([a-z]+) ", run("--help").stdout.decode(), re.MULTILINE)


def options_of(verb: str) -> set[str]:
    """Those that the verb's --help lists."""
    text = run(verb, "--help").stdout.decode().split("Options:")[1].split("\n\n")[0]
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z-]+", text))


def typed(words: list[str], setup: str, keys: str, wanted: str) -> str:
    """What an interactive shell shows after `keys`, which may have tabs in them, until it shows `wanted`."""
    need_terminals()
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "dumb", "PS1": "$ ", "LC_ALL": "C.UTF-8"})
        os.execvp(words[0], words)
    seen = ""

    def read_until(text: str) -> None:
        nonlocal seen
        end = time.monotonic() + PATIENCE
        while text not in seen and time.monotonic() < end:
            if select.select([fd], [], [], 0.1)[0]:
                seen += os.read(fd, 65536).decode(errors="replace")

    try:
        os.write(fd, f"{setup}; echo rea''dy\n".encode())
        read_until("ready")
        seen = ""
        os.write(fd, keys.encode())
        read_until(wanted)
    finally:
        os.close(fd)
        os.waitpid(pid, 0)
    return seen


def make_namespace(folder: Path, pool: Path) -> str:
    """The root of one that is called meteo, with two pools in it. Those are files like any others."""
    root = folder / "root"
    root.mkdir()
    run("ns", "create", "meteo", "--root", root)
    for name in ("shared", "old"):
        shutil.copyfile(pool, root / "meteo" / f"{name}.pmem")
    return str(root)


class WithScript(WithPool):
    shell = ""

    def setUp(self) -> None:
        super().setUp()
        if shutil.which(self.shell) is None:
            self.skipTest(f"there is no {self.shell} here")
        self.script = self.folder / f"completion.{self.shell}"
        self.script.write_text(self.text("completion", self.shell))


class Bash(WithScript):
    shell = "bash"

    def completed(self, line: str) -> list[str]:
        words = ["bash", "--norc", "-c", BASH, "bash", str(self.script), f"{PMEMCPY} {line}"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(done.stdout.splitlines())

    def test_completes_verbs(self) -> None:
        self.assertEqual(self.completed("pl"), ["plot"])
        self.assertEqual(set(self.completed("")) - {"-h", "--help", "--version"}, set(verbs()))

    def test_completes_the_options_of_each_verb(self) -> None:
        for verb in verbs():
            self.assertEqual(set(self.completed(f"{verb} -")), options_of(verb), verb)
        self.assertEqual(self.completed("plot --o"), ["--output"])

    def test_completes_pools_as_files(self) -> None:
        self.assertEqual(self.completed(f"info {self.folder}/po"), [str(self.pool)])
        self.assertEqual(self.completed(f"plot {self.pool} line -o {self.folder}/po"), [str(self.pool)])

    def test_completes_ids_a_component_at_a_time(self) -> None:
        self.assertEqual(self.completed(f"info {self.pool} l"), ["line", "list"])
        self.assertEqual(self.completed(f"info {self.pool} o"), ["ocean/"])
        self.assertEqual(self.completed(f"info {self.pool} ocean/"), ["ocean/TEMP"])
        self.assertEqual(self.completed(f"info --json {self.pool} ocean/"), ["ocean/TEMP"])
        self.assertEqual(self.completed(f"plot {self.pool} --box 1 oc"), ["ocean/"])
        self.assertEqual(self.completed(f"rm {self.pool} line an"), ["answer"])  # as many as one likes
        self.assertEqual(self.completed(f"info {self.pool} line an"), [])  # but of these only one
        self.assertEqual(len(self.completed(f"info {self.pool} ")), len(IDS))

    def test_completes_places(self) -> None:
        # Bash takes what follows the last colon for the word, so only that is offered.
        self.assertEqual(self.completed(f"cp {self.pool}:oc"), ["ocean/"])
        self.assertEqual(self.completed(f"cp {self.pool}:line {self.pool}:ocean/"), ["ocean/TEMP"])
        self.assertEqual(self.completed(f"cp {self.folder}/po"), [str(self.pool)])
        colons = self.folder / "run-12:30"
        self.text("cp", self.pool, colons, "--create", "--size", "64MiB")
        self.assertEqual(self.completed(f"cp {colons}:answ"), ["answer"])

    def test_completes_pools_of_namespaces(self) -> None:
        os.environ["PMEMCPY_ROOT"] = make_namespace(self.folder, self.pool)
        self.addCleanup(os.environ.pop, "PMEMCPY_ROOT")
        self.assertEqual(self.completed("info mete"), ["meteo:"])
        self.assertEqual(self.completed("info meteo:"), ["old"])
        self.assertEqual(self.completed("info meteo: oc"), ["ocean/"])
        self.assertEqual(self.completed("cp mete"), ["meteo:"])
        self.assertEqual(self.completed("cp meteo:o"), ["ocean/", "old:"])
        self.assertEqual(self.completed("cp meteo:ocean/"), ["ocean/TEMP"])
        self.assertEqual(self.completed("cp meteo:old:ans"), ["answer"])
        self.assertEqual(self.completed("cp nobody:o"), [])

    def test_completes_words(self) -> None:
        self.assertEqual(self.completed("completion "), ["bash", "fish", "zsh"])

    def test_offers_nothing_where_there_is_nothing(self) -> None:
        self.assertEqual(self.completed(f"info {self.folder}/none "), [])
        self.assertEqual(self.completed("nonsense "), [])
        self.assertEqual(self.completed(f"plot {self.pool} line --box "), [])

    def test_quotes_ids(self) -> None:
        self.text("cp", f"{self.pool}:answer", f"{self.pool}:two words")
        self.assertEqual(self.completed(f"info {self.pool} tw"), ["two\\ words"])

    def test_works_at_the_keyboard(self) -> None:
        line = f"pmemcpy info {self.pool} oc\tTE\t --js\t\n"
        path = Path(PMEMCPY).parent
        seen = typed(["bash", "--norc", "-i"], f"PATH={path}:$PATH; source {self.script}", line, '"id":"ocean/TEMP"')
        self.assertIn('"id":"ocean/TEMP"', seen)
        place = f"pmemcpy cp {self.pool}:an\t {self.pool}:reply; echo do''ne\n"
        typed(["bash", "--norc", "-i"], f"PATH={path}:$PATH; source {self.script}", place, "done")
        self.assertIn("reply", self.text("ls", self.pool).split())

    def test_satisfies_shellcheck(self) -> None:
        if shutil.which("shellcheck") is None:
            self.skipTest("there is no shellcheck here")
        done = subprocess.run(
            ["shellcheck", "-s", "bash", self.script], capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Zsh(WithScript):
    shell = "zsh"

    def test_works_at_the_keyboard(self) -> None:
        setup = f"PATH={Path(PMEMCPY).parent}:$PATH; autoload -U compinit; compinit -u -D; source {self.script}"
        line = f"pmemcpy inf\t{self.pool} oc\tTE\t --js\t\n"
        seen = typed(["zsh", "-f", "-i"], setup, line, '"id":"ocean/TEMP"')
        self.assertIn('"id":"ocean/TEMP"', seen)
        typed(["zsh", "-f", "-i"], setup, f"pmemcpy cp {self.pool}:an\t{self.pool}:reply; echo do''ne\n", "done")
        self.assertIn("reply", self.text("ls", self.pool).split())

    def test_completes_pools_of_namespaces(self) -> None:
        root = make_namespace(self.folder, self.pool)
        setup = f"PATH={Path(PMEMCPY).parent}:$PATH; autoload -U compinit; compinit -u -D; source {self.script}"
        setup += f"; export PMEMCPY_ROOT={root}"
        seen = typed(["zsh", "-f", "-i"], setup, "pmemcpy info mete\t oc\tTE\t --js\t\n", '"id":"ocean/TEMP"')
        self.assertIn('"id":"ocean/TEMP"', seen)
        typed(["zsh", "-f", "-i"], setup, "pmemcpy cp meteo:old:an\tmeteo:reply; echo do''ne\n", "done")
        self.assertIn("reply", run("ls", f"{root}/meteo/shared.pmem").stdout.decode().split())

    def test_is_zsh(self) -> None:
        done = subprocess.run(["zsh", "-n", self.script], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


class Fish(WithScript):
    shell = "fish"

    def completed(self, line: str) -> list[str]:
        program = f'source {self.script}; complete -C "{PMEMCPY} {line}"'
        environment = {**os.environ, "HOME": str(self.folder), "XDG_CONFIG_HOME": str(self.folder)}
        done = subprocess.run(
            ["fish", "--no-config", "-c", program], capture_output=True, text=True, timeout=PATIENCE, env=environment
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return sorted(entry.split("\t")[0] for entry in done.stdout.splitlines())

    def test_completes_verbs_options_and_ids(self) -> None:
        self.assertEqual(set(self.completed("")), set(verbs()))
        for verb in verbs():
            self.assertEqual(set(self.completed(f"{verb} -")), options_of(verb), verb)
        self.assertEqual(self.completed(f"info {self.pool} ocean"), ["ocean/TEMP"])
        self.assertEqual(self.completed(f"plot {self.pool} --box 1 ocean"), ["ocean/TEMP"])
        self.assertEqual(self.completed(f"rm {self.pool} line answ"), ["answer"])
        self.assertEqual(self.completed(f"cp {self.pool}:answ"), [f"{self.pool}:answer"])
        self.assertIn(str(self.pool), self.completed(f"info {self.folder}/po"))
        self.assertEqual(self.completed("completion "), ["bash", "fish", "zsh"])

    def test_completes_pools_of_namespaces(self) -> None:
        os.environ["PMEMCPY_ROOT"] = make_namespace(self.folder, self.pool)
        self.addCleanup(os.environ.pop, "PMEMCPY_ROOT")
        self.assertIn("meteo:", self.completed("info mete"))
        self.assertIn("meteo:old", self.completed("info meteo:o"))
        self.assertEqual(self.completed("cp meteo:oc"), ["meteo:ocean/TEMP"])
        self.assertEqual(self.completed("cp meteo:old:answ"), ["meteo:old:answer"])


class Manual(WithPool):
    def test_has_a_page_for_each_verb(self) -> None:
        self.text("man", "--into", self.folder)
        pages = {page.name for page in self.folder.glob("*.1")}
        self.assertEqual(pages, {"pmemcpy.1"} | {f"pmemcpy-{verb}.1" for verb in verbs()})
        for verb in verbs():
            page = self.text("man", verb).replace("\\-", "-")
            for option in options_of(verb):
                self.assertIn(option, page)
        self.assertIn("permission_denied", self.text("man"))
        self.refused(1, "man", "nonsense")
        self.refused(2, "man", "ls", "--into", self.folder)
        self.refused(1, "man", "--into", self.folder / "none")

    def test_is_roff_without_a_warning(self) -> None:
        if shutil.which("groff") is None:
            self.skipTest("there is no groff here")
        self.text("man", "--into", self.folder)
        for page in self.folder.glob("*.1"):
            words = ["groff", "-man", "-Tutf8", "-ww", "-rCHECKSTYLE=3", page]
            done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stderr), (0, ""), page.name)
            self.assertIn("SYNOPSIS", re.sub(r".\x08", "", done.stdout))  # without what makes it bold

    def test_is_what_man_shows(self) -> None:
        if shutil.which("man") is None:
            self.skipTest("there is no man here")
        page = self.folder / "cp.1"
        page.write_text(self.text("man", "cp"))
        environment = {**os.environ, "MANWIDTH": "80", "MAN_KEEP_FORMATTING": "", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            ["man", "--warnings", "-l", page], capture_output=True, text=True, timeout=PATIENCE, env=environment
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--force", done.stdout)

    def test_lints(self) -> None:
        if shutil.which("mandoc") is None:
            self.skipTest("there is no mandoc here")
        self.text("man", "--into", self.folder)
        for page in self.folder.glob("*.1"):
            words = ["mandoc", "-Tlint", "-Wwarning", page]
            done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.returncode, done.stdout), (0, ""), page.name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])

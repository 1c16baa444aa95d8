#!/usr/bin/env python3
"""Run the real pmemcpy command on real pools: how it opens them, tells of them, tends them, and refuses.

usage: command_test.py PMEMCPY FILL FILL_KINDS [unittest arguments]
"""

import json
import os
import struct
import subprocess
from pathlib import Path

from with_pool import FILL, IDS, PMEMCPY, TEMP, WithKinds, WithPool, main, run


class Info(WithPool):
    def test_of_the_pool(self) -> None:
        self.assertIn("durability", self.text("info", self.pool))
        info = self.json("info", self.pool)
        self.assertEqual(info["variables"], len(IDS))
        self.assertEqual(info["layout"], "file")
        self.assertEqual(info["max_bytes"], 64 << 20)

    def test_of_an_array_shows_blocks_and_attributes(self) -> None:
        text = self.text("info", self.pool, "ocean/TEMP")
        for expected in ("float64", "4 x 6", "[0:2, 0:6]", "[2:4, 0:6]", "0 .. 15", "20 .. 35", "units", "degC"):
            self.assertIn(expected, text)
        info = self.json("info", self.pool, "ocean/TEMP")
        self.assertEqual(sorted(block["offset"] for block in info["blocks"]), [[0, 0], [2, 0]])
        self.assertEqual(info["attributes"]["valid_range"]["value"], [-2.0, 40.0])

    def test_of_a_value_and_a_group(self) -> None:
        self.assertEqual(self.json("info", self.pool, "answer")["type"], "int32")
        group = self.json("info", self.pool, "ocean")
        self.assertEqual(group["kind"], "group")
        self.assertEqual(group["attributes"]["title"]["value"], "test")


class InfoOfKinds(WithKinds):
    def test_is_told_of_all(self) -> None:
        for id in self.json("ls", "-g", self.pool):
            self.assertEqual(self.json("info", self.pool, id)["id"], id)
            self.assertIn(id, self.text("info", self.pool, id))


class Rm(WithPool):
    def test_erases_what_it_is_told(self) -> None:
        self.text("rm", self.pool, "answer", "name")
        self.assertEqual(self.text("ls", self.pool).split(), [i for i in IDS if i not in ("answer", "name")])
        self.refused(1, "rm", self.pool, "answer")

    # df showed no difference, and nothing said why.
    def test_says_how_the_file_system_gets_its_space_back(self) -> None:
        self.assertIn(f"pmemcpy trim {self.pool} gives it back", run("rm", self.pool, "answer").stderr.decode())
        self.assertEqual(run("rm", "--json", self.pool, "name").stderr, b"")

    def test_erases_nothing_if_one_is_not_there(self) -> None:
        self.refused(1, "rm", self.pool, "list", "nobody", "line")
        self.assertIn("no variable matches", self.refused(1, "rm", self.pool, "list", "no*"))
        self.assertEqual(self.text("ls", self.pool).split(), IDS)

    def test_takes_globs(self) -> None:
        self.assertEqual(self.text("rm", "--dry-run", self.pool, "l*").split(), ["line", "list"])
        self.assertEqual(self.json("rm", "-n", self.pool, "l*"), {"would_erase": ["line", "list"]})
        self.assertEqual(self.text("ls", self.pool).split(), IDS)
        self.assertEqual(self.json("rm", self.pool, "l*", "list"), {"erased": ["line", "list"]})
        self.assertEqual(self.text("ls", self.pool).split(), [i for i in IDS if i not in ("line", "list")])

    def test_globs_match_groups_only_with_r(self) -> None:
        self.refused(1, "rm", self.pool, "oc*")
        self.assertEqual(self.json("rm", "-r", self.pool, "oc*", "ocean/TEMP"), {"erased": ["ocean/TEMP", "ocean"]})

    def test_double_star_with_r_leaves_nothing(self) -> None:
        self.text("rm", "-r", self.pool, "**")
        self.assertEqual(self.text("ls", "-g", self.pool), "")

    def test_wants_r_for_a_group(self) -> None:
        self.refused(7, "rm", self.pool, "ocean")
        self.assertIn("ocean/TEMP", self.json("rm", "-r", self.pool, "ocean")["erased"])
        self.refused(1, "ls", "-g", self.pool, "ocean")
        self.refused(1, "rm", "-r", self.pool, "ocean")


class Tending(WithPool):
    def test_create_makes_a_pool_once(self) -> None:
        new = self.folder / "new"
        made = self.json("create", new, "--size", "16MiB", "--chunk", "64KiB")
        self.assertEqual((made["max_bytes"], made["chunk_bytes"]), (16 << 20, 64 << 10))
        self.assertEqual(self.text("ls", new), "")
        self.refused(3, "create", new)

    def test_create_prepares_all_of_it(self) -> None:
        made = self.json("create", self.folder / "new", "--size", "16MiB", "--prepare")
        self.assertEqual(made["allocated_bytes"], made["max_bytes"])
        self.assertIn("--size", self.refused(2, "create", self.folder / "other", "--prepare"))

    def test_compact_and_trim_keep_the_data(self) -> None:
        self.text("rm", self.pool, "line")
        self.assertGreaterEqual(self.json("compact", self.pool)["freed_bytes"], 0)
        self.assertGreaterEqual(self.json("trim", self.pool)["trimmed_bytes"], 0)
        self.assertIn("compact", self.text("--help"))
        self.assertEqual(self.json("cat", self.pool, "ocean/TEMP")["values"], TEMP)

    def test_verify_is_quiet_where_all_is_well(self) -> None:
        done = run("verify", self.pool)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"all is well", done.stdout)
        self.assertEqual(self.json("verify", self.pool)["damage"], [])

    def test_repair_makes_a_new_pool_of_what_is_whole(self) -> None:
        new = self.folder / "repaired"
        self.assertEqual(self.json("repair", self.pool, new)["damage"], [])
        self.assertEqual(self.json("ls", new), self.json("ls", self.pool))
        self.assertIn("already", self.refused(3, "repair", self.pool, new))

    def test_verify_finds_a_flipped_bit(self) -> None:
        payload = struct.pack("=6d", *TEMP[2])
        image = bytearray(self.pool.read_bytes())
        at = image.index(payload)
        image[at] ^= 1
        self.pool.write_bytes(image)
        self.assertIn("ocean/TEMP [2:4, 0:6]", self.text("verify", self.pool, status=1))
        self.assertEqual(
            [damage["id"] for damage in self.json("verify", self.pool, status=1)["damage"]], ["ocean/TEMP"]
        )


class Opening(WithPool):
    def test_of_what_is_no_pool(self) -> None:
        self.assertIn("nothing", self.refused(1, "ls", self.folder / "nothing"))
        other = self.folder / "text"
        other.write_text("this is no pool\n" * 1000)
        self.assertIn("text", self.refused(5, "ls", other))
        other.write_bytes(b"")
        self.refused(5, "info", other)

    def test_of_a_truncated_pool(self) -> None:
        os.truncate(self.pool, 100_000)
        for verb in ("ls", "info", "verify", "compact"):
            self.refused(5, verb, self.pool)

    def test_of_a_wrong_id(self) -> None:
        self.assertIn("nobody", self.refused(1, "cat", self.pool, "nobody"))
        self.refused(1, "info", self.pool, "nobody")
        self.refused(1, "rm", self.pool, "nobody")

    def test_recovers_what_was_not_closed(self) -> None:
        left = self.folder / "left"
        subprocess.run([FILL, left, "die"], check=True, timeout=60)
        done = run("ls", left)
        self.assertEqual((done.returncode, done.stdout.decode().split()), (0, IDS), done.stderr)
        self.assertIn(b"recovered", done.stderr)
        self.assertEqual(run("ls", left).stderr, b"")

    def test_needs_no_permission_to_write(self) -> None:
        self.folder.chmod(0o755)
        self.pool.chmod(0o444)
        # Root may write everywhere, so there somebody else looks.
        other: dict[str, object] = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}

        def look(*arguments: object) -> subprocess.CompletedProcess:
            words = [PMEMCPY, *(str(argument) for argument in arguments)]
            return subprocess.run(words, capture_output=True, timeout=60, cwd="/", **other)

        try:
            look("--version").check_returncode()
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("another user cannot reach the command here")
        self.assertEqual(look("ls", self.pool).stdout.decode().split(), IDS)
        self.assertEqual(look("rm", self.pool, "answer").returncode, 9)
        self.assertEqual(look("verify", self.pool).returncode, 0)


class Directory(WithPool):
    def test_is_a_pool_too(self) -> None:
        pool = f"{self.folder}/directory/"
        subprocess.run([FILL, pool], check=True, timeout=60)
        self.assertEqual(self.text("ls", pool).split(), IDS)
        self.assertEqual(self.json("info", pool)["layout"], "directory")
        self.assertEqual(self.json("cat", pool, "ocean/TEMP")["values"], TEMP)
        self.assertEqual(self.json("verify", pool)["damage"], [])
        line = self.folder / "directory" / "line"
        self.assertEqual(struct.unpack("=1000q", line.read_bytes()), tuple(range(1000)))
        self.text("rm", pool, "line")
        self.assertFalse(line.exists())

    def test_is_made_by_a_trailing_slash(self) -> None:
        made = self.json("create", f"{self.folder}/new/", "--size", "64MiB")
        self.assertEqual(made["layout"], "directory")
        self.refused(3, "create", f"{self.folder}/new/")


class Set(WithPool):
    def attribute(self, id: str, name: str) -> tuple[str, object]:
        told = self.json("info", self.pool, id)["attributes"][name]
        return told["type"], told["value"]

    def test_sets_what_json_and_text_say(self) -> None:
        # "no verb sets an attribute"
        for value, type, read in (
            ("3", "int64", 3),
            ("-3", "int64", -3),
            ("2.5", "float64", 2.5),
            ("true", "bool", True),
            ("K", "string", "K"),
            ("m s-1", "string", "m s-1"),
            ('"3"', "string", "3"),
            ("[1, 2]", "list<int64>", [1, 2]),
            ("[1, 2.5]", "list<float64>", [1, 2.5]),
        ):
            self.text("set", self.pool, "ocean/TEMP.tried", value)
            told_type, told = self.attribute("ocean/TEMP", "tried")
            self.assertEqual(told, read)
            if "list" not in type:
                self.assertEqual(told_type, type)
        self.text("set", self.pool, "ocean.run", '{"author": "wu", "dt": [0.5]}')
        self.assertEqual(self.attribute("ocean", "run")[1], {"author": "wu", "dt": [0.5]})
        self.text("set", self.pool, "ocean.version", "2", "--text")
        self.assertEqual(self.attribute("ocean", "version"), ("string", "2"))
        self.text("set", self.pool, "ocean.version", "--remove")
        self.assertNotIn("version", self.json("info", self.pool, "ocean")["attributes"])

    def test_of_the_pool_and_of_names_with_dots(self) -> None:
        self.text("set", self.pool, ".author", "li")
        self.text("set", self.pool, "/.title", "a test")
        told = self.json("info", self.pool)["attributes"]
        self.assertEqual((told["author"]["value"], told["title"]["value"]), ("li", "a test"))
        self.text("mv", f"{self.pool}:answer", f"{self.pool}:a.b")
        self.text("set", self.pool, "a.b.c.d", "1")
        self.assertEqual(self.attribute("a.b", "c.d"), ("int64", 1))

    def test_refuses_what_names_nothing(self) -> None:
        self.assertIn("names no attribute", self.refused(1, "set", self.pool, "nobody.units", "K"))
        self.refused(1, "set", self.pool, "units", "K")
        self.refused(2, "set", self.pool, "answer.units")
        self.refused(2, "set", self.pool, "answer.units", "K", "--remove")
        self.refused(2, "set", self.pool, "answer.pmemcpy:index", "none")


class Usage(WithPool):
    def test_is_explained(self) -> None:
        for arguments in (
            (),
            ("nonsense",),
            ("ls",),
            ("ls", self.pool, "--nonsense"),
            ("cat", self.pool),
            ("rm", self.pool),
        ):
            self.assertIn("--help", self.refused(2, *arguments))
        self.assertIn("'lss': did you mean `pmemcpy ls`?", self.refused(2, "lss", self.pool))
        # "`pmemcpy VERB --help`" stood there literally.
        self.assertIn("`pmemcpy ls --help`", self.refused(2, "ls"))

    def test_words_of_other_programs_are_known(self) -> None:
        # Tried by newcomers: list, dump, show, head, attr, grow, status, ps.
        for word, verb in {
            "list": "ls",
            "dump": "cat",
            "show": "info",
            "head": "--head",
            "attr": "set",
            "grow": "--size",
            "status": "info",
            "ps": "top",
        }.items():
            said = self.refused(2, word, self.pool)
            self.assertIn(f"there is no verb '{word}'", said)
            self.assertIn(verb, said.split(":", 2)[2])

    def test_verbs_stand_under_headings(self) -> None:
        # "38 verbs in one flat list need headings."
        text = self.text("--help")
        for heading, verb in {
            "Looking": "  ls ",
            "Finding": "  find ",
            "Changing": "  set ",
            "Shell": "  completion ",
        }.items():
            self.assertLess(text.index(heading), text.index(verb))
        self.assertNotIn("Subcommands", text)
        self.assertIn("4XB", self.refused(2, "create", self.folder / "new", "--size", "4XB"))

    def test_help_has_the_exit_codes(self) -> None:
        self.assertIn("permission_denied", self.text("--help"))
        self.assertIn("--box", self.text("cat", "--help"))
        self.assertRegex(self.text("--version"), r"^pmemcpy \d+\.\d+")

    def test_errors_are_json_when_asked(self) -> None:
        done = run("cat", self.pool, "nobody", "--json")
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "not_found")

    def test_a_full_output_is_an_error(self) -> None:
        full = Path("/dev/full")
        if not full.exists():
            self.skipTest("no /dev/full here")
        self.refused(4, "cat", self.pool, "line", "-o", full)
        with full.open("wb") as out:
            self.assertNotEqual(
                subprocess.run([PMEMCPY, "ls", self.pool], stdout=out, stderr=subprocess.PIPE).returncode, 0
            )


if __name__ == "__main__":
    main()

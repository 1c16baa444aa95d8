#!/usr/bin/env python3
"""Two users share a namespace: what a grant opens, and what it leaves closed.

usage: sharing_test.py PMEMCPY COLLEAGUE [unittest arguments]
"""

import json
import os
import secrets

from users import Case, main


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
        self.assertEqual(self.text(self.friend, "find", "--all", status=1), "")
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


if __name__ == "__main__":
    main()

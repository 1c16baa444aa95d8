#!/usr/bin/env python3
"""Users of one pool keep something to themselves: what others see of it.

usage: private_test.py PMEMCPY COLLEAGUE [unittest arguments]
"""

from users import Case, User, main


class Private(Case):
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
        for words in (("cat", "climate:", "secret/word"), ("stat", "climate:", "secret/A")):
            self.refused(self.friend, 1, *words)
        self.refused(self.friend, 1, "ls", "climate:", "secret")
        self.assertEqual(self.text(self.friend, "ls", "climate:"), "group/A\nv\n")
        self.assertEqual(
            self.text(self.friend, "find", "climate:", "name ~ '*secret*' or name = 'secret'", status=1), ""
        )
        self.assertEqual(self.text(self.friend, "find", "--all", "exists(attr('hidden attribute'))", status=1), "")
        own = space / f"shared.pmem.private-{self.owner.uid}"
        for way in ("<", "<>"):
            self.assertFalse(self.opens(self.friend, own, way))
            self.assertFalse(self.opens(self.friend, f"{own}.rt", way))
        for verb in ("load", "view", "hold", "fill"):
            self.assertEqual(self.does(self.friend, own, verb), "permission_denied")
        self.refused(self.friend, 9, "scope", "climate:", "v", "private")
        # The owner sees one pool.
        self.assertEqual(
            self.text(self.owner, "find", "climate:", "scope = 'private' and kind != 'group'"),
            "secret/A\nsecret/word\n",
        )
        self.assertEqual(self.text(self.owner, "find", "climate:", "scope = 'shared'"), "group\ngroup/A\nv\n")
        self.assertEqual(self.text(self.friend, "find", "climate:", "scope = 'private'", status=1), "")
        self.assertEqual(self.text(self.owner, "ls", "climate:"), "group/A\nsecret/A\nsecret/word\nv\n")
        self.assertEqual(self.text(self.owner, "cat", "climate:", "secret/word"), "hidden word\n")
        self.assertEqual(
            self.text(self.owner, "find", "climate:", "attr('hidden attribute') = 'hidden value'"), "secret/word\n"
        )
        self.assertEqual(self.text(self.owner, "share", "climate:", "name ~ 'secret/w*'"), "1 variable is now shared\n")
        self.assertEqual(self.text(self.friend, "cat", "climate:", "secret/word"), "hidden word\n")
        self.refused(self.friend, 1, "cat", "climate:", "secret/A")

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


class PrivateOnADisk(Private):
    """The same where files are behind the page cache."""

    place = "/var/tmp"


if __name__ == "__main__":
    main()

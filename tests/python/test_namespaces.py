"""Namespaces, as one user has them; two users meet in tests/sharing."""

import os
import pwd
from collections.abc import Iterator
from pathlib import Path

import pmemcpy
import pytest
from pmemcpy import namespaces

FRIEND = "daemon"  # whom every machine has


@pytest.fixture
def root(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty one, which PMEMCPY_ROOT names."""
    folder = Path(path)
    folder.mkdir()
    monkeypatch.setenv("PMEMCPY_ROOT", str(folder))
    yield folder


def fill(name: str) -> None:
    with pmemcpy.open(name, "a", max_bytes=16 << 20) as pool:
        pool["u"] = [1.0, 2.0]


def test_a_namespace_is_opened_by_name(root: Path) -> None:
    namespaces.create("climate")
    fill("climate:")
    fill("climate:x")
    with pmemcpy.open("climate:x", "r") as pool:
        assert pool.info.path == str(root / "climate" / "x.pmem") == namespaces.resolve("climate:x")
        assert pool["u"][...].tolist() == [1.0, 2.0]
    with pytest.raises(pmemcpy.PoolNotFoundError, match="no namespace 'other'"):
        pmemcpy.open("other:", "a")
    with pytest.raises(pmemcpy.PoolNotFoundError):
        pmemcpy.open("./climate:", "r")


def test_the_catalogue_tells_what_there_is(root: Path) -> None:
    assert namespaces.catalogue() == []
    namespaces.create("b")
    namespaces.create("a")
    fill("a:")
    space, empty = namespaces.catalogue()
    assert (space.name, space.path, space.access) == ("a", str(root / "a"), "write")
    assert space.owner == pwd.getpwuid(os.geteuid()).pw_name
    (pool,) = space.pools
    assert (pool.name, pool.max_bytes) == ("shared", space.used_bytes)
    assert (empty.pools, empty.quota_bytes, empty.used_bytes) == ((), 0, 0)
    assert namespaces.info("a") == space
    assert namespaces.catalogue(root=root) == [space, empty]


def test_a_quota_is_kept_by_the_library(root: Path) -> None:
    namespaces.create("a")
    namespaces.set_quota("a", 20 << 20)
    fill("a:")
    with pytest.raises(pmemcpy.NoSpaceError, match="advisory"):
        fill("a:x")
    assert namespaces.info("a").quota_bytes == 20 << 20


def test_grants_are_given_and_taken(root: Path) -> None:
    namespaces.create("a")
    try:
        assert namespaces.grant("a", user=FRIEND) == []
    except pmemcpy.UnsupportedError as error:
        pytest.skip(str(error))
    assert namespaces.grant("a", group=FRIEND, write=True) == []
    user, group = namespaces.info("a").grants
    assert user == namespaces.Grant(FRIEND, False, "read")
    assert group == namespaces.Grant(FRIEND, True, "write")
    namespaces.revoke("a", user=FRIEND)
    assert namespaces.info("a").grants == (group,)
    with pytest.raises(pmemcpy.NotFoundError):
        namespaces.revoke("a", user=FRIEND)


def test_what_cannot_be_says_why(root: Path) -> None:
    for name in ("", ".a", "a/b", "all", "x" * 65):
        with pytest.raises(pmemcpy.InvalidArgumentError):
            namespaces.create(name)
    namespaces.create("a")
    with pytest.raises(pmemcpy.AlreadyExistsError):
        namespaces.create("a")
    with pytest.raises(pmemcpy.NotFoundError, match="no user"):
        namespaces.grant("a", user="no-such-user")
    with pytest.raises(TypeError, match="user= and group="):
        namespaces.grant("a")
    with pytest.raises(pmemcpy.NotFoundError, match="mkdir -m 1777"):
        namespaces.catalogue(root=root / "nothing")


def test_a_namespace_with_pools_is_dropped_by_who_says_so(root: Path) -> None:
    namespaces.create("a")
    fill("a:")
    with pytest.raises(pmemcpy.BusyError):
        namespaces.drop("a")
    namespaces.drop("a", with_pools=True)
    assert list(root.iterdir()) == []

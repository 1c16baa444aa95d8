"""Zarr that is broken, hostile or not known: an Error that names it, never a signal, a wait or much memory."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pmemcpy
import pytest
import zarr
import zarr.codecs as zc
from conftest import COMMAND, Command


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zfpy"}]}, ["zfpy"]),
        ({"data_type": "int4"}, ["int4"]),
        ({"storage_transformers": [{"name": "wonder", "configuration": {}}]}, ["wonder"]),
        ({"chunk_grid": {"name": "rectilinear", "configuration": {}}}, ["rectilinear"]),
        ({"chunk_key_encoding": {"name": "fanout"}}, ["fanout"]),
        ({"surprise": {"must_understand": True}}, ["surprise"]),
        (
            {"shape": [2**40, 2**40], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}}},
            ["2^64"],
        ),
    ],
)
def test_what_is_not_known_is_named(command: Command, folder: Path, change: dict[str, Any], words: list[str]) -> None:
    zarr.open_group(folder / "a.zarr", mode="w").create_array("inner/x", shape=(4, 4), dtype="i4")[...] = 1
    file = folder / "a.zarr/inner/x/zarr.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    command.fails("import", "a.zarr", "p.pmem", code="unsupported", words=["inner/x", *words])
    assert not (folder / "p.pmem").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**40, 2**40]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**30, 2**30]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 1]}}},
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [-1, 1]}}},
        {"shape": [2**31, 2**31], "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 1]}}},
        {"shape": [4]},
        {"shape": "four"},
        {"codecs": []},
        {"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}, {"name": "bytes"}]},
        {"codecs": [{"name": "bytes"}, {"name": "bytes"}]},
        {"codecs": [{"name": "gzip", "configuration": {"level": "much"}}, {"name": "bytes"}]},
        {"codecs": [{"name": "vlen-utf8"}]},
        {"fill_value": "0x00"},
        {"fill_value": 2**40},
        {"data_type": {"name": "structured", "configuration": {"fields": [["a", "int8"], ["a", "int8"]]}}},
        {"data_type": {"name": "raw_bytes", "configuration": {"length_bytes": 2**62}}},
        {"data_type": "r4611686018427387904"},
        {"dimension_names": ["one"]},
        {"attributes": 7},
        {"node_type": "tree"},
    ],
)
def test_metadata_that_make_no_sense(command: Command, folder: Path, change: dict[str, Any]) -> None:
    zarr.open_group(folder / "a.zarr", mode="w").create_array("inner/x", shape=(4, 4), dtype="i4")[...] = 1
    file = folder / "a.zarr/inner/x/zarr.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert_refused(command, folder, "inner/x")


def assert_refused(command: Command, folder: Path, word: str, may_pass: bool = False) -> bool:
    """Within 10 seconds and a GiB: an Error that names it, and nothing left. `may_pass`: or all is as it should be."""
    done = subprocess.run(
        [COMMAND, "import", "a.zarr", "p.pmem", "--max-size", "256MiB"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=10,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30)),
    )
    pool = folder / "p.pmem"
    if may_pass and done.returncode == 0:
        pool.unlink()
        return False
    assert done.returncode in (2, 3, 5, 6, 7, 8, 10), done
    assert "a.zarr" in done.stderr and word in done.stderr, done.stderr
    assert not pool.exists()
    return True


def test_broken_stores_are_errors(command: Command, folder: Path) -> None:
    """Chunks and metadata cut, and with bytes changed, by a seed: never a signal, a wait, or half of it."""
    store = folder / "whole.zarr"
    root = zarr.open_group(store, mode="w")
    data = np.random.default_rng(4).integers(0, 99, (12, 10)).astype("i4")
    for name, chain in [
        ("gzip", [zc.GzipCodec()]),
        ("zstd", [zc.ZstdCodec()]),
        ("blosc", [zc.BloscCodec(cname="lz4")]),
        ("bloscz", [zc.BloscCodec(cname="zstd", shuffle="bitshuffle")]),
        ("crc", [zc.ZstdCodec(checksum=True), zc.Crc32cCodec()]),
    ]:
        root.create_array(f"{name}", data=data, chunks=(12, 10), compressors=chain)
    root.create_array("shards", data=data, chunks=(4, 5), shards=(12, 10))
    root.create_array("plain", data=data, chunks=(12, 10), compressors=None)
    root.create_array("words", shape=(9,), chunks=(9,), dtype=str, compressors=None)[:] = [
        f"word {i}" for i in range(9)
    ]
    rng = np.random.default_rng(int(os.environ.get("PMEMCPY_SEED", "5")))
    files = sorted(path.relative_to(store) for path in store.rglob("*") if path.is_file())
    refused = 0
    for file in files:
        content = (store / file).read_bytes()
        cuts = [content[: int(n)] for n in rng.integers(0, len(content), 3)]
        changed = []
        for _ in range(5):
            bad = bytearray(content)
            for _ in range(int(rng.integers(1, 4))):
                bad[int(rng.integers(0, len(bad)))] = int(rng.integers(0, 256))
            changed.append(bytes(bad))
        for bad_content in cuts + changed:
            shutil.rmtree(folder / "a.zarr", ignore_errors=True)
            shutil.copytree(store, folder / "a.zarr")
            (folder / "a.zarr" / file).write_bytes(bad_content)
            word = file.parts[0] if len(file.parts) > 1 else "zarr.json"
            is_cut = bad_content in cuts and file.name != "zarr.json"
            refused += assert_refused(command, folder, word if is_cut else "", may_pass=not is_cut)
    assert refused > len(files) * 4


@pytest.mark.parametrize("codec", ["zstd", "gzip", "blosc"])
def test_a_bomb_takes_no_memory(command: Command, folder: Path, codec: str) -> None:
    """A chunk that is small and says that it is large is refused before it is."""
    array = zarr.create_array(
        folder / "a.zarr",
        shape=(1 << 26,),
        chunks=(1 << 26,),
        dtype="u1",
        compressors={"zstd": zc.ZstdCodec(), "gzip": zc.GzipCodec(), "blosc": zc.BloscCodec()}[codec],
        fill_value=1,
    )
    array[:] = 0
    file = folder / "a.zarr/zarr.json"
    document = json.loads(file.read_text())
    document["shape"] = document["chunk_grid"]["configuration"]["chunk_shape"] = [1 << 10]
    file.write_text(json.dumps(document))
    assert_refused(command, folder, "chunk c/0")


def test_links_and_other_things_in_a_store(command: Command, folder: Path) -> None:
    root = zarr.open_group(folder / "a.zarr", mode="w")
    root.create_array("g/x", shape=(3,), dtype="i4")[:] = 1
    (folder / "elsewhere").mkdir()
    shutil.move(folder / "a.zarr/g/x/c", folder / "elsewhere/c")
    (folder / "a.zarr/g/x/c").symlink_to(folder / "elsewhere/c")
    (folder / "a.zarr/g/again").symlink_to("..")
    (folder / "a.zarr/notes.txt").write_text("mine")
    (folder / "a.zarr/images").mkdir()
    warned = ["g/again: another name", "notes.txt: a file that is nothing of Zarr", "images: a folder that is nothing"]
    command("import", "a.zarr", "p.pmem", warnings=warned)
    with pmemcpy.open(folder / "p.pmem", "r") as pool:
        assert pool["g/x"][...].tolist() == [1, 1, 1]
    os.mkfifo(folder / "a.zarr/g/x/c-pipe")
    (folder / "a.zarr/g/x/c").unlink()
    (folder / "a.zarr/g/x/c").mkdir()
    os.mkfifo(folder / "a.zarr/g/x/c/0")
    command.fails("import", "a.zarr", "q.pmem", code="corrupt", words=["g/x", "c/0", "no file"])

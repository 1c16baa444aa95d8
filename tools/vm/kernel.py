"""The machine's kernel, its modules and busybox: from Debian packages, unpacked in a cache, never installed."""

import fcntl
import lzma
import os
import re
import shutil
import stat
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

# By what they are for. What a module needs is written in it, except what it asks for by name at run time (crc32c).
MODULES = {
    "machine": ["virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "nd_pmem"],
    "nvdimm": ["nfit"],
    "virtio-pmem": ["virtio_pmem"],
    "ext4": ["crc32c_generic", "ext4"],
    "xfs": ["crc32c_generic", "xfs"],
    "devdax": ["device_dax", "dax_pmem"],
}
PACKAGES = ["linux-image-amd64", "busybox-static"]


class Missing(Exception):
    """Something that this machine lacks and that cannot be fetched from here."""


class Kernel:
    def __init__(self, folder: Path):
        self.image = folder / "vmlinux"
        self.busybox = folder / "busybox"
        self.modules = folder / "modules"

    def is_there(self) -> bool:
        names = [name for group in MODULES.values() for name in group]
        return self.image.is_file() and self.busybox.is_file() and all(self.module(name).is_file() for name in names)

    def module(self, name: str) -> Path:
        return self.modules / f"{name}.ko"

    def in_order(self, groups: list[str]) -> list[str]:
        """The modules of these groups and all that they need, each after what it needs."""
        order: list[str] = []
        for group in groups:
            for name in MODULES[group]:
                add_with_needs(name, self.module, order)
        return order


def add_with_needs(name: str, path_of, order: list[str]) -> None:
    if name in order:
        return
    needs = re.search(rb"\0depends=([^\0]*)\0", path_of(name).read_bytes())
    for other in needs.group(1).decode().split(",") if needs else []:
        if other:
            add_with_needs(other.replace("-", "_"), path_of, order)
    order.append(name)


def prepare() -> Kernel:
    """The kernel in the cache, fetched when it is not there. Raises Missing."""
    if os.uname().machine != "x86_64":
        raise Missing("the machine is an x86-64 one, and so must be the programs that run in it")
    if shutil.which("qemu-system-x86_64") is None:
        raise Missing("no qemu-system-x86_64: apt-get install qemu-system-x86")
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pmemcpy-daxvm"
    folder = Path(os.environ.get("DAXVM_CACHE") or default).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not Kernel(folder).is_there():
            fetch(folder)
    return Kernel(folder)


def fetch(folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        fresh = Path(name)
        root = unpack_packages(fresh)
        found = {path.stem.replace("-", "_"): path for path in root.glob("lib/modules/**/*.ko")}
        names: list[str] = []
        for group in MODULES.values():
            for module in group:
                add_with_needs(module, found.__getitem__, names)
        shutil.rmtree(folder / "modules", ignore_errors=True)
        (folder / "modules").mkdir()
        for module in names:
            shutil.copy(found[module], folder / "modules" / f"{module}.ko")
        shutil.copy(next(path for path in root.glob("**/bin/busybox")), folder / "busybox")
        compressed = next(root.glob("boot/vmlinuz-*")).read_bytes()
        (fresh / "vmlinux").write_bytes(decompressed(compressed))
        (fresh / "vmlinux").rename(folder / "vmlinux")


def unpack_packages(folder: Path) -> Path:
    """Downloads and unpacks the packages; where to."""
    try:
        depends = subprocess.run(["apt-cache", "depends", PACKAGES[0]], capture_output=True, text=True, check=True)
        newest = re.search(r"Depends: (linux-image-\d\S*)", depends.stdout)
        if not newest:
            raise Missing(f"apt knows no {PACKAGES[0]}: apt-get update")
        download = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", newest.group(1), *PACKAGES[1:]]
        subprocess.run(download, cwd=folder, check=True, capture_output=True, text=True)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Missing(f"the kernel comes as a Debian package, and there is no {error.filename} here") from error
    except subprocess.CalledProcessError as error:
        last = (error.stderr or "").strip().splitlines()[-1:] or ["no reason given"]
        raise Missing(f"cannot fetch the kernel's package: {last[0]} (apt-get update may help)") from error
    return folder / "root"


def decompressed(image: bytes) -> bytes:
    """The kernel that a bzImage unpacks itself to: the emulator starts that seconds sooner. Else the image as it is."""
    start, length = struct.unpack_from("<II", image, 0x248)
    start += ((image[0x1F1] or 4) + 1) * 512
    payload = image[start : start + length]
    if payload.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    return image


def archive(files: dict[str, tuple[bytes, bool]], folders: list[str]) -> bytes:
    """A cpio archive (newc), which the kernel takes as its first file system: bytes, and whether they are a program."""
    parts = []

    def add(number: int, name: str, mode: int, data: bytes) -> None:
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        parts.extend([head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)])

    for number, folder in enumerate(folders, 1):
        add(number, folder, stat.S_IFDIR | 0o755, b"")
    for number, (name, (data, is_program)) in enumerate(files.items(), len(folders) + 1):
        add(number, name, stat.S_IFREG | (0o755 if is_program else 0o644), data)
    add(0, "TRAILER!!!", 0, b"")
    return b"".join(parts)

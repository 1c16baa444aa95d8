"""One run of the machine: the emulator is started, listened to, and killed when it is time."""

import ctypes
import dataclasses
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernel import Kernel, Missing, archive

MAKE_FILE_SYSTEM = {
    # DAX wants blocks as large as pages; the rest keeps the making short.
    "ext4": "mkfs.ext4 -q -F -b 4096 -N 4096 -J size=8 -E nodiscard,lazy_itable_init=0",
    # With reflink=1 xfs has no DAX, and pMEMCPY refuses files that share blocks.
    "xfs": "mkfs.xfs -q -f -K -m reflink=0",
}
PACKAGE = {"ext4": "e2fsprogs", "xfs": "xfsprogs"}
KILLED, TIMED_OUT, ENDED_BY_ITSELF = 137, 124, 125


@dataclasses.dataclass
class Machine:
    """What `daxvm help` says of each."""

    command: list[str]
    bar: str
    eadr: bool
    use: str
    dax: str
    image: Path | None
    size: int
    memory: int
    processors: int
    rw: list[Path]
    kill_after: float | None
    since: Path | None
    timeout: float
    console: bool


def run(kernel: Kernel, machine: Machine) -> int:
    """The exit status."""
    if machine.use in PACKAGE:
        program = f"mkfs.{machine.use}"
        if shutil.which(program, path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin") is None:
            raise Missing(f"no {program}: apt-get install {PACKAGE[machine.use]}")
    with tempfile.TemporaryDirectory(prefix="daxvm-") as name:
        folder = Path(name)
        image = machine.image or folder / "image"
        is_new = not image.exists() or image.stat().st_size == 0
        if is_new:
            with image.open("wb") as file:
                file.truncate(machine.size)
        (folder / "initrd").write_bytes(first_files(kernel, machine, is_new))
        status, why = watch(machine, kernel, image, folder)
        console = (folder / "console").read_text(errors="replace") if (folder / "console").exists() else ""
        if machine.console or status == ENDED_BY_ITSELF:
            console += (folder / "emulator").read_text(errors="replace")
            sys.stderr.write("".join(f"daxvm console: {line}\n" for line in console.splitlines()[-60:]))
        if why:
            print(f"daxvm: {why}", file=sys.stderr)
        return status


def first_files(kernel: Kernel, machine: Machine, is_new: bool) -> bytes:
    """What the kernel finds before it can see the host's files."""
    environment = {name: value for name, value in os.environ.items() if name.isidentifier()}
    command = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    command += [f"cd {shlex.quote(str(Path.cwd()))} || exit 126", f"exec {shlex.join(machine.command)}"]
    settings = {"use": machine.use, "dax": machine.dax, "new": int(is_new)}
    settings["make_file_system"] = MAKE_FILE_SYSTEM.get(machine.use, "")
    order = kernel.in_order(["machine", machine.bar, machine.use])
    texts = {
        "settings": [f"{name}={shlex.quote(str(value))}" for name, value in settings.items()],
        "command": command,
        "order": order,
        "folders": [str(path.resolve()) for path in machine.rw],
    }
    files = {name: ("".join(f"{line}\n" for line in lines).encode(), False) for name, lines in texts.items()}
    files["init"] = ((Path(__file__).parent / "init").read_bytes(), True)
    files["bin/busybox"] = (kernel.busybox.read_bytes(), True)
    for module in order:
        files[f"modules/{module}.ko"] = (kernel.module(module).read_bytes(), False)
    return archive(files, ["bin", "modules"])


def emulator(machine: Machine, kernel: Kernel, image: Path, folder: Path, ports: list[int]) -> list[str]:
    """Its command line. `ports`: where the bytes of the command's output, its errors and our own channel go."""
    bytes_in_bar = image.stat().st_size
    device = "nvdimm" if machine.bar == "nvdimm" else "virtio-pmem-pci"
    persistence = "cpu" if machine.eadr else "mem-ctrl"
    line = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    line += ["-machine", f"q35,nvdimm=on,nvdimm-persistence={persistence},usb=off,smbus=off,sata=off"]
    # Copies by `rep movsb` are emulated byte by byte; without these two marks the C library uses vectors.
    line += ["-accel", "tcg,thread=multi", "-cpu", "max,-erms,-fsrm", "-smp", str(machine.processors)]
    line += ["-m", f"size={machine.memory}B,slots=2,maxmem={machine.memory + 2 * bytes_in_bar + (4 << 30)}B"]
    line += ["-object", f"memory-backend-file,id=bar,share=on,mem-path={image},size={bytes_in_bar}"]
    line += ["-device", f"{device},memdev=bar"]
    shared = "security_model=none,multidevs=remap"
    line += ["-virtfs", f"local,path=/,mount_tag=host,readonly=on,{shared}"]
    for number, path in enumerate(machine.rw):
        line += ["-virtfs", f"local,path={path.resolve()},mount_tag=rw{number},{shared}"]
    line += ["-device", "virtio-serial-pci"]
    for number, descriptor in enumerate(ports, 1):
        line += ["-add-fd", f"fd={descriptor},set={number}"]
        line += ["-chardev", f"file,id=port{number},path=/dev/fdset/{number},append=on"]
        line += ["-device", f"virtserialport,nr={number},chardev=port{number}"]
    line += ["-serial", f"file:{folder / 'console'}", "-bios", "qboot.rom"]
    line += ["-kernel", str(kernel.image), "-initrd", str(folder / "initrd")]
    # A panic ends the machine; nothing is probed or tested that it does not have.
    line += ["-append", "console=ttyS0 quiet panic=-1 mitigations=off nokaslr random.trust_cpu=on tsc=reliable "
             "no_timer_check cryptomgr.notests"]  # fmt: skip
    return line


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def watch(machine: Machine, kernel: Kernel, image: Path, folder: Path) -> tuple[int, str]:
    """Exit status, and what is to be said of it."""
    channel, channel_end = os.pipe()
    ports = [os.dup(1), os.dup(2), channel_end]
    with (folder / "emulator").open("wb") as log:
        process = subprocess.Popen(
            emulator(machine, kernel, image, folder, ports),
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=ports, preexec_fn=die_with_parent)  # fmt: skip
    for descriptor in ports:
        os.close(descriptor)
    try:
        return listen(machine, channel)
    finally:
        process.kill()
        process.wait()
        os.close(channel)


def listen(machine: Machine, channel: int) -> tuple[int, str]:
    """Reads our channel until the machine has ended (then it ends too) or is to be killed."""
    deadline = time.monotonic() + machine.timeout
    kill_at = deadline
    is_waiting = False  # for what the time to the kill counts from
    said = b""
    status, why = ENDED_BY_ITSELF, "the machine ended before the command did"
    while True:
        if is_waiting and (machine.since is None or machine.since.exists()):
            is_waiting = False
            kill_at = min(deadline, time.monotonic() + machine.kill_after)
        left = kill_at - time.monotonic()
        if left <= 0:
            return (TIMED_OUT, "too long, given up") if kill_at == deadline else (KILLED, "")
        if not select.select([channel], [], [], min(left, 0.02) if is_waiting else left)[0]:
            continue
        piece = os.read(channel, 4096)
        if not piece:
            return status, why
        said += piece
        while b"\n" in said:
            line, said = said.split(b"\n", 1)
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "ready":
                is_waiting = machine.kill_after is not None
            elif word == "exit":
                status, why, is_waiting, kill_at = int(rest), "", False, deadline
            elif word == "fail":
                why = f"in the machine: {rest}"

"""The least time in which a hierarchy can take what an application stores: what Figure 8 is judged against."""

from collections.abc import Sequence
from dataclasses import dataclass

UNLIMITED = float("inf")


@dataclass(frozen=True)
class Device:
    """One target. `bytes_per_second` is what it takes from many writers, of whom one waits for the latency while others
    write."""

    bytes_per_second: float
    capacity_bytes: float = UNLIMITED


def least_write_seconds(devices: Sequence[Device], phases: int, phase_bytes: float, compute_seconds: float) -> float:
    """Seconds that an application has to wait for its stores, by the best of all schedules.

    The model. Devices are ordered, the fastest first; the last has room for all. The application computes, then
    stores the bytes of a phase one after another, no faster than the first device takes them, and so on. A device
    takes one thing at a time, at its bandwidth, be it stored there or moved down to it, and nobody waits for its
    latency; all devices do so at the same time, while the application computes as well as while it stores. Reading
    costs nothing, and a byte that was moved makes room at once.

    Why nothing is faster. Whatever is decided, what lies in the first k devices together can grow to their capacity
    and can shrink no faster than the devices below can be filled. So the application stores at the first device's
    bandwidth as long as all of those sums have room, and else at the rate at which the fullest is emptied. That is
    followed here for each k. Where each byte goes need not be known for it; moving always as far down as there is
    room, and storing at the top, comes as near to it as whole blocks allow: the test tries all schedules of small
    hierarchies.
    """
    fastest = devices[0].bytes_per_second
    upper = range(1, len(devices))
    room = [sum(device.capacity_bytes for device in devices[:k]) for k in upper]
    emptied = [sum(device.bytes_per_second for device in devices[k:]) for k in upper]
    lies = [0.0 for _ in upper]
    waited = 0.0
    for _ in range(phases):
        lies = [max(0.0, there - rate * compute_seconds) for there, rate in zip(lies, emptied, strict=True)]
        left = phase_bytes
        while left > phase_bytes * 1e-12:
            is_full = [there >= most * (1 - 1e-12) for there, most in zip(lies, room, strict=True)]
            storing = min([fastest, *(rate for rate, full in zip(emptied, is_full, strict=True) if full)])
            step = left / storing
            for there, most, rate, full in zip(lies, room, emptied, is_full, strict=True):
                if not full and storing > rate:
                    step = min(step, (most - there) / (storing - rate))
            lies = [
                min(most, max(0.0, there + (storing - rate) * step))
                for there, most, rate in zip(lies, room, emptied, strict=True)
            ]
            left -= storing * step
            waited += step
    return waited

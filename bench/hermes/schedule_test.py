"""The least time for a hierarchy, against all schedules of small ones."""

import heapq
import itertools
import random

import pytest
from schedule import Device, least_write_seconds

KIB = 1024.0


def all_schedules(ticks: tuple[int, ...], capacities: tuple[int, ...], phases: int, blocks: int, compute: int) -> int:
    """The fewest ticks of waiting, over everything that can be done with whole blocks: at each tick the application
    stores into any device or waits, and each device that is idle is given a block of any device above, or nothing.
    `ticks` is what a block takes."""
    last = len(ticks) - 1
    # A state: blocks stored of this phase, phases left, ticks left to compute, what lies where, and for each device
    # what is under way to it: (ticks left, from), where -1 is the application and None is nothing.
    idle = tuple((0, None) for _ in ticks)
    begin = (0, phases, compute, (0,) * len(ticks), idle)
    queue = [(0, 0, begin)]
    counter = itertools.count(1)
    seen = set()
    while queue:
        waited, _, state = heapq.heappop(queue)
        if state in seen:
            continue
        seen.add(state)
        stored, left, computing, lies, under_way = state
        if left == 0:
            return waited
        is_storing = any(source == -1 for _, source in under_way)
        for choice in itertools.product(*(choices(i, lies, under_way) for i in range(last + 1))):
            starts = [i for i, source in enumerate(choice) if source == -1]
            if len(starts) > 1 or (starts and (computing or is_storing)):
                continue
            taken = [choice.count(i) for i in range(last + 1)]
            leaving = [sum(source == i for _, source in under_way) for i in range(last + 1)]
            if any(taken[i] + leaving[i] > lies[i] for i in range(last + 1)):
                continue
            now = [(ticks[i], choice[i]) if choice[i] is not None else under_way[i] for i in range(last + 1)]
            coming = [int(source is not None) for _, source in now]
            if any(lies[i] + coming[i] > capacities[i] for i in range(last)):
                continue
            next_state = one_tick(stored, left, computing, lies, now, blocks, compute)
            heapq.heappush(queue, (waited + (0 if computing else 1), next(counter), next_state))
    raise AssertionError("no schedule ends")


def choices(device: int, lies: tuple[int, ...], under_way: tuple) -> list[int | None]:
    if under_way[device][1] is not None:
        return [None]
    return [None, -1, *(i for i in range(device) if lies[i] > 0)]


def one_tick(stored: int, left: int, computing: int, lies: tuple, now: list, blocks: int, compute: int) -> tuple:
    there = list(lies)
    after = []
    for device, (remaining, source) in enumerate(now):
        if source is None or remaining > 1:
            after.append((remaining - 1, source) if source is not None else (0, None))
            continue
        after.append((0, None))
        there[device] += 1
        if source >= 0:
            there[source] -= 1
        else:
            stored += 1
    if computing:
        computing -= 1
    elif stored == blocks:
        stored, left, computing = 0, left - 1, compute
    return stored, left, computing, tuple(there), tuple(after)


def fluid(ticks, capacities, phases, blocks, compute):
    devices = [Device(KIB / t, KIB * c) for t, c in zip(ticks[:-1], capacities, strict=True)]
    return least_write_seconds([*devices, Device(KIB / ticks[-1])], phases, blocks * KIB, compute)


@pytest.mark.parametrize("seed", range(12))
def test_no_schedule_is_faster_and_the_best_is_slower_by_a_few_blocks_only(seed):
    draw = random.Random(seed)
    ticks = tuple(sorted(draw.sample(range(1, 6), 3)))
    work = (ticks, (draw.randint(1, 2), draw.randint(1, 2)), draw.randint(1, 2), draw.randint(2, 3), draw.randint(0, 5))
    least, best = fluid(*work), all_schedules(*work)
    assert least <= best + 1e-9, work
    assert best - least <= 2 * sum(ticks), work


def test_what_fits_is_stored_at_the_first_devices_bandwidth():
    assert fluid((1, 5, 9), (8, 8), 2, 4, 0) == pytest.approx(8)


def test_long_computing_empties_the_first_device():
    assert fluid((1, 5, 9), (4, 4), 4, 4, 1000) == pytest.approx(16)


def test_what_does_not_fit_comes_in_as_the_others_take_it():
    # 1 block of room, a device below that takes a block in 4 ticks, the last one in 12: one in 3 ticks.
    seconds = least_write_seconds([Device(KIB, KIB), Device(KIB / 4, 1e9), Device(KIB / 12)], 1, 300 * KIB, 0)
    assert seconds == pytest.approx(900, rel=0.02)


def test_a_device_below_that_is_full_takes_only_what_leaves_it():
    seconds = least_write_seconds([Device(KIB, KIB), Device(KIB / 4, KIB), Device(KIB / 12)], 1, 300 * KIB, 0)
    assert seconds == pytest.approx(3600, rel=0.02)

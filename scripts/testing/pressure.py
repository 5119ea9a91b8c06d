"""How much this machine lacks processors: the kernel's pressure stall information, Documentation/accounting/psi.rst."""

import os
import time
from pathlib import Path

FILE = Path("/proc/pressure/cpu")
SHORT = 60.0  # percent of the last 10 s in which a process waited for a processor; below it another stage may start


def read():
    """The members of the line `some`: averages in percent, the total in microseconds. None where the kernel has no such file."""
    try:
        line = next(line for line in FILE.read_text().splitlines() if line.startswith("some "))
        return {name: float(value) for name, _, value in (member.partition("=") for member in line.split()[1:])}
    except (OSError, StopIteration, ValueError):
        return None


def is_low():
    """Whether there is room for more. Without the kernel's figures, the load of the last minute tells."""
    figures = read()
    if figures is None:
        return os.getloadavg()[0] < 2 * len(os.sched_getaffinity(0))
    return figures["avg10"] < SHORT


class Meter:
    """The pressure between its creation and `str`, from whatever runs on this machine."""

    def __init__(self):
        self._began, self._before = time.monotonic(), read()

    def __str__(self):
        now, seconds = read(), time.monotonic() - self._began
        load = f"load {os.getloadavg()[2]:.1f} in the last 15 minutes"
        if now is None or self._before is None or seconds <= 0:
            return f"pressure: unknown, the kernel does not report it; {load}"
        share = (now["total"] - self._before["total"]) / 1e6 / seconds
        return f"pressure: processes waited for a processor {min(share, 1):.0%} of the time; {load}"

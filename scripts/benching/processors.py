"""How much of the processors others took, while some of this process' descendants are still running."""

import os
import threading
from pathlib import Path

from .machine import Noise

PAUSE_S = 0.5


def processes():
    """Of each process: pid and start time -> parent, seconds of processor time."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            ticks = int(fields[11]) + int(fields[12])
            found[int(entry.name), fields[19]] = (int(fields[1]), ticks / os.sysconf("SC_CLK_TCK"))
    return found


def descendants(more=()):
    """This process, the given ones and all below them: pid and start time -> seconds of processor time."""
    everything = processes()
    own, before = {os.getpid(), *more}, 0
    while len(own) > before:
        before = len(own)
        own |= {pid for (pid, _), (parent, _) in everything.items() if parent in own}
    return {key: seconds for key, (_, seconds) in everything.items() if key[0] in own}


class Others:
    """A context that measures the share. What a process used after it was last looked at counts as others' use.

    Takes the pids of measured processes that are no descendants, such as a broker."""

    def __init__(self, *more):
        self._more = more

    def __enter__(self):
        self._first, self._last = descendants(self._more), {}
        self._busy, _ = Noise._read()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while not self._end.wait(PAUSE_S):
            self._last |= descendants(self._more)

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        self._last |= descendants(self._more)
        busy, _ = Noise._read()
        own = sum(seconds - self._first.get(key, 0) for key, seconds in self._last.items())
        foreign = busy[0] - self._busy[0] - own * os.sysconf("SC_CLK_TCK")
        self.share = round(max(0.0, foreign / max(1, busy[1] - self._busy[1])), 3)

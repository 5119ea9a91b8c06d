"""The emitter of this process: start it, flush it, ask it."""

import ctypes

from lifeline._library import Options, Statistics, check, library
from lifeline.events import refusals

_TEXTS = ("url", "ring_dir", "compression", "clock", "program", "host", "routes", "spool", "spool_full", "spool_sync",
          "resolution", "triggers", "never", "max_for")
_NUMBERS = ("budget_bytes", "batch_bytes", "interval_ms", "block_timeout_ms", "flush_timeout_ms", "spool_bytes",
            "max_rate")
_POLICIES = {"drop-newest": 1, "block": 2}


def init(*, policy=None, context=None, **options):
    """Starts the emitter. Optional: the first event does so with the environment's settings.

    Takes the members of ll_options in lifeline.h by their names, but for the log callback: url, resolution, spool, ...;
    policy is "drop-newest" or "block", context a dict. Raises LifelineError for a bad value, and when the emitter runs
    already.
    """
    unknown = sorted(set(options) - set(_TEXTS) - set(_NUMBERS))
    if unknown:
        raise TypeError(f"init() has no option {unknown[0]!r}")
    chosen = Options(size=ctypes.sizeof(Options))
    for name, value in options.items():
        setattr(chosen, name, value.encode() if name in _TEXTS else value)
    if policy is not None:
        if policy not in _POLICIES:
            raise ValueError(f"unknown policy {policy!r}; policies are {', '.join(_POLICIES)}")
        chosen.policy = _POLICIES[policy]
    if context is not None:
        chosen.context = ",".join(f"{key}={value}" for key, value in context.items()).encode()
    check(library.ll_init(ctypes.byref(chosen)), "init")


def flush(timeout=5.0):
    """Waits until the sink has acknowledged what was emitted before. False when that takes longer than `timeout`."""
    return library.ll_flush(int(timeout * 1000)) == 0


def shutdown(timeout=5.0):
    """Flushes and stops, as the end of the program does by itself. False: something is left for the next start."""
    return library.ll_shutdown(int(timeout * 1000)) == 0


def stats():
    """The counters since the start, by name: emitted, dropped_ring_full, ..., and whether the emitter is on. `refused`
    counts calls that could not make an event: a value that its type cannot hold, a name that no type may have."""
    now = Statistics(size=ctypes.sizeof(Statistics))
    library.ll_stats(ctypes.byref(now))
    return {name: getattr(now, name) for name, _ in Statistics._fields_ if name != "size"} | {"refused": refusals.count}

"""One measurement: a server of its own that answers a number of requests."""

import contextlib
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from ..daemon import LIMIT_S, Daemon
from ..emitter.programs import environment
from ..processes import BIN, changed_environment, cpu_seconds, free_port, run, wait_until
from ..processors import Others
from .build import program
from .ways import WAYS

KEYS = 65_536  # of bench-memcached-load, which stores a value for each
RESTS_S, RESTS_CPU_S = 0.2, 0.001


def apart():
    """A processor for the server, and the others for all the rest, which this process and its children move to."""
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or {first})
    return first


@contextlib.contextmanager
def serving(name, settings, folder, processor):
    """memcached with one thread for its clients, as it has but one processor."""
    port = free_port()
    command = ["taskset", "-c", processor, program(name), "-l", "127.0.0.1", "-p", port, "-U", 0, "-t", 1]
    if os.getuid() == 0:
        command += ["-u", "root"]
    with open(folder / "log", "wb") as log:
        server = Daemon(name, subprocess.Popen([str(part) for part in command], env=changed_environment(settings), stdout=log, stderr=log),
                        port)
    try:
        server.answers(folder / "log")
        yield server
    finally:
        if server.process.returncode is None:
            server.end()


def load(server, *options):
    """Seconds for the requests."""
    return json.loads(run(BIN / "bench-memcached-load", "--port", server.port, *options, environment=environment()))["seconds"]


def rest(server):
    """Waits until it has sent what its first requests gave it to send; gives its CPU time so far."""
    seen = [server.cpu_seconds()]

    def rests():
        time.sleep(RESTS_S)
        seen.append(server.cpu_seconds())
        return seen[-1] - seen[-2] < RESTS_CPU_S

    wait_until(rests, f"{server.name} rests", LIMIT_S)
    return seen[-1]


def measure(name, broker, requests, processor):
    """CPU time of the server per request, from the first of them to its end, so that the events of all are on their way. Times of
    the processes that take the events are apart."""
    copy, way = WAYS[name]
    with tempfile.TemporaryDirectory(prefix="lifeline-memcached.", dir="/dev/shm") as own, way(own, broker) as emitting:
        receiver = [emitting.receiver] if emitting.receiver else []
        with Others(*receiver) as others:
            with serving(copy, emitting.settings, Path(own), processor) as server:
                load(server)
                before, received = rest(server), sum(map(cpu_seconds, receiver))
                seconds = load(server, "--requests", requests)
            used, receiving = server.total - before, sum(map(cpu_seconds, receiver)) - received
        lost, kept = emitting.kept(KEYS + requests, Path(own) / "log")
    return {"cpu_ns": used / requests * 1e9, "per_s": requests / seconds, "busy": used / seconds,
            "receiver_cpu_ns": receiving / requests * 1e9, "lost": lost, "bytes": kept / (KEYS + requests), "others": others.share}

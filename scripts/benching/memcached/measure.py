"""A round: servers that answer a number of requests each, in turns."""

import contextlib
import json
import os
import random
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


class Measured:
    """A server, and what it has used for the slices so far. Times of the processes that take its events are apart."""

    def __init__(self, name, broker, processor, stack):
        copy, way = WAYS[name]
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lifeline-memcached.", dir="/dev/shm")))
        self.emitting = stack.enter_context(way(str(self.folder), broker))
        self.server = stack.enter_context(serving(copy, self.emitting.settings, self.folder, processor))
        self.receiver = [self.emitting.receiver] if self.emitting.receiver else []
        self.requests, self.seconds, self.cpu, self.receiving = 0, 0.0, 0.0, 0.0
        load(self.server)
        rest(self.server)

    def slice(self, requests):
        before, received = self.server.cpu_seconds(), self._received()
        self.seconds += load(self.server, "--requests", requests)
        self.cpu += rest(self.server) - before
        self.receiving += self._received() - received
        self.requests += requests

    def end(self):
        """Then the events of all requests are on their way."""
        before, received = self.server.cpu_seconds(), self._received()
        self.server.end()
        self.cpu += self.server.total - before
        self.receiving += self._received() - received

    def figures(self, others):
        answered = KEYS + self.requests
        lost, kept = self.emitting.kept(answered, self.folder / "log")
        return {"cpu_ns": self.cpu / self.requests * 1e9, "per_s": self.requests / self.seconds, "busy": self.cpu / self.seconds,
                "receiver_cpu_ns": self.receiving / self.requests * 1e9, "lost": lost, "bytes": kept / answered, "others": others}

    def _received(self):
        return sum(map(cpu_seconds, self.receiver))


def measure(names, broker, requests, slices, processor):
    """Way -> its figures per request. All servers stand from the first slice to the last, and take turns in each: what slows the
    machine down for longer than a slice slows all of them down."""
    with contextlib.ExitStack() as stack:
        servers = {name: Measured(name, broker, processor, stack) for name in names}
        with Others(*(pid for server in servers.values() for pid in server.receiver)) as others:
            for _ in range(slices):
                for name in random.sample(names, len(names)):
                    servers[name].slice(requests // slices)
            for server in servers.values():
                server.end()
        return {name: server.figures(others.share) for name, server in servers.items()}

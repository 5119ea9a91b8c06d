"""Runs one cell: the link, the disks, the programs, and what happened in each second."""

import contextlib
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from ..processors import Others
from .cells import AFTER_S, BEFORE_S, FADE_S, LINK_MBIT, READ_MB, SETTLE_S, WRITE_MB
from .programs import PROGRAMS, Ends
from .rig import LEFT, NETWORK, RIGHT, inside, link, reachable, slow_disk

NS = 1_000_000_000
FILE_BYTES = 40 << 30  # sparse: no transfer reaches its end
CONGESTION = "cubic"  # the paper's; by route, since a namespace may not choose all that the kernel has
TCP = {"tcp_rmem": "4096 131072 67108864", "tcp_wmem": "4096 131072 67108864",
       "tcp_no_metrics_save": "1"}


@dataclass
class Run:
    """Times are nanoseconds since 1970."""

    began: int = 0
    changed: int = 0  # when loss began; 0 if it did not
    ended: int = 0
    progress: list = field(default_factory=list)  # pairs of a time and the bytes at the destination
    alerts: list = field(default_factory=list)  # one list per phase, as they were at its end
    link: list = field(default_factory=list)
    noise: float = 0

    def throughput(self, begin, end):
        """Bytes per second at the destination between two times."""
        within = [(when, size) for when, size in self.progress if begin <= when <= end]
        return (within[-1][1] - within[0][1]) / (within[-1][0] - within[0][0]) * NS

    def phases(self):
        """Begin and end of what is judged: when the connection has found its rate, and again after the change."""
        first, second = self.began + SETTLE_S * NS, self.changed + FADE_S * NS
        return [(first, self.changed), (second, self.ended)] if self.changed else [(first, self.ended)]


def written(directory):
    """Bytes below the directory, holes not counted."""
    return sum(path.stat().st_blocks * 512 for path in Path(directory).rglob("*") if path.is_file())


def watch(run, destination, seconds):
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        run.progress.append((time.time_ns(), written(destination)))
        time.sleep(min(0.5, left))


def transfer(cell, server, session, alerts):
    """Runs the cell's transfer with the session in its context; `alerts` gives the job's alerts."""
    program = PROGRAMS[cell.program]
    run = Run()
    with contextlib.ExitStack() as stack:
        # in memory, where files read and write as fast as /dev/zero and /dev/null
        memory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lifeline-transfer.", dir="/dev/shm")))
        source, destination, rings = (memory / name for name in ("source", "destination", "rings"))
        for folder in (source, destination, rings):
            folder.mkdir(mode=0o700)
        for number in range(cell.streams):
            os.truncate(os.open(source / str(number), os.O_CREAT | os.O_WRONLY), FILE_BYTES)
        left, right, running = stack.enter_context(link(rate=LINK_MBIT, delay=cell.delay_ms, seed=cell.seed))
        for space, address in ((left, LEFT), (right, RIGHT)):
            subprocess.run(inside(space, "sysctl", "-qw", *(f"net.ipv4.{key}={value}" for key, value in TCP.items())), check=True)
            subprocess.run(inside(space, "ip", "route", "replace", NETWORK, "dev", "link0", "src", address, "congctl", CONGESTION),
                           check=True)
        stack.enter_context(reachable(int(server.url.rpartition(":")[2]), left, right))
        seen = []
        for slow, below, limit in ((cell.slow_source, source, {"read": READ_MB}),
                                   (cell.slow_destination, destination, {"write": WRITE_MB})):
            mount = memory / f"{below.name}-slow" if slow else below
            if slow:
                mount.mkdir()
                stack.enter_context(slow_disk(below, mount, **limit))
            seen.append(mount)
        environment = {"LIFELINE_URL": server.url, "LIFELINE_CONTEXT": f"session={session}", "LIFELINE_RING_DIR": str(rings),
                       "LIFELINE_INTERVAL_MS": "500"}
        with Others(server.pid) as others:
            run.began = time.time_ns()
            processes = program.start(Ends(left, right, *map(str, seen), environment), cell.streams, stack)
            watch(run, destination, SETTLE_S + BEFORE_S)
            run.alerts.append(alerts(session))
            if cell.loss_percent:
                run.changed = running.change("loss", cell.loss_percent)
                watch(run, destination, FADE_S + AFTER_S)
                run.alerts.append(alerts(session))
            run.ended = time.time_ns()
            dead = [process.args for process in processes if process.poll() is not None]
            if dead:
                raise RuntimeError(f"ended before its time: {dead}")
        run.noise = others.share
    run.link = running.report
    return run

"""Starts measured processes, and always stops them by pid."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .processors import processes

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build/emitter/bin"


def changed_environment(changes):
    """Ours with these settings; one that is None is taken out of it."""
    return {key: value for key, value in {**os.environ, **changes}.items() if value is not None}


def run(*command, environment=None, timeout=900, folder=ROOT):
    """Standard output of a command that must succeed."""
    try:
        done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=timeout,
                              env=changed_environment(environment or {}))
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"{command[0]}: {error}") from error
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


@dataclass(frozen=True)
class Server:
    url: str
    pid: int


class Health(str):
    """The address of a process' metrics."""

    def __new__(cls, url, pid):
        health = super().__new__(cls, url)
        health.pid = pid
        return health


@contextlib.contextmanager
def broker(kind, *setup):
    """A private broker with Lifeline's streams or topics, made with more options of lifeline-setup."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        url = run(ROOT / "scripts/broker", "start", kind, "--dir", f"{folder}/broker", "--owner", os.getpid()).strip()
        try:
            run(BIN / "lifeline-setup", "--url", url, *setup)
            pid = re.search(r"^LIFELINE_BROKER_PID=(\d+)", Path(f"{folder}/broker/broker.env").read_text(), re.MULTILINE)
            yield Server(url, int(pid[1]))
        finally:
            run(ROOT / "scripts/broker", "stop", "--dir", f"{folder}/broker")


@contextlib.contextmanager
def stream_jobs(url, jobs, archive=None, *more):
    """`lifeline-jobs run` with more settings; gives the address of its metrics, which has a `pid`, once it is ready."""
    settings = [f"broker.url={url}", f"jobs={jobs}", "archive.roll.interval=1s", *more]
    if archive:
        settings.append(f"archive.dir={archive}")
    with tempfile.TemporaryDirectory(prefix="lifeline-bench-state.") as state:
        arguments = [argument for setting in [*settings, f"state.dir={state}"] for argument in ("--set", setting)]
        with open(Path(state) / "log", "w+") as log:
            process = subprocess.Popen([ROOT / "scripts/lifeline-jobs", "run", *arguments], stdout=subprocess.PIPE,
                                       stderr=log, text=True)
            try:
                for line in process.stdout:
                    ready = re.match(r"ready: health=(\S+)", line)
                    if ready:
                        break
                else:
                    log.seek(0)
                    raise RuntimeError(f"lifeline-jobs did not start: {log.read()[-2000:]}")
                yield Health(ready[1], process.pid)
            finally:
                process.terminate()
                try:
                    process.wait(60)
                finally:
                    process.kill()
                    process.wait()


def emit(url, events, compression="none"):
    """Emits numbered events, none of which may be dropped, and waits for the acknowledgement of all of them. Gives the
    seconds from the process' start to its end. Without compression by default: numbered events compress to nearly
    nothing, which no application's do."""
    with tempfile.TemporaryDirectory(prefix="lifeline-bench.") as folder:
        started = time.monotonic()
        answer = run(BIN / "serial-emitter", "--side", f"{folder}/side", "--events", events, "--threads", 1,
                     environment={"LIFELINE_URL": url, "LIFELINE_POLICY": "block", "LIFELINE_RING_DIR": f"{folder}/rings",
                                  "LIFELINE_BLOCK_TIMEOUT_MS": "60000", "LIFELINE_COMPRESSION": compression})
        seconds = time.monotonic() - started
    counts = json.loads(answer)
    if counts["emitted"] != events or counts["dropped"] or not counts["flushed"]:
        raise RuntimeError(f"of {events} events the emitter counted {counts}")
    return seconds


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def processes_of(root):
    """The process and its descendants."""
    children = {}
    for (pid, _), (parent, _) in processes().items():
        children.setdefault(parent, []).append(pid)
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(root):
    """Of a process and its descendants, by their CPU clocks, which are finer than ticks."""
    total = 0
    for pid in processes_of(root):
        with contextlib.suppress(OSError):
            total += time.clock_gettime(~pid << 3 | 2)
    return total


def live_heap(pid):
    """Bytes of the objects on a Java process' heap, after garbage was collected; None without the JDK's tool."""
    if not shutil.which("jcmd"):
        return None
    histogram = subprocess.run(["jcmd", str(pid), "GC.class_histogram"], capture_output=True, text=True, timeout=120, check=False)
    total = re.search(r"^Total\s+\d+\s+(\d+)", histogram.stdout, re.MULTILINE)
    return int(total[1]) if total else None


def wait_until(reached, what, timeout=600):
    """Seconds until reached() is true."""
    started = time.monotonic()
    while not reached():
        if time.monotonic() - started > timeout:
            raise RuntimeError(f"not within {timeout} s: {what}")
        time.sleep(0.05)
    return time.monotonic() - started

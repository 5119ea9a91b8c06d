"""One command in a process group, temporary folder and log of its own, with a time limit."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PORTS = range(10_000, 32_000)  # below the ephemeral ports of the kernel
PORTS_EACH = 1_000
GRACE_S = 20
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for programs that end before better machine code would pay


@dataclass
class Ended:
    problem: str | None  # why it failed, or None
    seconds: float
    cpu_s: float  # of its processes, as far as they were waited for: daemons count for nobody


class Commands:
    """Runs commands side by side, each with a share of the ports of its own; `stop` ends all that run."""

    def __init__(self):
        self._lock = threading.Lock()
        self._running = {}
        self._free_shares = list(range(0, len(PORTS) // PORTS_EACH))
        self.stopped = False

    def run(self, command, log, limit_s):
        log.parent.mkdir(parents=True, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="lifeline-test-")
        with self._lock:
            share = self._free_shares.pop(0)
        first = PORTS[share * PORTS_EACH]
        variables = os.environ | {"TMPDIR": folder, "LIFELINE_TEST_PORTS": f"{first}-{first + PORTS_EACH - 1}",
                                  "LIFELINE_TEST_JAVA": JAVA_OPTIONS, "LIFELINE_JOBS_JAVA_OPTS": JAVA_OPTIONS}
        try:
            with log.open("wb") as output:
                return self._wait(command, output, limit_s, variables)
        finally:
            with self._lock:
                self._free_shares.append(share)
            shutil.rmtree(folder, ignore_errors=True)

    def _wait(self, command, output, limit_s, variables):
        started = time.monotonic()
        with self._lock:
            if self.stopped:
                return Ended("interrupted", 0, 0)
            process = subprocess.Popen(["bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, env=variables)
            self._running[process.pid] = process
        problem = None
        try:
            while not has_ended(process):
                if self.stopped or time.monotonic() - started > limit_s:
                    problem = "interrupted" if self.stopped else f"hangs: not done after {limit_s} s"
                    end(process)
                    break
                time.sleep(0.05)
        except BaseException:  # a signal, in the main thread
            end(process)
            raise
        finally:
            signal_group(process, signal.SIGKILL)  # and what its command left in the background
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            with self._lock:
                del self._running[process.pid]
        if problem is None and process.returncode != 0:
            problem = f"killed by signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        return Ended(problem, time.monotonic() - started, usage.ru_utime + usage.ru_stime)

    def stop(self):
        """Ends what runs, and lets nothing start any more. Returns when all has ended; meanwhile further signals are ignored."""
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                signal.signal(number, signal.SIG_IGN)
        with self._lock:
            self.stopped = True
        if self._running:
            print("ending what runs ...", file=sys.stderr, flush=True)
        while self._running:
            time.sleep(0.05)


def lock(path=ROOT / "build/testing.lock"):
    """Keeps other runs of tests, and builds, out of this clone until the file is closed. Ends the program if tests run already."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("tests run in this clone already; wait until they end, or use another clone")
    return file


def end_on_signals():
    """They end the program as Ctrl-C does, through its `finally`."""
    for number in ENDING:
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))


def has_ended(process):
    """Whether it has ended, without reaping it: until then its pid is not reused."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def end(process):
    """SIGTERM, and time to clean up; the caller kills what is still there then."""
    signal_group(process, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while not has_ended(process) and time.monotonic() < deadline:
        time.sleep(0.05)


def signal_group(process, number):
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        pass

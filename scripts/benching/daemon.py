"""A server that is measured from its start to its end."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .processes import cpu_seconds, processes_of, wait_until

LIMIT_S = 30  # for a server to start, and to end


@dataclass
class Daemon:
    name: str
    process: subprocess.Popen
    port: int
    total: float = field(default=0, init=False)  # seconds of CPU time from its start to its end, of its descendants too

    def cpu_seconds(self):
        return cpu_seconds(self.process.pid)

    def answers(self, log):
        """Waits until it listens."""
        wait_until(lambda: listens(self.port) or self.has_ended(), f"{self.name} answers", LIMIT_S)
        if self.process.returncode is not None:
            raise RuntimeError(f"it ended with {self.process.returncode}: {log.read_text()[-2000:]}")

    def end(self):
        self.process.terminate()
        try:
            wait_until(self.has_ended, f"{self.name} ends", LIMIT_S)
        except RuntimeError:
            for pid in processes_of(self.process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            raise

    def has_ended(self):
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode, self.total = os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        return pid != 0


def listens(port):
    """Whether a process listens; asked of the kernel, since a connection would be a session."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(int(line[1].rpartition(":")[2], 16) == port and line[3] == "0A" for line in lines)
